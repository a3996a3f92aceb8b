//go:build !windows

package system

import (
	"io"
	"os"
)

// Report prints why the program exits, and returns the exit code; 0 is success.
func Report(code int, text string) int {
	out := os.Stdout
	if code != 0 {
		out = os.Stderr
	}
	io.WriteString(out, text) //nolint:errcheck // nobody is there
	return code
}
