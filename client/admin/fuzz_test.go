package admin

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Lines as memcached 1.6.18 and its newest source of 2026 sent them.
var (
	keyLines = []string{
		"key=a%25b exp=-1 la=1796083018 cas=1 fetch=no cls=1 size=63",
		"key=%00%01%02 exp=-1 la=1796083018 cas=2 fetch=no cls=1 size=63",
		"key=%C3%A4 exp=1796083078 la=1796083018 cas=3 fetch=yes cls=1 size=66",
		"key=%C3%A4 exp=1796083090 la=1796083030 cas=4 fetch=no cls=1 size=66 flags=5 ",
		"key=k exp=1796083090 la=1796083030 cas=4 fetch=no cls=1 size=66 flags=5 ext_page=3 ext_offset=77 ",
	}
	mgLines  = []string{"mg a%b", "mg AAEC b", "mg b", "mg b b", "EN"}
	logLines = []string{
		"ts=1796083324.799911 gid=2 type=conn_new rip=127.0.0.1 rport=52966 transport=tcp cfd=25",
		"ts=1796083324.799922 gid=3 type=item_get key=w%2520x status=not_found clsid=0 cfd=25 size=0",
		"ts=1796083324.799927 gid=4 type=item_store key=w%2520x status=stored cmd=set ttl=60 clsid=1 cfd=25 size=3",
		"ts=1796083324.42 gid=8 type=item_store key=%00%01%02 status=stored cmd=set ttl=4294966927 clsid=1 cfd=25 size=1",
		"ts=1796083326.594922 gid=18 type=item_store key=w status=exists cmd=cas ttl=0 clsid=1 cfd=29 size=1",
		"ts=1796083326.594912 gid=12 type=deleted key=w%2520x cmd=delete clsid=1 size=3",
		"ts=1796083324.799963 gid=17 type=conn_close rip=127.0.0.1 rport=52966 transport=tcp reason=normal cfd=25",
		"ts=1796083324.799963 gid=17 type=eviction key=k fetch=yes ttl=-1 la=30 clsid=21 size=200000",
		"ts=1796083324.799963 gid=17 type=eviction key=k fetch=no ttl=55 la=30 clsid=21 size=200000",
		"ts=1796083324.799963 gid=17 type=extwrite key=k fetch=no ttl=-7 la=30 clsid=21 bucket=2",
		"ts=1.2 gid=3 type=slab_move src=1 dst=0 state=start",
		"ts=1.2 gid=3 type=connerr fd=3 msg=no such thing",
		"ts=1.2 gid=3 type=proxy_req elapsed=5 type=7 code=17 status=0 res=ok cfd=9 be=127.0.0.1:11 detail=some words req=mg k v a=b",
		"ts=1.2 gid=3 type=proxy_user msg=free text = here",
		"skipped=12",
		"",
	}
)

func FuzzKey(f *testing.F) {
	for _, l := range keyLines {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		k, ok := parseKey([]byte(line))
		if !ok {
			require.Equal(t, KeyInfo{}, k)
			return
		}
		require.NotEmpty(t, k.Key)
		require.True(t, 0 <= k.Class && k.Class <= maxClass)
		require.Contains(t, line, "key=")
		again, ok := parseKey([]byte("new=1 " + line + " ")) // where a field stands means nothing
		require.True(t, ok)
		require.Equal(t, k, again)
	})
}

func FuzzMG(f *testing.F) {
	for _, l := range mgLines {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		key, ok := parseMG([]byte(line))
		if !ok {
			return
		}
		require.NotEmpty(t, key)
		require.Contains(t, []string{"mg " + key, "mg " + encode64(key) + " b"}, line)
	})
}

func FuzzEntry(f *testing.F) {
	for _, l := range logLines {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e := parseEntry(line)
		require.Equal(t, line, e.Line)
		n := 0
		for name, value := range e.Fields {
			require.NotEmpty(t, name)
			require.Contains(t, line, name+"=")
			n += len(name) + len("=") + len(value)
		}
		require.LessOrEqual(t, n, len(line))
		require.True(t, 0 <= e.Class && e.Class <= maxClass && e.FD >= 0)
		if e.Type == Skipped {
			return
		}
		require.Equal(t, e.Fields["type"], e.Type)
	})
}

func TestParseKey(t *testing.T) {
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for i, want := range []KeyInfo{
		{Key: "a%b", LastAccess: at(1796083018), CAS: 1, Class: 1, Size: 63},
		{Key: "\x00\x01\x02", LastAccess: at(1796083018), CAS: 2, Class: 1, Size: 63},
		{Key: "ä", Expiry: at(1796083078), LastAccess: at(1796083018), CAS: 3, Fetched: true, Class: 1, Size: 66},
		{Key: "ä", Expiry: at(1796083090), LastAccess: at(1796083030), CAS: 4, Class: 1, Size: 66, Flags: 5, HasFlags: true},
		{Key: "k", Expiry: at(1796083090), LastAccess: at(1796083030), CAS: 4, Class: 1, Size: 66, Flags: 5, HasFlags: true},
	} {
		k, ok := parseKey([]byte(keyLines[i]))
		require.True(t, ok)
		require.Equal(t, want, k)
	}
}

func TestParseEntry(t *testing.T) {
	at := func(micro int64) time.Time { return time.UnixMicro(micro) }
	for i, want := range []Entry{
		{Type: ConnNew, Time: at(1796083324_799911), GID: 2, Remote: "127.0.0.1", Port: 52966, Transport: "tcp", FD: 25},
		{Type: ItemGet, Time: at(1796083324_799922), GID: 3, Key: "w%20x", Status: "not_found", FD: 25},
		{Type: ItemStore, Time: at(1796083324_799927), GID: 4, Key: "w%20x", Status: "stored", Cmd: "set",
			Expires: true, TTL: time.Minute, Class: 1, FD: 25, Size: 3},
		{Type: ItemStore, Time: at(1796083324_000042), GID: 8, Key: "\x00\x01\x02", Status: "stored", Cmd: "set",
			Expires: true, TTL: -369 * time.Second, Class: 1, FD: 25, Size: 1},
		{Type: ItemStore, Time: at(1796083326_594922), GID: 18, Key: "w", Status: "exists", Cmd: "cas", Class: 1, FD: 29, Size: 1},
		{Type: Deleted, Time: at(1796083326_594912), GID: 12, Key: "w%20x", Cmd: "delete", Class: 1, Size: 3},
		{Type: ConnClose, Time: at(1796083324_799963), GID: 17, Remote: "127.0.0.1", Port: 52966, Transport: "tcp", Reason: "normal", FD: 25},
		{Type: Eviction, Time: at(1796083324_799963), GID: 17, Key: "k", Fetched: true, Idle: 30 * time.Second, Class: 21, Size: 200000},
		{Type: Eviction, Time: at(1796083324_799963), GID: 17, Key: "k", Expires: true, TTL: 55 * time.Second, Idle: 30 * time.Second,
			Class: 21, Size: 200000},
		{Type: ExtWrite, Time: at(1796083324_799963), GID: 17, Key: "k", Expires: true, TTL: -7 * time.Second, Idle: 30 * time.Second, Class: 21},
		{Type: "slab_move", Time: at(1_000002), GID: 3},
		{Type: "connerr", Time: at(1_000002), GID: 3},
		{Type: "proxy_req", Time: at(1_000002), GID: 3, Status: "0", FD: 9},
		{Type: "proxy_user", Time: at(1_000002), GID: 3},
		{Type: Skipped, Skipped: 12},
		{},
	} {
		e := parseEntry(logLines[i])
		want.Line, want.Fields = logLines[i], e.Fields
		require.Equal(t, want, e)
	}
	require.Equal(t, map[string]string{"ts": "1.2", "gid": "3", "type": "proxy_req", "elapsed": "5", "code": "17", "status": "0", "res": "ok",
		"cfd": "9", "be": "127.0.0.1:11", "detail": "some words", "req": "mg k v a=b"},
		parseEntry(logLines[12]).Fields)
	require.Equal(t, "no such thing", parseEntry(logLines[11]).Fields["msg"])
	require.Equal(t, "free text = here", parseEntry(logLines[13]).Fields["msg"])
}
