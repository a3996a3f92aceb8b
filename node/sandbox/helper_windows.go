package sandbox

import (
	"time"

	"golang.org/x/sys/windows"
)

// helperMain runs a helper process, which a probe starts: it waits to be ended, or reports its
// privileges.
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
