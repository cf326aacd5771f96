package typed_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/memring/memring/client"
	"github.com/memring/memring/client/memcachedtest"
	"github.com/memring/memring/client/typed"
)

// newExample starts a memcached for an example and returns a client for it.
func newExample() (c *client.Client, done func()) {
	mc, err := memcachedtest.Run(context.Background(), memcachedtest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c, err = client.New([]string{mc.Addr()}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return c, func() { c.Close(); mc.Close() }
}

// User is what the examples store.
type User struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

func Example() {
	c, done := newExample() // in a program, what client.New returns
	defer done()
	ctx := context.Background()

	users := typed.Of(c, typed.JSON[User]())
	err := users.Set(ctx, typed.Item[User]{Key: "user:7", Value: User{"Ada", 36}, TTL: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	it, err := users.Get(ctx, "user:7")
	switch {
	case errors.Is(err, client.ErrNotFound):
		fmt.Println("nothing there")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println(it.Value.Name, it.Value.Age)
	}
	// Output: Ada 36
}

func ExampleCache_GetMulti() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	users := typed.Of(c, typed.JSON[*User]()) // a pointer, which large types are better passed by
	for _, u := range []*User{{"Ada", 36}, {"Grace", 85}} {
		if err := users.Set(ctx, typed.Item[*User]{Key: "user:" + u.Name, Value: u}); err != nil {
			log.Fatal(err)
		}
	}
	for it, err := range users.GetMulti(ctx, []string{"user:Ada", "user:Grace", "user:nobody"}) {
		if err != nil {
			log.Print(err) // a server's, or a value that cannot be decoded; the others still come
			continue
		}
		fmt.Println(it.Key, it.Value.Age)
	}
	// Unordered output:
	// user:Ada 36
	// user:Grace 85
}

// Of all who miss an item at one time, one is told to load it.
func ExampleCache_Get() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	users := typed.Of(c, typed.JSON[User]())
	for range 2 {
		it, err := users.Get(ctx, "user:7", client.GetOptions{Vivify: 10 * time.Second})
		switch {
		case errors.Is(err, client.ErrNotFound) && it.State&client.Won != 0:
			it.Value, it.TTL = User{"Ada", 36}, time.Hour // out of the database
			err = users.CompareAndSwap(ctx, it)
			fmt.Println("loaded", err)
		case errors.Is(err, client.ErrNotFound):
			fmt.Println("another is loading it") // ask again, or load as well
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("got", it.Value.Name)
		}
	}
	// Output:
	// loaded <nil>
	// got Ada
}

func ExampleItem() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	users := typed.Of(c, typed.JSON[User]())
	if err := users.Add(ctx, typed.Item[User]{Key: "user:7", Value: User{"Ada", 36}}); err != nil {
		log.Fatal(err)
	}
	for {
		it, err := users.Get(ctx, "user:7")
		if err != nil {
			log.Fatal(err)
		}
		it.Value.Age++
		it.TTL = time.Hour                  // Get does not return it
		err = users.CompareAndSwap(ctx, it) // it.CAS is the version that was read
		if errors.Is(err, client.ErrConflict) {
			continue // somebody else was faster: try again with the new value
		}
		if err != nil {
			log.Fatal(err)
		}
		break
	}
	it, _ := users.Get(ctx, "user:7")
	fmt.Println(it.Value.Age)
	// Output: 37
}

func ExampleConfig() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	texts, err := typed.New(c, typed.String(), &typed.Config{
		Compressor: typed.Gzip(),
		Readers:    []typed.Compressor{typed.Flate()}, // what was used before
	})
	if err != nil {
		log.Fatal(err)
	}
	text := strings.Repeat("a long text, ", 1000)
	if err := texts.Set(ctx, typed.Item[string]{Key: "text", Value: text}); err != nil {
		log.Fatal(err)
	}
	it, err := texts.Get(ctx, "text")
	if err != nil {
		log.Fatal(err)
	}
	stored, err := c.Get(ctx, "text") // as it lies on the server
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(it.Value == text, len(stored.Value) < len(text), stored.Flags == 1<<27)
	// Output: true true true
}

func ExampleDecodeError() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "user:7", Value: []byte("no JSON")}); err != nil {
		log.Fatal(err)
	}
	users := typed.Of(c, typed.JSON[User]())
	_, err := users.Get(ctx, "user:7")
	fmt.Println(err)
	if broken, ok := errors.AsType[*typed.DecodeError](err); ok && errors.Is(err, typed.ErrCodec) {
		// Replace it, unless somebody has done so already.
		err = users.CompareAndSwap(ctx, typed.Item[User]{Key: broken.Key, Value: User{Name: "Ada"}, CAS: broken.CAS})
	}
	fmt.Println(err)
	// Output:
	// memring: value cannot be decoded: refused by the codec (*json.SyntaxError)
	// <nil>
}

// A program that loads what is missing can load what cannot be decoded as well.
func ExampleConfig_undecodableIsMiss() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	if err := c.Set(ctx, client.Item{Key: "user:7", Value: []byte("of an older program")}); err != nil {
		log.Fatal(err)
	}
	users, err := typed.New(c, typed.JSON[User](), &typed.Config{UndecodableIsMiss: true})
	if err != nil {
		log.Fatal(err)
	}
	it, err := users.Get(ctx, "user:7")
	if errors.Is(err, client.ErrNotFound) {
		it = typed.Item[User]{Key: "user:7", Value: User{"Ada", 36}} // out of the database
		err = users.Set(ctx, it)
	}
	fmt.Println(it.Value.Name, err, users.Undecodable())
	// Output: Ada <nil> 1
}

func ExampleEncodeError() {
	numbers := typed.Of(nil, typed.JSON[float64]())
	err := numbers.Set(context.Background(), typed.Item[float64]{Key: "n", Value: math.NaN()})
	fmt.Println(err)
	fmt.Println(errors.Is(err, typed.ErrCodec))
	// Output:
	// memring: value cannot be encoded: refused by the codec (*json.UnsupportedValueError)
	// true
}

func ExampleText() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	addrs := typed.Of(c, typed.Text[netip.Addr]())
	if err := addrs.Set(ctx, typed.Item[netip.Addr]{Key: "addr", Value: netip.MustParseAddr("::1")}); err != nil {
		log.Fatal(err)
	}
	it, err := addrs.Get(ctx, "addr")
	fmt.Println(it.Value.IsLoopback(), err)
	// Output: true <nil>
}

// Point is encoded by a codec of its own.
type Point struct{ X, Y int32 }

type pointCodec struct{}

func (pointCodec) Append(dst []byte, p Point) ([]byte, error) {
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.X))
	return binary.BigEndian.AppendUint32(dst, uint32(p.Y)), nil
}

func (pointCodec) Decode(data []byte) (Point, error) {
	if len(data) != 8 {
		return Point{}, errors.New("a point has 8 bytes")
	}
	return Point{int32(binary.BigEndian.Uint32(data)), int32(binary.BigEndian.Uint32(data[4:]))}, nil
}

func ExampleCodec() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	points := typed.Of(c, typed.Codec[Point](pointCodec{}))
	if err := points.Set(ctx, typed.Item[Point]{Key: "p", Value: Point{3, -4}}); err != nil {
		log.Fatal(err)
	}
	it, err := points.Get(ctx, "p")
	fmt.Println(it.Value, err)
	// Output: {3 -4} <nil>
}

// Record is read where it lies: a big-endian number and a text.
type Record []byte

func (r Record) Number() uint32 { return binary.BigEndian.Uint32(r) }
func (r Record) Text() string   { return string(r[4:]) }

type recordCodec struct{}

func (recordCodec) Append(dst []byte, r Record) ([]byte, error) { return append(dst, r...), nil }
func (recordCodec) View(r Record) []byte                        { return r }
func (recordCodec) Adopt(data []byte) (Record, error) {
	if len(data) < 4 {
		return nil, errors.New("record is cut short")
	}
	return data, nil
}
func (c recordCodec) Decode(data []byte) (Record, error) { return c.Adopt(append([]byte{}, data...)) }

func ExampleRaw() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	records := typed.Of(c, typed.Codec[Record](recordCodec{})) // a typed.Raw
	r := append(Record{0, 0, 0, 42}, "not copied"...)
	if err := records.Set(ctx, typed.Item[Record]{Key: "r", Value: r}); err != nil {
		log.Fatal(err)
	}
	it, err := records.Get(ctx, "r")
	fmt.Println(it.Value.Number(), it.Value.Text(), err)
	// Output: 42 not copied <nil>
}

// runs is a compressor for texts in which bytes are repeated: each run becomes its
// byte and its length, up to 255.
type runs struct{}

func (runs) ID() uint8 { return 8 } // from 8 on they are ours to choose

func (runs) Append(dst, src []byte) ([]byte, error) {
	for i := 0; i < len(src); {
		n := 1
		for n < 255 && i+n < len(src) && src[i+n] == src[i] {
			n++
		}
		dst = append(dst, src[i], byte(n))
		i += n
	}
	return dst, nil
}

func (runs) Decode(dst, src []byte, limit int) ([]byte, error) {
	if len(src)%2 != 0 {
		return dst, errors.New("half a run")
	}
	for i := 0; i < len(src); i += 2 {
		n := int(src[i+1])
		if limit -= n; limit < 0 {
			return dst, typed.ErrDecodedSize
		}
		for range n {
			dst = append(dst, src[i])
		}
	}
	return dst, nil
}

func ExampleCompressor() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	texts, err := typed.New(c, typed.String(), &typed.Config{Compressor: runs{}, CompressFromBytes: 100})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{strings.Repeat("a", 1000), strings.Repeat("ab", 500)} {
		if err := texts.Set(ctx, typed.Item[string]{Key: "text", Value: text}); err != nil {
			log.Fatal(err)
		}
		stored, err := c.Get(ctx, "text")
		if err != nil {
			log.Fatal(err)
		}
		it, err := texts.Get(ctx, "text")
		fmt.Println(len(stored.Value), it.Value == text, err)
	}
	// Output:
	// 8 true <nil>
	// 1000 true <nil>
}

// Encode and Decode are for calls that a Cache does not have.
func ExampleCache_Encode() {
	c, done := newExample()
	defer done()
	ctx := context.Background()
	users := typed.Of(c, typed.JSON[User]())
	it, err := users.Encode(typed.Item[User]{Key: "user:7", Value: User{"Ada", 36}})
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Set(ctx, it); err != nil { // or whatever takes a client.Item
		log.Fatal(err)
	}
	stored, err := c.Get(ctx, "user:7")
	if err != nil {
		log.Fatal(err)
	}
	back, err := users.Decode(stored)
	fmt.Println(string(stored.Value), back.Value.Age, err)
	// Output: {"name":"Ada","age":36} 36 <nil>
}
