// Package standin is a memcached stand-in that answers every request a fixed time after it arrived,
// as a server at the far end of a network would: requests in flight together wait together. It can be
// told to answer some requests late, or to fall silent for a while ([cases.Faults]).
//
// It stores nothing. Every key exists and holds the value that package cases expects of it.
package standin

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/memring/memring/bench/internal/cases"
)

const maxLine = 64 << 10

// statConns begins the line that tells how many connections were opened, as memcached's does.
const statConns = "STAT total_connections "

var errLine = errors.New("stand-in: a request line of more than 64 KiB")

// Session parses one connection's requests and builds their replies. It does no I/O and knows no time.
type Session struct {
	size   int           // of every value
	conns  func() uint64 // how many the server has accepted
	in     []byte        // received, not yet complete
	reply  []byte        // scratch
	answer Answer        // to the request under way, but for its Reply
}

// Answer is what a request leads to.
type Answer struct {
	Reply []byte        // empty for a quiet request
	Get   bool          // the request asked for values
	Admin bool          // the request came from the benchmark itself: nothing delays its reply
	Stall time.Duration // the request was "stall MILLISECONDS", which no memcached knows
}

// NewSession returns a session whose values have size bytes. conns is asked for total_connections.
func NewSession(size int, conns func() uint64) *Session { return &Session{size: size, conns: conns} }

// Feed takes received bytes and calls emit once for each request that is complete; the reply dies when
// emit returns.
func (s *Session) Feed(p []byte, emit func(Answer)) error {
	s.in = append(s.in, p...)
	done := 0
	for {
		n, err := s.one(s.in[done:])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		done += n
		s.answer.Reply = s.reply
		emit(s.answer)
	}
	s.in = s.in[:copy(s.in, s.in[done:])]
	return nil
}

// one handles the first request of in and returns its length, or 0 if it isn't complete.
func (s *Session) one(in []byte) (int, error) {
	end := bytes.IndexByte(in, '\n')
	if end < 0 {
		if len(in) > maxLine {
			return 0, errLine
		}
		return 0, nil
	}
	used := end + 1
	verb, rest := word(bytes.TrimSuffix(in[:end], []byte{'\r'}))
	s.reply, s.answer = s.reply[:0], Answer{}
	switch string(verb) {
	case "mg":
		s.answer.Get = true
		s.metaGet(rest)
	case "get", "gets":
		s.answer.Get = true
		s.classicGet(rest, string(verb) == "gets")
	case "ms":
		key, args := word(rest)
		length, flags := word(args)
		n, err := strconv.Atoi(string(length))
		if err != nil || n < 0 {
			s.say("CLIENT_ERROR bad data chunk\r\n")
			break
		}
		if used += n + 2; used > len(in) {
			return 0, nil
		}
		s.head(key, flags)
	case "set":
		fields := bytes.Fields(rest)
		if len(fields) < 4 {
			s.say("ERROR\r\n")
			break
		}
		n, err := strconv.Atoi(string(fields[3]))
		if err != nil || n < 0 {
			s.say("CLIENT_ERROR bad data chunk\r\n")
			break
		}
		if used += n + 2; used > len(in) {
			return 0, nil
		}
		if len(fields) == 4 {
			s.say("STORED\r\n")
		}
	case "md":
		key, flags := word(rest)
		s.head(key, flags)
	case "mn":
		s.say("MN\r\n")
	case "version":
		s.say("VERSION 1.6.18\r\n") // clients pick features by the version; this one has what is built here
	case "verbosity", "flush_all":
		s.say("OK\r\n")
	case "stats":
		s.answer.Admin = true
		s.say(statConns)
		s.reply = strconv.AppendUint(s.reply, s.conns(), 10)
		s.say("\r\nEND\r\n")
	case "stall":
		ms, err := strconv.Atoi(string(bytes.TrimSpace(rest)))
		if err != nil || ms < 1 {
			s.say("CLIENT_ERROR stall wants milliseconds\r\n")
			break
		}
		s.answer.Admin, s.answer.Stall = true, time.Duration(ms)*time.Millisecond
		s.say("OK\r\n")
	default:
		s.say("ERROR\r\n")
	}
	return used, nil
}

func (s *Session) say(line string) { s.reply = append(s.reply, line...) }

func (s *Session) value(key []byte) {
	s.reply = cases.AppendValue(s.reply, string(key), s.size)
	s.say("\r\n")
}

func (s *Session) metaGet(rest []byte) {
	key, flags := word(rest)
	if len(key) == 0 {
		s.say("CLIENT_ERROR bad command line format\r\n")
		return
	}
	wanted := false
	for f, more := word(flags); len(f) > 0; f, more = word(more) {
		wanted = wanted || f[0] == 'v'
	}
	if !wanted {
		s.say("HD")
	} else {
		s.say("VA ")
		s.reply = strconv.AppendInt(s.reply, int64(s.size), 10)
	}
	s.echo(key, flags)
	s.say("\r\n")
	if wanted {
		s.value(key)
	}
}

// head answers what only needs a HD, which a quiet request doesn't want to see.
func (s *Session) head(key, flags []byte) {
	for f, more := word(flags); len(f) > 0; f, more = word(more) {
		if f[0] == 'q' {
			return
		}
	}
	s.say("HD")
	s.echo(key, flags)
	s.say("\r\n")
}

// echo adds the return flags, in the order they were asked for, as memcached does.
func (s *Session) echo(key, flags []byte) {
	for f, more := word(flags); len(f) > 0; f, more = word(more) {
		switch f[0] {
		case 'O':
			s.say(" ")
			s.reply = append(s.reply, f...)
		case 'k':
			s.say(" k")
			s.reply = append(s.reply, key...)
		case 'f':
			s.say(" f0")
		case 'c':
			s.say(" c1")
		case 't':
			s.say(" t-1")
		case 's':
			s.say(" s")
			s.reply = strconv.AppendInt(s.reply, int64(s.size), 10)
		case 'b':
			s.say(" b")
		}
	}
}

func (s *Session) classicGet(rest []byte, cas bool) {
	for key, more := word(rest); len(key) > 0; key, more = word(more) {
		s.say("VALUE ")
		s.reply = append(s.reply, key...)
		s.say(" 0 ")
		s.reply = strconv.AppendInt(s.reply, int64(s.size), 10)
		if cas {
			s.say(" 1")
		}
		s.say("\r\n")
		s.value(key)
	}
	s.say("END\r\n")
}

// word splits off the first space-separated word.
func word(line []byte) (first, rest []byte) {
	for len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}
