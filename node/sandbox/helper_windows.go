package sandbox

import (
	"time"

	"golang.org/x/sys/windows"
)

// helperMain is the program of a helper process, which a probe starts: something that can be ended, or something that says what it may.
func helperMain(args []string) int {
	if len(args) != 1 {
		return 2
	}
	switch args[0] {
	case "linger":
		time.Sleep(time.Minute)
		return 0
	case "privileges":
		if left, err := privileges(windows.GetCurrentProcessToken()); err != nil || len(left) > 0 {
			return 1
		}
		return 0
	}
	return 2
}
