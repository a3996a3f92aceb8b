package shell

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// boot identifies this start of the system, because ticks begin anew with each.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// startTime returns the start time of a process, in ticks since the system's start; empty for one
// that has ended, even if it has not been reaped yet.
func startTime(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses can contain any character. The state is the first field after it, the
	// start time the twentieth (proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return ""
	}
	return boot() + " " + string(fields[19])
}
