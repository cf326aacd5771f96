//go:build !nouring

package client

import "github.com/memring/memring/ring"

// newURing opens an io_uring engine.
func newURing() (engine, error) { return ring.New() }

// degraded says why an io_uring engine is not at its best.
func degraded(e engine) error { return e.(*ring.Engine).Degraded() }
