//go:build !linux && !windows

package sandbox

import "time"

// helperMain is the program of a helper process: here only something that a probe can end.
func helperMain(args []string) int {
	if len(args) == 1 && args[0] == "linger" {
		time.Sleep(time.Minute)
		return 0
	}
	return 2
}
