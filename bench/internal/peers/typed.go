package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/memring/memring/bench/internal/cases"
	"github.com/memring/memring/client/typed"
)

func openTyped(cfg Config) (Client, error) {
	c, err := openMemring(cfg)
	if err != nil {
		return nil, err
	}
	m := c.(memring)
	switch cfg.Client {
	case cases.URingTypedJSON:
		return &typedJSON{memring: m, cache: typed.Of(m.Client, typed.JSON[document]()), prefix: "json:"}, nil
	case cases.URingTypedGzip:
		cache, err := typed.New(m.Client, typed.JSON[document](), &typed.Config{Compressor: typed.Gzip(), CompressFromBytes: -1})
		return &typedJSON{memring: m, cache: cache, prefix: "gzip:"}, err
	}
	return typedBytes{m, typed.Of(m.Client, typed.Bytes())}, nil
}

// typedBytes is memring by way of client/typed, whose values are bytes as before.
type typedBytes struct {
	memring
	cache *typed.Cache[[]byte]
}

func (t typedBytes) Get(key string) ([]byte, error) {
	it, err := t.cache.Get(context.Background(), key)
	return it.Value, err
}

func (t typedBytes) Set(key string, value []byte) error {
	return t.cache.Set(context.Background(), typed.Item[[]byte]{Key: key, Value: value})
}

// document is what programs store: some fields, and a text of which there are few words.
type document struct {
	Key    string   `json:"key"`
	ID     int      `json:"id"`
	Tags   []string `json:"tags"`
	Text   string   `json:"text"`
	Active bool     `json:"active"`
}

// newDocument makes a key's document, whose JSON has so many bytes.
func newDocument(key string, i, size int) (document, error) {
	d := document{Key: key, ID: i, Tags: []string{"news", "archive"}, Active: i%2 == 0}
	rest, err := json.Marshal(d)
	if err != nil {
		return d, err
	}
	if size < len(rest) {
		return d, fmt.Errorf("a document has at least %d bytes, not %d", len(rest), size)
	}
	words := rand.New(rand.NewPCG(uint64(i), uint64(size)))
	var text strings.Builder
	for text.Len() < size-len(rest) {
		fmt.Fprintf(&text, "word%d ", words.IntN(2000))
	}
	d.Text = text.String()[:size-len(rest)]
	return d, nil
}

// typedJSON is memring with documents for values.
type typedJSON struct {
	memring
	cache     *typed.Cache[document]
	prefix    string // of its keys, which nobody else uses
	documents []document
}

func (t *typedJSON) Prepare(keys []string, size int) error {
	for i, key := range keys {
		d, err := newDocument(t.prefix+key, i, size)
		if err != nil {
			return err
		}
		t.documents = append(t.documents, d)
		if err := t.SetTyped(i); err != nil {
			return err
		}
	}
	return nil
}

func (t *typedJSON) GetTyped(i int) error {
	want := &t.documents[i]
	it, err := t.cache.Get(context.Background(), want.Key)
	if err == nil && (it.Value.Key != want.Key || len(it.Value.Text) != len(want.Text) || it.Value.Active != want.Active) {
		return &WrongValueError{"memring's typed cache", want.Key}
	}
	return err
}

func (t *typedJSON) SetTyped(i int) error {
	d := &t.documents[i]
	return t.cache.Set(context.Background(), typed.Item[document]{Key: d.Key, Value: *d})
}
