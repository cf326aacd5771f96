package client

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionOf(t *testing.T) {
	for text, want := range map[string]version{
		"1.6.18":                   release(1, 6, 18),
		"1.6.9_5_gabc":             release(1, 6, 9),
		"1.6.40-beta":              release(1, 6, 39),
		"1.6.40_rc1":               release(1, 6, 39),
		"1.7.0-alpha":              release(1, 7, 0) - 1,
		"1.6.18-1~deb12u1":         release(1, 6, 18),
		"1.6.31 (a fork)":          release(1, 6, 31),
		"1.10.2":                   release(1, 10, 2),
		"0.0.0-alpha":              0,
		"0.0.1-beta-rc1":           0,
		"2.0.0":                    release(2, 0, 0),
		"":                         0,
		"unknown":                  0,
		"1.6":                      0,
		"1.6.":                     0,
		"1.6.x":                    0,
		"v1.6.18":                  0,
		"mcrouter 2024.01.01":      0,
		"1.6.18446744073709551617": 0,
		"-1.6.18":                  0,
	} {
		assert.Equal(t, want, versionOf(text).number, text)
	}
	assert.Less(t, release(1, 6, 9), release(1, 6, 10))
	assert.Less(t, release(1, 9, 99), release(1, 10, 0))
	assert.Equal(t, "1.6.18", release(1, 6, 18).String())
	assert.Len(t, versionOf(string(make([]byte, 1000))).text, maxVersionText)
}

// Each feature is in the table, for the commands that have its flag, and no server is
// taken for newer than it is.
func TestFeatures(t *testing.T) {
	for _, p := range []struct {
		command string
		flag    byte
		since   string
	}{
		{"mg", 'P', "1.6.14"}, {"ms", 'L', "1.6.14"}, {"ms", 'N', "1.6.20"}, {"ms", 's', "1.6.20"},
		{"mg", 'E', "1.6.27"}, {"ms", 'E', "1.6.27"}, {"md", 'E', "1.6.27"}, {"ma", 'E', "1.6.27"}, {"md", 'x', "1.6.27"}, {"mg", 'C', "1.6.40"},
	} {
		f := featureOf(p.command, p.flag)
		assert.NotZero(t, f)
		first := versionOf(p.since)
		before := &serverVersion{number: first.number - 1}
		assert.Zero(t, first.lacks(f))
		assert.Equal(t, f, before.lacks(f))
		assert.Equal(t, f, versionOf("unknown").lacks(f))
		assert.ErrorContains(t, before.unsupported(f, "server"), "needs memcached "+p.since)
	}
	for _, p := range []struct {
		command string
		flag    byte
	}{{"mg", 'N'}, {"mg", 's'}, {"ma", 'N'}, {"ms", 'C'}, {"md", 'C'}, {"ma", 'C'}, {"md", 'I'}, {"mg", 'v'}} {
		assert.Zero(t, featureOf(p.command, p.flag), p)
	}
}
