package shell

import (
	"strconv"

	"golang.org/x/sys/windows"
)

// signalGroup ends only the process itself: its children were in its job object, which ended with
// the node.
func signalGroup(pid int, _ bool) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	windows.TerminateProcess(h, 1)
}

// startTime returns the start time of a process; empty for one that has ended.
func startTime(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(h)
	var began, ended, kernel, user windows.Filetime
	var code uint32
	const stillActive = 259
	if windows.GetExitCodeProcess(h, &code) != nil || code != stillActive || windows.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil {
		return ""
	}
	return strconv.FormatInt(began.Nanoseconds(), 10)
}
