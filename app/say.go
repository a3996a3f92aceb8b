//go:build !windows

package app

import (
	"io"
	"os"
)

// report prints why the program exits, and returns the exit code; 0 is success.
func report(code int, text string) int {
	out := os.Stdout
	if code != 0 {
		out = os.Stderr
	}
	io.WriteString(out, text) //nolint:errcheck // nobody is there
	return code
}
