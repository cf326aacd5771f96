package client

import (
	"crypto/tls"
	"testing"

	"github.com/stretchr/testify/require"
)

// The name that a certificate is checked for is the host: without a port, brackets, or
// the zone of an IPv6 address, which is this machine's own and in no certificate.
func TestServerName(t *testing.T) {
	for server, name := range map[string]string{
		"cache.test:11211":         "cache.test",
		"192.0.2.1:11211":          "192.0.2.1",
		"[2001:db8::1]:11211":      "2001:db8::1",
		"[fe80::1%eth0]:11211":     "fe80::1",
		"[::ffff:192.0.2.1]:11211": "::ffff:192.0.2.1",
	} {
		given := new(tls.Config)
		cl := rawClient(t, &Config{Engine: Poll, TLS: FixedTLS(given)}, server)
		cfg, err := cl.tlsConfig(server)
		require.NoError(t, err)
		require.Equal(t, name, cfg.ServerName)
		require.Empty(t, given.ServerName, "it is not changed")
	}
}
