package client

import (
	"fmt"
	"strings"
)

// feature is something that only newer servers have. The options that need one say
// so in extras.needs, and the request is sent to no server that lacks it.
type feature uint8

const (
	hints feature = 1 << iota
	createAppend
	storedSize
	chosenCAS
	dropValue
	unlessCAS
)

// features is the table of all that depends on the server's version: which flag of
// which commands (memcached's release notes and ChangeLog). Older servers refuse it
// or, worse, pass it over.
var features = []struct {
	feature
	commands string // "" stands for all
	flags    string
	since    version
	text     string
}{
	{hints, "", "PL", release(1, 6, 14), "Hints (flags P and L)"},
	{createAppend, "ms", "N", release(1, 6, 20), "StoreOptions.Create (flag N of ms)"},
	{storedSize, "ms", "s", release(1, 6, 20), "StoreOptions.StoredSize (flag s of ms)"},
	{chosenCAS, "", "E", release(1, 6, 27), "NewCAS (flag E)"},
	{dropValue, "md", "x", release(1, 6, 27), "DeleteOptions.DropValue (flag x of md)"},
	{unlessCAS, "mg", "C", release(1, 6, 40), "GetOptions.UnlessCAS (flag C of mg)"},
}

// featureOf returns the feature that a flag of a command is, 0 if all servers have it.
func featureOf(command string, flag byte) feature {
	for _, f := range features {
		if (f.commands == "" || f.commands == command) && strings.IndexByte(f.flags, flag) >= 0 {
			return f.feature
		}
	}
	return 0
}

// lacks returns which of some features a server does not have.
func (s *serverVersion) lacks(needs feature) (missing feature) {
	for _, f := range features {
		if needs&f.feature != 0 && s.number < f.since {
			missing |= f.feature
		}
	}
	return missing
}

// unsupported is the error of a request that needs what the server lacks.
func (s *serverVersion) unsupported(missing feature, server string) error {
	e := &UnsupportedError{Have: s.text, Server: server}
	var since version
	for _, f := range features {
		if missing&f.feature != 0 && f.since > since {
			since = f.since
			e.Feature, e.Need = f.text, f.since.String()
		}
	}
	return e
}

// version is memcached's, comparable; 0 is unknown and older than all.
type version uint64

// release makes a version of its numbers.
func release(major, minor, patch uint64) version { return version(major<<32 | minor<<16 | patch) }

func (v version) String() string {
	return fmt.Sprintf("%d.%d.%d", v>>32, v>>16&0xffff, v&0xffff)
}

// serverVersion is what a server has answered to version.
type serverVersion struct {
	number version
	text   string
}

// maxVersionText is how much of it is kept, for errors.
const maxVersionText = 64

// versionOf reads a server's answer. What is built from the source between two
// releases ("1.6.9_5_gabc") counts as the release before it, and so does what comes
// before a release ("1.6.40-beta1"). Other implementations say what they like, and
// what cannot be read is unknown.
func versionOf(text string) *serverVersion {
	s := &serverVersion{text: text[:min(len(text), maxVersionText)]}
	word, _, _ := strings.Cut(text, " ")
	var n [3]uint64
	for i := range n {
		var digits int
		for digits < len(word) && word[digits] >= '0' && word[digits] <= '9' {
			n[i] = n[i]*10 + uint64(word[digits]-'0')
			digits++
		}
		if digits == 0 || digits > 4 {
			return s
		}
		word = word[digits:]
		if i < 2 {
			if word == "" || word[0] != '.' {
				return s
			}
			word = word[1:]
		}
	}
	s.number = release(n[0], n[1], n[2])
	for _, early := range []string{"alpha", "beta", "rc"} {
		if s.number > 0 && strings.Contains(word, early) { // 0.0.0-alpha is not the newest
			s.number--
		}
	}
	return s
}
