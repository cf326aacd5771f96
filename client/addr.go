package client

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// maxUnixPath is the longest path of a UNIX socket (struct sockaddr_un,
// unix(7)), without the final zero byte.
const maxUnixPath = 107

// parseAddr reads a server address: "host:port", "[v6]:port", or
// "unix:/path".
func parseAddr(s string) (network, addr string, err error) {
	bad := func(why string) (string, string, error) {
		return "", "", fmt.Errorf("%w: server address %q: %s", ErrConfig, s, why)
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		switch {
		case path == "":
			return bad("the path is missing")
		case path[0] != '/' && path[0] != '@':
			return bad("the path is not absolute (or, in Linux's abstract namespace, begins with @)")
		case len(path) > maxUnixPath:
			return bad(fmt.Sprintf("the path has more than %d bytes", maxUnixPath))
		case strings.ContainsRune(path, 0):
			return bad("the path has a zero byte")
		}
		return "unix", path, nil
	}
	if strings.HasPrefix(s, "/") {
		return bad(`a UNIX socket is written "unix:/path"`)
	}
	host, port, err := net.SplitHostPort(s)
	switch {
	case err != nil && !strings.Contains(s, ":"):
		return bad("the port is missing")
	case err != nil:
		return bad(`want "host:port", "[IPv6]:port" or "unix:/path"`)
	case host == "":
		return bad("the host is missing")
	case !validHost(host, s[0] == '['):
		return bad("the host is neither a name nor an IP address")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return bad("the port is no number from 1 to 65535")
	}
	return "tcp", s, nil
}

// validHost reports whether host is an IP address or could be a name in DNS or
// the hosts file.
func validHost(host string, bracketed bool) bool {
	if bracketed || strings.Contains(host, ":") {
		_, err := netip.ParseAddr(host)
		return err == nil
	}
	for _, r := range host {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.' && r != '_' {
			return false
		}
	}
	return true
}
