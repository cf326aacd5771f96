//go:build nouring

package client

import "errors"

// newURing fails: this build leaves io_uring out.
func newURing() (engine, error) {
	return nil, errors.New("io_uring was left out of this build by the tag nouring")
}

func degraded(engine) error { return nil }
