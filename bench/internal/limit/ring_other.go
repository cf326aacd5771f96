//go:build !linux

package limit

import "errors"

// Ring can't be had here.
type Ring struct{}

// OpenRing fails.
func OpenRing(string) (*Ring, error) { return nil, errors.ErrUnsupported }

// GetAppend fails.
func (*Ring) GetAppend(dst []byte, _ string) ([]byte, error) { return dst, errors.ErrUnsupported }

// Close has nothing to close.
func (*Ring) Close() error { return errors.ErrUnsupported }
