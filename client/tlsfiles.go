package client

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
)

// TLSFiles makes a Config.TLS of PEM files, and reads them again for each new
// connection, so that new certificates are used from the next one on without a
// restart:
//
//	files := &client.TLSFiles{CA: "ca.pem", Cert: "client.pem", Key: "client.key"}
//	c, err := client.New(servers, &client.Config{TLS: files.Config})
//
// Open connections keep the certificates they were made with.
//
// If a file is missing, broken, or only half written, or if Cert and Key don't belong
// together, the last good ones of them all stay in use: new connections go on working
// while that is so, and Err and OnError tell what is wrong. Without any good ones, as
// at the beginning, no connection is made, and the calls' errors tell it as well. So
// that a change of Cert and Key is never seen half done, replace each with rename(2),
// in whatever order.
//
// Its methods may be called from any goroutine; the fields must not be changed after
// the first.
type TLSFiles struct {
	CA   string // the authorities that servers' certificates come from; if empty, the system's
	Cert string // the client's certificate, with its chain; if empty, none is sent
	Key  string // its private key, which may be in the same file; if empty, Cert must be as well

	// Base is the rest of the configuration. If nil, crypto/tls's defaults.
	Base *tls.Config

	// OnError, if not nil, is told of each error once: not again until it has changed
	// or the files were good in between. Its text has the files' names and nothing of
	// what is in them.
	OnError func(error)

	mu   sync.Mutex
	sums [3][sha256.Size]byte // of CA, Cert and Key as they were when good was made of them
	good *tls.Config          // nil: there has been none
	err  error                // what is wrong with the files now
}

// Config reads the files and returns what they make. It is a Config.TLS.
func (f *TLSFiles) Config(string) (*tls.Config, error) {
	f.mu.Lock()
	before := f.err
	f.load()
	cfg, err := f.good, f.err
	f.mu.Unlock()
	if err != nil && f.OnError != nil && (before == nil || before.Error() != err.Error()) {
		f.OnError(err)
	}
	if cfg == nil {
		return nil, err
	}
	return cfg, nil
}

// Err is what was wrong with the files when they were last read, nil if nothing.
func (f *TLSFiles) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

var errHalf = fmt.Errorf("%w: TLSFiles has one of Cert and Key and not the other (they may be the same file)", ErrConfig)

// load makes good of the files if they have changed. mu is held.
func (f *TLSFiles) load() {
	if (f.Cert == "") != (f.Key == "") {
		f.err = errHalf // both can be the same file
		return
	}
	var read [3][]byte
	var sums [3][sha256.Size]byte
	defer func() { clear(read[2]) }()
	for i, name := range [...]string{f.CA, f.Cert, f.Key} {
		if name == "" {
			continue
		}
		if read[i], f.err = os.ReadFile(name); f.err != nil {
			return
		}
		sums[i] = sha256.Sum256(read[i])
	}
	if f.good != nil && sums == f.sums {
		f.err = nil
		return
	}
	cfg := new(tls.Config)
	if f.Base != nil {
		cfg = f.Base.Clone()
	}
	if f.CA != "" {
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(read[0]) {
			f.err = fmt.Errorf("%s: no certificate in it", f.CA)
			return
		}
	}
	if f.Cert != "" {
		pair, err := tls.X509KeyPair(read[1], read[2])
		if err != nil {
			f.err = fmt.Errorf("%s and %s: %w", f.Cert, f.Key, err)
			return
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if cfg.ClientSessionCache != nil {
		cfg.ClientSessionCache = sessions{cfg.ClientSessionCache, string(sums[1][:])}
	}
	f.sums, f.good, f.err = sums, cfg, nil
}

// sessions keeps those of one certificate from others': a session that is resumed goes
// on with the certificate it was begun with, and sends no other.
type sessions struct {
	tls.ClientSessionCache
	of string
}

func (s sessions) Get(server string) (*tls.ClientSessionState, bool) {
	return s.ClientSessionCache.Get(s.of + server)
}

func (s sessions) Put(server string, state *tls.ClientSessionState) {
	s.ClientSessionCache.Put(s.of+server, state)
}
