package client_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/memring/memring/client"
)

// byUser is a Selector that keeps all the items of a user, whose keys begin with
// the user's name and a colon, on one server.
type byUser struct{ client.Selector }

func (s byUser) Pick(key string) int {
	user, _, _ := strings.Cut(key, ":")
	return s.Selector.Pick(user)
}

// A Selector of one's own, here on top of the default one.
func ExampleSelector() {
	servers := []string{"10.0.0.1:11211", "10.0.0.2:11211", "10.0.0.3:11211"}
	newSelector := func(servers []string) client.Selector { return byUser{client.Rendezvous(servers)} }
	c, err := client.New(servers, &client.Config{Selector: newSelector})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	s := newSelector(servers)
	fmt.Println(s.Pick("ada:cart") == s.Pick("ada:orders"))
	// Output: true
}
