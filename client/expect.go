package client

import "github.com/memring/memring/reader"

// replies is what each kind of request can be answered with (protocol.txt, "Meta
// Commands"). Anything else is a reply to somebody else, and poison.
var replies = [verbs]reader.Expect{
	verbGet:            {Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbGetAndTouch:    {Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbTouch:          {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbGets:           {Kind: reader.Values},
	verbSet:            storeReply,
	verbAdd:            storeReply,
	verbReplace:        storeReply,
	verbAppend:         storeReply,
	verbPrepend:        storeReply,
	verbCompareAndSwap: {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.NotStored, reader.Exists, reader.NotFound)},
	verbDelete:         {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.NotFound)},
	verbIncrement:      arithmeticReply,
	verbDecrement:      arithmeticReply,
	verbPing:           {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK)},
	verbVersion:        {Kind: reader.Line, Prefix: "VERSION "},
	verbFlushAll:       {Kind: reader.Line, Prefix: "OK"},
	verbStats:          {Kind: reader.Stats, Bare: true},
	verbLine:           {Kind: reader.Line, Bare: true},
}

var (
	storeReply      = reader.Expect{Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.NotStored)}
	arithmeticReply = reader.Expect{Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.NotFound, reader.NotStored)}
)

// describe fills in what the reply must look like.
func (o *op) describe(opaque uint32) {
	o.expect = replies[o.verb]
	switch o.verb {
	case verbGet, verbGetAndTouch, verbTouch:
		o.expect.Key, o.expect.Base64 = o.wire.text, o.wire.base64
	case verbGets:
		o.expect.Keys = o.keys
	case verbLine:
		o.expect.Answers = o.answers
	}
	if o.expect.Kind == reader.Meta && o.verb != verbPing { // mn returns none
		o.expect.Opaque = opaque
	}
}
