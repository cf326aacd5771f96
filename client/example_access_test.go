package client_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
)

// Credentials are asked for with each new connection, so a new password counts from
// the next one on. They show themselves to nobody.
func ExampleCredential() {
	srv, err := memcachedtest.RunServer(memcachedtest.ServerOptions{
		Auth: func(user, password string) bool { return user == "app" && password == "secret" },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	current := func() client.Credential { return client.Credential{User: "app", Password: "secret"} }
	c, err := client.New([]string{srv.Addr()}, &client.Config{
		Credentials: func(context.Context, string) (client.Credential, error) { return current(), nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Ping(context.Background()), current())
	// Output: <nil> (credential)
}

// Files that can't be read are an error of the calls, as long as there are no good ones
// from before.
func ExampleTLSFiles() {
	files := &client.TLSFiles{CA: "no-such-file.pem", OnError: func(error) { fmt.Println("an alarm") }}
	c, err := client.New([]string{"127.0.0.1:11211"}, &client.Config{TLS: files.Config})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	err = c.Ping(context.Background())
	fmt.Println(errors.Is(err, client.ErrUnavailable), errors.Is(err, fs.ErrNotExist))
	// Output:
	// an alarm
	// true true
}
