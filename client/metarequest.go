package client

import (
	"fmt"
	"strconv"

	"github.com/memring/memring/reader"
)

const (
	// maxMetaFlags is how many flags a Meta may have. A line may have 19 words:
	// memcached's 20, of which some versions count the line's end as one. Up to five
	// are the client's: command and key, then length, b and O, or k, c, b and O.
	maxMetaFlags = 13
	// maxMetaLine bounds the line's bytes: memcached closes the connection on one of
	// more than 2,048 of which it has not seen the end.
	maxMetaLine = 2048
)

// metaCall is what the encoder and the parser have to know of a Meta.
type metaCall struct {
	command string
	expect  reader.Expect // but for the opaque
	hidden  string        // flags of the reply that are not the caller's
}

// noop reports whether the request is an mn.
func (r *request) noop() bool {
	return r.verb == verbPing || r.verb == verbMeta && r.extras.meta.command == "mn"
}

// writes reports whether the command changes something beside an item's TTL.
func (m *metaCall) writes() bool {
	return m.command == "ms" || m.command == "md" || m.command == "ma"
}

// apply checks a Meta's request and makes it o's.
func (q *MetaRequest) apply(r *request) error {
	m := &metaCall{command: q.Command, hidden: "Okb"}
	m.expect.Kind, m.expect.Raw, m.expect.Base64 = reader.Meta, true, r.wire.base64
	switch q.Command {
	case "mg":
		m.expect.Allow = reader.Statuses(reader.OK, reader.Miss)
	case "ms":
		m.expect.Allow = reader.Statuses(reader.OK, reader.NotStored)
	case "md":
		m.expect.Allow = reader.Statuses(reader.OK, reader.NotFound)
	case "ma":
		m.expect.Allow = reader.Statuses(reader.OK, reader.NotFound, reader.NotStored)
	case "me":
		m.expect = reader.Expect{Kind: reader.Debug, Key: r.wire.text}
	case "mn":
		m.expect = reader.Expect{Kind: reader.Meta, Allow: reader.Statuses(reader.OK), Value: reader.ValueNever}
	default:
		return fmt.Errorf("%w: %q is no meta command", ErrArgument, q.Command)
	}
	switch {
	case len(q.Value) > 0 && q.Command != "ms":
		return fmt.Errorf("%w: only an ms has a value", ErrArgument)
	case len(q.Value) > MaxValueLen:
		return fmt.Errorf("%w: %d bytes, more than %d", ErrTooLarge, len(q.Value), MaxValueLen)
	case q.Command == "me" && !r.echoes():
		return fmt.Errorf("%w: me cannot be asked of a binary key, for memcached may write it as it is", ErrArgument)
	case len(q.Flags) > 0 && (q.Command == "me" || q.Command == "mn"):
		return fmt.Errorf("%w: %s takes no flags", ErrArgument, q.Command)
	}
	r.extra().meta, r.value = m, q.Value
	if q.Command == "me" || q.Command == "mn" {
		return nil
	}
	return q.applyFlags(r)
}

// applyFlags is the part of apply for the commands that have flags.
func (q *MetaRequest) applyFlags(r *request) error {
	x := r.extras
	m := x.meta
	if len(q.Flags) > maxMetaFlags {
		return fmt.Errorf("%w: %d flags, more than %d", ErrArgument, len(q.Flags), maxMetaFlags)
	}
	b := x.flags
	var seen [128]bool
	var cas uint64
	for i, f := range q.Flags {
		number, err := f.check()
		if err == nil && seen[f.Letter] {
			err = fmt.Errorf("it is there twice")
		}
		if err != nil {
			return fmt.Errorf("%w: flag number %d: %w", ErrArgument, i, err)
		}
		seen[f.Letter] = true
		if f.Letter == 'C' {
			cas = number
		}
		x.needs |= featureOf(q.Command, f.Letter)
		b = append(append(b, ' ', f.Letter), f.Token...)
	}
	m.expect.Value = reader.ValueNever
	if seen['v'] && (q.Command == "mg" || q.Command == "ma") {
		m.expect.Value = reader.ValueMust
	}
	switch {
	case !seen['C']:
	case q.Command == "ms":
		m.expect.Allow |= reader.Statuses(reader.Exists, reader.NotFound)
	case q.Command != "mg":
		m.expect.Allow |= reader.Statuses(reader.Exists)
	case seen['v']:
		m.expect.Value, m.expect.Unless = reader.ValueUnless, cas
		if !seen['c'] {
			b = append(b, " c"...)
			m.hidden += "c"
		}
	}
	switch {
	case seen['k'] && !r.echoes():
		return fmt.Errorf("%w: a binary key can't be asked back, for memcached may write it as it is", ErrArgument)
	case seen['k']:
		m.hidden = m.hidden[:1] + m.hidden[3:]
		m.expect.Key = r.wire.text
	case q.Command == "mg" && r.echoes():
		b = append(b, " k"...)
		m.expect.Key = r.wire.text
	}
	x.flags = b
	if n := len(r.appendHead(nil, 1<<32-1)); n > maxMetaLine {
		return fmt.Errorf("%w: the command has %d bytes, more than %d", ErrArgument, n, maxMetaLine)
	}
	return nil
}

// check says what is wrong with a flag, and returns the number that its token is, if
// it must be one: what the server cannot read it may answer with a line after which
// the stream is not in sync.
func (f MetaFlag) check() (number uint64, err error) {
	switch f.Letter {
	case 'O', 'q', 'b', 'S':
		return 0, fmt.Errorf("%c is the client's own", f.Letter)
	}
	if f.Letter|0x20 < 'a' || f.Letter|0x20 > 'z' {
		return 0, fmt.Errorf("it is no letter")
	}
	if i := notText(f.Token); i >= 0 {
		return 0, fmt.Errorf("byte %d of the token is a space or a control character", i)
	}
	switch f.Letter {
	case 'C', 'D', 'E', 'J':
		number, err = strconv.ParseUint(f.Token, 10, 64)
	case 'F':
		number, err = strconv.ParseUint(f.Token, 10, 32)
	case 'N', 'R', 'T':
		_, err = strconv.ParseInt(f.Token, 10, 32)
	case 'M':
		if len(f.Token) != 1 {
			return 0, fmt.Errorf("a mode is one character")
		}
	case 'c', 'f', 'h', 'I', 'k', 'l', 's', 't', 'u', 'v', 'x':
		if f.Token != "" {
			return 0, fmt.Errorf("%c has no token", f.Letter)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("the token of %c is no number that fits", f.Letter)
	}
	return number, nil
}

// appendMeta appends the head of a Meta's line, up to where the flags begin, or the
// whole line of a command that has none.
func (r *request) appendMeta(b []byte) (line []byte, whole bool) {
	switch r.extras.meta.command {
	case "mn":
		return append(b, "mn\r\n"...), true
	case "me":
		return append(append(append(b, "me "...), r.wire.text...), crlf...), true
	}
	b = append(append(append(b, r.extras.meta.command...), ' '), r.wire.text...)
	if r.extras.meta.command == "ms" {
		b = strconv.AppendInt(append(b, ' '), int64(len(r.value)), 10)
	}
	return b, false
}
