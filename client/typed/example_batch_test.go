package typed_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

func ExampleCache_SetMulti() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	users := typed.Of(c, typed.JSON[User]())
	if err := users.SetMulti(ctx, []typed.Item[User]{
		{Key: "user:7", Value: User{"Ada", 36}, TTL: time.Hour},
		{Key: "user:8", Value: User{"Grace", 85}, TTL: time.Hour},
	}); err != nil {
		log.Fatal(err) // a *client.BatchError, with each item's error by number
	}
	err := users.DeleteMulti(ctx, []string{"user:7", "user:8", "user:9"})
	fmt.Println(errors.Is(err, client.ErrNotFound)) // one was not there
	fmt.Println(client.Except(err, client.ErrNotFound))
	// Output:
	// true
	// <nil>
}
