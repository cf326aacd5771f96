package client

import "fmt"

// PanicError is how [Client.GetOrLoad] returns a panic of load. Value is nil if it
// was runtime.Goexit.
type PanicError struct {
	Value any
	Stack []byte // where it was, as debug.Stack prints it
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "runtime.Goexit was called"
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
