package client

import "github.com/memring/memring/reader"

// replies is what each kind of request can be answered with (protocol.txt, "Meta
// Commands"). Anything else is a reply to somebody else, and poison.
var replies = [verbs]reader.Expect{
	verbGet:            {Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbGetAndTouch:    {Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbTouch:          {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbInspect:        {Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbGets:           {Kind: reader.Values},
	verbGetRun:         {Kind: reader.Run, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.Miss)},
	verbDeleteRun:      {Kind: reader.Run, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.NotFound)},
	verbTouchRun:       {Kind: reader.Run, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.Miss)},
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
	verbVersion:        {Kind: reader.Line, Answers: []string{"VERSION"}},
	verbFlushAll:       {Kind: reader.Line, Answers: []string{"OK"}},
	verbStats:          {Kind: reader.Stats, Bare: true},
	verbLine:           {Kind: reader.Line, Bare: true},
}

var (
	storeReply      = reader.Expect{Kind: reader.Meta, Value: reader.ValueNever, Allow: reader.Statuses(reader.OK, reader.NotStored)}
	arithmeticReply = reader.Expect{Kind: reader.Meta, Value: reader.ValueMust, Allow: reader.Statuses(reader.OK, reader.NotFound, reader.NotStored)}
)

// describe fills in what the reply must look like.
func (o *op) describe(opaque uint32) {
	if t := &replies[o.verb]; t.Kind == reader.Meta {
		// Not all of it is copied, which is longer than most calls need; see forgetExpect.
		o.expect.Kind, o.expect.Allow, o.expect.Value = t.Kind, t.Allow, t.Value
	} else {
		o.expect = *t
	}
	switch o.verb {
	case verbGet, verbGetAndTouch, verbTouch, verbInspect:
		if o.echoes() {
			o.expect.Key = o.wire.text
		}
	case verbGets:
		o.expect.Keys = o.run.keys
	case verbGetRun:
		o.expect.Keys = o.run.echoed()
	case verbLine:
		o.expect.Answers = o.extras.answers
	case verbMeta:
		o.expect = o.extras.meta.expect
	}
	if o.expect.Kind == reader.Meta && !o.noop() { // mn returns none
		o.expect.Opaque = opaque
	}
	if o.expect.Kind == reader.Run {
		o.expect.Opaque, o.expect.Count, o.expect.Quiet = opaque, len(o.run.keys), o.run.quiet
	}
	if o.extras != nil {
		o.extras.shape(&o.expect, o.verb)
	}
}

// shape adds what the request's options make possible or demand.
func (x *extras) shape(e *reader.Expect, v verb) {
	e.Want = x.asks
	switch {
	case x.bare:
		e.Value = reader.ValueNever
	case x.unless != 0:
		e.Value, e.Unless = reader.ValueUnless, x.unless
	}
	if x.ifCAS {
		e.Allow |= reader.Statuses(reader.Exists)
		if v == verbSet || v == verbReplace {
			e.Allow |= reader.Statuses(reader.NotFound)
		}
	}
	if x.needs&dropValue != 0 {
		e.Allow |= reader.Statuses(reader.NotStored) // there was no room for what is left
	}
}

// forgetExpect empties what describe has filled in.
func (o *op) forgetExpect() {
	e := &o.expect
	if e.Kind != reader.Meta || o.verb == verbMeta {
		*e = reader.Expect{}
		return
	}
	// The rest is not for one reply of the meta protocol.
	e.Opaque, e.Key, e.Base64, e.Unless, e.Want, e.Raw = 0, "", false, 0, 0, false
}
