package memcachedtest

import "strings"

// command is a parsed command line, ready to run once its body has been read.
type command struct {
	// body is the number of bytes that follow the line and belong to it, their
	// newline included; zero if none.
	body int
	// discard: the body is read and dropped, since the line was in error.
	discard bool
	// run carries the command out and returns its reply, empty if it has none.
	// body is as read, with its last two bytes, and run may keep it.
	run func(s *store, body []byte) string
	// quit: the connection is closed behind the reply.
	quit bool
}

const (
	badFormat    = "CLIENT_ERROR bad command line format\r\n"
	badChunk     = "CLIENT_ERROR bad data chunk\r\n"
	badToken     = "CLIENT_ERROR bad token in command line format\r\n"
	badOpaque    = "CLIENT_ERROR opaque token too long\r\n"
	badFlag      = "CLIENT_ERROR invalid flag\r\n"
	dupFlag      = "CLIENT_ERROR duplicate flag\r\n"
	badOrDupFlag = "CLIENT_ERROR invalid or duplicate flag\r\n"
	badExptime   = "CLIENT_ERROR invalid exptime argument\r\n"
	badDelta     = "CLIENT_ERROR invalid numeric delta argument\r\n"
	badNumber    = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"
	tooLarge     = "SERVER_ERROR object too large for cache\r\n"
	unknown      = "ERROR\r\n"
)

// reply is a command whose answer depends on nothing.
func reply(line string) command {
	return command{run: func(*store, []byte) string { return line }}
}

// parse reads a command line as memcached's process_command_ascii does. It
// needs the store for its limits and clock only.
func parse(s *store, version, line string) command {
	t := tokens(line)
	if len(t) == 0 || len(t[0]) < 2 {
		return reply(unknown)
	}
	// between checks the number of arguments.
	between := func(least, most int, parse func(*store, []string) command) command {
		if n := len(t) - 1; n < least || n > most {
			return reply(unknown)
		}
		return parse(s, t)
	}
	const many = 1 << 30
	switch t[0] {
	case "mg":
		return between(1, many, parseMetaGet)
	case "ms":
		return between(1, many, parseMetaSet)
	case "md":
		return between(1, many, parseMetaDelete)
	case "ma":
		return between(1, many, parseMetaArithmetic)
	case "me":
		return parseMetaDebug(s, t)
	case "mn":
		return reply("MN\r\n")
	case "get", "gets":
		return between(1, many, parseGet)
	case "gat", "gats":
		return between(1, many, parseGet)
	case "set", "add", "replace", "append", "prepend":
		return between(4, 5, parseStore)
	case "cas":
		return between(5, 6, parseStore)
	case "delete":
		return between(1, 3, parseDelete)
	case "incr", "decr":
		return between(2, 3, parseArithmetic)
	case "touch":
		return between(2, 3, parseTouch)
	case "flush_all":
		return between(0, 2, parseFlush)
	case "verbosity":
		return between(1, 2, parseVerbosity)
	case "stats":
		return parseStats(version, t)
	case "version":
		return reply("VERSION " + version + "\r\n")
	case "quit":
		return command{quit: true, run: func(*store, []byte) string { return "" }}
	}
	return reply(unknown)
}

// noreply tells whether a classic command wants no reply. It then hides errors
// as well.
func noreply(t []string) bool { return t[len(t)-1] == "noreply" }

// hush hides the replies of a classic command that asked for it.
func hush(t []string, c command) command {
	if !noreply(t) {
		return c
	}
	run := c.run
	c.run = func(s *store, body []byte) string {
		run(s, body)
		return ""
	}
	return c
}

// chunk cuts the newline off a body, or reports that there is none.
func chunk(body []byte) ([]byte, bool) {
	n := len(body) - 2
	return body[:n:n], string(body[n:]) == "\r\n"
}

func isGet(line string) bool {
	line = strings.TrimLeft(line, " ")
	return strings.HasPrefix(line, "get ") || strings.HasPrefix(line, "gets ")
}
