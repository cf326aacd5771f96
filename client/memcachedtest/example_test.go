package memcachedtest_test

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/memring/memring/client/memcachedtest"
)

func ExampleServer() {
	release := make(chan struct{})
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{
		Script: memcachedtest.OnKey("slow", memcachedtest.Answer().Stall(release)),
	})
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	c, err := srv.DialContext(context.Background(), "tcp", "")
	if err != nil {
		panic(err)
	}
	defer c.Close()

	fmt.Fprint(c, "mg slow O1\r\nmg fast O2\r\n")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := srv.Wait(ctx, func() bool { return srv.RequestCount() == 2 }); err != nil {
		panic(err)
	}
	fmt.Println(srv.Requests()[1].Line)
	close(release)

	replies := bufio.NewScanner(c)
	for range 2 {
		replies.Scan()
		fmt.Println(replies.Text())
	}
	// Output:
	// mg fast O2
	// EN O1
	// EN O2
}
