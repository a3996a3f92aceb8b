//go:build unix

package sandbox

import (
	"os"
	"os/signal"
	"syscall"
)

// handleIgnoredSignals lets commands react to the signals that this program ignores because it was
// started with nohup or in the background of a shell. A command inherits ignored signals, and a
// shell cannot trap them (POSIX, trap), but handled ones are reset when a command starts. Nobody
// reads the channel, so this program still ignores the signals.
func handleIgnoredSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
