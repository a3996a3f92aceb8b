//go:build !windows

package app

import (
	"io"
	"os"
)

// say tells who started the program on a command line why it ends, and gives the exit code back: 0 is no failure.
func say(code int, text string) int {
	out := os.Stdout
	if code != 0 {
		out = os.Stderr
	}
	io.WriteString(out, text) //nolint:errcheck // nobody is there
	return code
}
