package memcache_test

import (
	"fmt"
	"log"
	"net"
	"strings"

	memcache "github.com/memring/memring/client/gomemcache"
)

// byUser is a ServerSelector that keeps all the items of a user, whose keys begin
// with the user's name and a colon, on one server.
type byUser struct{ memcache.ServerSelector }

func (s byUser) PickServer(key string) (net.Addr, error) {
	user, _, _ := strings.Cut(key, ":")
	return s.ServerSelector.PickServer(user)
}

func ExampleServerSelector() {
	first, done := startExample()
	defer done()
	second, done := startExample()
	defer done()
	list := new(memcache.ServerList)
	if err := list.SetServers(first, second); err != nil {
		log.Fatal(err)
	}
	s := byUser{list}
	mc := memcache.NewFromSelector(s)
	defer mc.Close()

	if err := mc.Set(&memcache.Item{Key: "ada:cart", Value: []byte("apples")}); err != nil {
		log.Fatal(err)
	}
	it, err := mc.Get("ada:cart")
	if err != nil {
		log.Fatal(err)
	}
	cart, err := s.PickServer("ada:cart")
	if err != nil {
		log.Fatal(err)
	}
	orders, err := s.PickServer("ada:orders")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %v\n", it.Value, cart.String() == orders.String())
	// Output: apples true
}
