package shell

import (
	"os"
	"strings"
	"sync"

	"fairlead/node/sandbox/supervisor"
)

// boot identifies this start of the system, because ticks begin anew with each.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// startTime returns the start time of a process, in ticks since the system's start; empty for one
// that has ended.
func startTime(pid int) string {
	stat := supervisor.ProcessStat(pid)
	if len(stat) < 20 {
		return ""
	}
	return boot() + " " + stat[19]
}
