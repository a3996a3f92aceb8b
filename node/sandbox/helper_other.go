//go:build !linux && !windows

package sandbox

import "time"

// helperMain runs a helper process: here only a process that a probe can end.
func helperMain(args []string) int {
	if len(args) == 1 && args[0] == "linger" {
		time.Sleep(time.Minute)
		return 0
	}
	return 2
}
