//go:build !unix

package limit

import "errors"

// ReadWrite can't be had here.
type ReadWrite struct{}

// OpenReadWrite fails.
func OpenReadWrite(string) (*ReadWrite, error) { return nil, errors.ErrUnsupported }

// GetAppend fails.
func (*ReadWrite) GetAppend(dst []byte, _ string) ([]byte, error) { return dst, errors.ErrUnsupported }

// Close has nothing to close.
func (*ReadWrite) Close() error { return errors.ErrUnsupported }
