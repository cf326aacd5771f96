package typed_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/typed"
)

func ExampleCache_GetOrLoad() {
	c, done := newExample()
	defer done()
	users := typed.Of(c, typed.JSON[User]())

	load := func(context.Context) (typed.Item[User], error) { // from a database, say
		fmt.Println("loading")
		return typed.Item[User]{Value: User{"Ada", 36}}, nil
	}
	for range 2 {
		it, err := users.GetOrLoad(context.Background(), "user:7", load, client.LoadOptions{TTL: time.Hour})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(it.Value.Name)
	}
	// Output:
	// loading
	// Ada
	// Ada
}
