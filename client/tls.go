package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"

	"github.com/memring/memring/client/transport/secure"
)

// FixedTLS is a Config.TLS that is the same for all servers and never changes.
func FixedTLS(cfg *tls.Config) func(server string) (*tls.Config, error) {
	return func(string) (*tls.Config, error) { return cfg, nil }
}

// tlsConfig is the configuration of a connection to server.
func (cl *Client) tlsConfig(server string) (*tls.Config, error) {
	cfg, err := cl.cfg.TLS(server)
	switch {
	case err != nil:
		return nil, fmt.Errorf("Config.TLS: %w", err)
	case cfg == nil:
		return nil, fmt.Errorf("%w: Config.TLS returned no configuration and no error", ErrConfig)
	case cfg.ServerName != "" || cfg.InsecureSkipVerify:
		return cfg, nil
	}
	host, _, err := net.SplitHostPort(server)
	if err != nil || strings.HasPrefix(server, "unix:") {
		return nil, fmt.Errorf("%w: a UNIX socket has no name that a certificate could be for: set ServerName"+
			" in what Config.TLS returns", ErrConfig)
	}
	cfg = cfg.Clone()
	cfg.ServerName, _, _ = strings.Cut(host, "%") // no zone: it is in no certificate
	return cfg, nil
}

// secured puts TLS on top of an engine.
func (cl *Client) secured(e engine) engine {
	return secure.New(e, func(network, addr string) (*tls.Config, error) {
		if network == "unix" {
			addr = "unix:" + addr
		}
		return cl.tlsConfig(addr)
	})
}

// secureRaw puts TLS on top of a connection that is no engine's. It closes nc if that
// fails.
func (cl *Client) secureRaw(ctx context.Context, srv *server, nc net.Conn) (net.Conn, error) {
	cfg, err := cl.tlsConfig(srv.name)
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	return secure.Client(ctx, nc, cfg)
}
