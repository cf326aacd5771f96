package client

import "strconv"

// The requests. Each is one meta command (protocol.txt, "Meta Commands") that
// asks for its opaque back, gets for most keys as well, so that every reply
// proves whose it is. Keys were checked before; nothing here can fail.

var crlf = []byte("\r\n")

// request is everything that an encoder needs to know.
type request struct {
	verb    verb
	create  bool // arithmetic: store initial on a miss; append and prepend: the value
	flags   uint32
	key     string  // the caller's
	wire    wireKey // what the server knows it as
	run     *run    // the keys, if there may be many
	extras  *extras // nil: none
	value   []byte  // verbSet and kin: sent behind the head
	exptime int64
	cas     uint64
	delta   uint64
	initial uint64
}

// verb says which command a request is.
type verb uint8

const (
	verbGet verb = iota
	verbGetAndTouch
	verbTouch
	verbGets
	verbGetRun
	verbDeleteRun
	verbTouchRun
	verbSet
	verbAdd
	verbReplace
	verbAppend
	verbPrepend
	verbCompareAndSwap
	verbDelete
	verbIncrement
	verbDecrement
	verbInspect
	verbMeta
	verbPing
	verbVersion
	verbFlushAll
	verbStats
	verbLine
	verbs
)

var verbNames = [verbs]string{
	"get", "get and touch", "touch", "get multi", "get multi", "delete", "touch", "set", "add", "replace", "append", "prepend",
	"compare and swap", "delete", "increment", "decrement", "inspect", "meta", "ping", "version", "flush all", "stats", "line",
}

func (v verb) String() string { return verbNames[v] }

// hasBody reports whether a request is followed by its value.
func (r *request) hasBody() bool {
	return r.verb.stores() || r.verb == verbMeta && r.extras.meta.command == "ms"
}

// stores reports whether a request of this kind carries a value.
func (v verb) stores() bool { return v >= verbSet && v <= verbCompareAndSwap }

// storeMode is the M flag of ms, by verb.
var storeMode = [verbs]string{verbAdd: " ME", verbReplace: " MR", verbAppend: " MA", verbPrepend: " MP"}

// appendHead appends the request's command line to b. The value of a store and
// its line end are sent behind it.
func (r *request) appendHead(b []byte, opaque uint32) []byte {
	switch r.verb {
	case verbGet:
		b = r.appendGet(b)
	case verbInspect:
		b = append(append(append(b, "mg "...), r.wire.text...), " f c s"...)
		b = r.appendEcho(b)
	case verbGetAndTouch:
		b = append(append(append(b, "mg "...), r.wire.text...), " v f c"...)
		b = strconv.AppendInt(append(r.appendEcho(b), " T"...), r.exptime, 10)
	case verbTouch:
		b = append(append(b, "mg "...), r.wire.text...)
		b = strconv.AppendInt(append(r.appendEcho(b), " T"...), r.exptime, 10)
	case verbDelete:
		b = append(append(b, "md "...), r.wire.text...)
	case verbIncrement, verbDecrement:
		b = r.appendArithmetic(b)
	case verbGets:
		b = append(b, "gets"...)
		for _, k := range r.run.keys {
			b = append(append(b, ' '), k...)
		}
		return append(b, crlf...)
	case verbGetRun, verbDeleteRun, verbTouchRun:
		return r.appendRun(b, opaque)
	case verbMeta:
		var whole bool
		if b, whole = r.appendMeta(b); whole {
			return b
		}
	case verbPing:
		return append(b, "mn\r\n"...)
	case verbVersion:
		return append(b, "version\r\n"...)
	case verbFlushAll:
		return append(b, "flush_all\r\n"...)
	case verbStats:
		return append(append(append(b, "stats"...), r.extras.args...), crlf...)
	case verbLine:
		return append(append(b, r.extras.args...), crlf...)
	default:
		b = r.appendStore(b)
	}
	if r.wire.base64 {
		b = append(b, " b"...)
	}
	if r.extras != nil {
		b = append(b, r.extras.flags...)
	}
	b = append(b, " O"...)
	b = strconv.AppendUint(b, uint64(opaque), 16)
	return append(b, crlf...)
}

// echoes reports whether the reply to a get is to have the key. Binary keys are not
// asked back: an item that N has made comes with its key as it is, spaces and
// newlines included, even if the request had it as base64 (do_item_link in
// process_mget_command, without ITEM_KEY_BINARY; in 1.6.18 as in the newest).
func (r *request) echoes() bool { return !r.wire.base64 }

func (r *request) appendEcho(b []byte) []byte {
	if r.echoes() {
		b = append(b, " k"...)
	}
	return b
}

func (r *request) appendGet(b []byte) []byte {
	b = append(append(b, "mg "...), r.wire.text...)
	x := r.extras
	if x == nil || !x.bare {
		b = append(b, " v"...)
	}
	b = r.appendEcho(append(b, " f c"...))
	if x != nil && x.unless != 0 && !x.bare {
		b = strconv.AppendUint(append(b, " C"...), x.unless, 10)
	}
	return b
}

func (r *request) appendStore(b []byte) []byte {
	b = append(append(append(b, "ms "...), r.wire.text...), ' ')
	b = strconv.AppendInt(b, int64(len(r.value)), 10)
	mode := r.verb
	if x := r.extras; x != nil && x.adds {
		mode = verbAdd
	}
	b = append(b, storeMode[mode]...)
	switch {
	case r.create:
		b = strconv.AppendInt(append(b, " N"...), r.exptime, 10)
	case r.exptime != 0:
		b = strconv.AppendInt(append(b, " T"...), r.exptime, 10)
	}
	if r.flags != 0 {
		b = strconv.AppendUint(append(b, " F"...), uint64(r.flags), 10)
	}
	if r.verb == verbCompareAndSwap {
		b = strconv.AppendUint(append(b, " C"...), r.cas, 10)
	}
	return b
}

func (r *request) appendArithmetic(b []byte) []byte {
	b = append(append(append(b, "ma "...), r.wire.text...), " v D"...)
	b = strconv.AppendUint(b, r.delta, 10)
	if r.verb == verbDecrement {
		b = append(b, " MD"...)
	}
	if r.create {
		b = strconv.AppendInt(append(b, " N"...), r.exptime, 10)
		b = strconv.AppendUint(append(b, " J"...), r.initial, 10)
	}
	return b
}
