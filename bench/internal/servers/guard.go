package servers

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Guard runs a command and ends it when in ends, so that a server doesn't outlive a driver that was
// killed. It returns the exit code for this process.
func Guard(in io.Reader, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	done := make(chan struct{})
	var failed error // valid once done is closed
	go func() {
		failed = cmd.Wait()
		close(done)
	}()
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // any end of the input is the end
		close(ended)
	}()
	select {
	case <-done:
		if failed != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", args[0], failed)
		}
		return 1 // a server has no reason to end
	case <-ended:
		_ = cmd.Process.Signal(os.Interrupt) // fails if it's gone, or where there are no signals
		select {
		case <-done:
		case <-time.After(grace / 2):
			_ = cmd.Process.Kill()
			<-done
		}
		return 0
	}
}
