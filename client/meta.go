package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/memring/memring/reader"
)

// MetaRequest is a command of memcached's meta protocol, for what the other calls
// have no options for.
type MetaRequest struct {
	// Command is mg, ms, md, ma, me or mn.
	Command string
	// Key is the item's, subject to Config.KeyPrefix and the like as any key. An mn
	// has none; if it is given one all the same, that says which server is meant. An
	// me cannot have a binary key, which memcached may write into its line as it is.
	Key string
	// Flags are the command's, in the order in which the server is to see them, at
	// most 13. They may not be among these, which are the client's own:
	//
	//   - O, the opaque that shows whose reply it is;
	//   - q, since a reply that may not come cannot be told from the next one;
	//   - b, which depends on the key, and S, the length of the value.
	//
	// An mg has a k in any case, unless the key is a binary one, when there can be no
	// k; and one with both v and C has a c. An me takes none.
	Flags []MetaFlag
	// Value is that of an ms.
	Value []byte
}

// MetaFlag is a flag of a request or a reply: a letter, and what stands behind it.
type MetaFlag struct {
	Letter byte
	Token  string
}

// MetaStatus is the code that a reply of the meta protocol begins with.
type MetaStatus string

// The codes.
const (
	MetaHD MetaStatus = "HD" // done, and no value follows
	MetaVA MetaStatus = "VA" // done, with a value
	MetaEN MetaStatus = "EN" // mg, me: there is no item
	MetaNF MetaStatus = "NF" // ms, md, ma: there is no item
	MetaNS MetaStatus = "NS" // ms, md, ma: not stored
	MetaEX MetaStatus = "EX" // ms, md, ma: the item has another CAS
	MetaME MetaStatus = "ME" // me: what is known of the item
	MetaMN MetaStatus = "MN" // mn
)

// MetaReply is what a server has answered. All of it is the caller's own.
type MetaReply struct {
	Status MetaStatus
	Value  []byte // with MetaVA; may be empty
	// Flags are those of the reply, in its order, but for the ones that the client
	// has asked for itself. The token of k is the key as the server has it.
	Flags []MetaFlag
	// Debug is what an me tells: exp, la, cas and others, which vary by version.
	Debug map[string]string
}

// Flag returns the token of the reply's flag of that letter, and whether there is one.
func (r *MetaReply) Flag(letter byte) (token string, ok bool) {
	for _, f := range r.Flags {
		if f.Letter == letter {
			return f.Token, true
		}
	}
	return "", false
}

// Meta sends any command of the meta protocol and returns the reply, whatever its
// status: a miss is MetaEN and no error. Errors are those of any other call, and the
// reply is as sure to be this request's. What the server lacks in flags is not sent to
// it, see [ErrUnsupported], and what would not be one command in sync is refused with
// [ErrArgument]; whether the flags make sense together, the server decides.
func (cl *Client) Meta(ctx context.Context, q MetaRequest) (MetaReply, error) {
	o, srv, err := cl.takeMeta(ctx, &q)
	if err != nil {
		return MetaReply{}, err
	}
	if err := cl.do(ctx, cl.deadline(ctx), srv, o); err != nil {
		return MetaReply{}, err
	}
	r := o.metaReply()
	o.put()
	return r, nil
}

// takeMeta is takeKeyed for a Meta.
func (cl *Client) takeMeta(ctx context.Context, q *MetaRequest) (o *op, srv *server, err error) {
	if q.Command == "mn" && q.Key == "" {
		if o, err = cl.take(ctx, verbMeta, ""); err != nil {
			return nil, nil, err
		}
		if len(cl.servers) > 1 {
			return nil, nil, o.refuse(fmt.Errorf("%w: an mn needs a Key to say which server is meant", ErrArgument))
		}
		srv = cl.servers[0]
	} else if o, srv, err = cl.takeKeyed(ctx, verbMeta, q.Key); err != nil {
		return nil, nil, err
	}
	if err := q.apply(&o.request); err != nil {
		return nil, nil, o.refuse(err)
	}
	return o, srv, nil
}

// metaReply makes the reply of a Meta that was answered.
func (o *op) metaReply() MetaReply {
	r := MetaReply{Status: o.metaStatus(), Value: o.dst}
	if r.Status == MetaME {
		r.Debug = make(map[string]string)
		for _, word := range words(o.extras.line)[2:] {
			name, value, _ := strings.Cut(word, "=")
			r.Debug[name] = value
		}
		return r
	}
	for _, word := range words(o.extras.line) {
		if strings.IndexByte(o.extras.meta.hidden, word[0]) < 0 {
			r.Flags = append(r.Flags, MetaFlag{word[0], word[1:]})
		}
	}
	return r
}

// words are what a line has between its spaces. Those of Unicode are none: they may be
// in a key.
func words(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r == ' ' })
}

func (o *op) metaStatus() MetaStatus {
	switch o.status {
	case reader.Miss:
		return MetaEN
	case reader.NotFound:
		return MetaNF
	case reader.NotStored:
		return MetaNS
	case reader.Exists:
		return MetaEX
	}
	switch {
	case o.extras.meta.command == "mn":
		return MetaMN
	case o.extras.meta.command == "me":
		return MetaME
	case o.valued:
		return MetaVA
	}
	return MetaHD
}
