package tools

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
)

// boot tells this start of the system from others, as ticks begin anew with each.
var boot = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// born is when a process began, in ticks since the system did; empty for one that has ended, also when nobody has reaped it yet.
func born(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything. The state is the first field behind it, the start the twentieth (proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return ""
	}
	return boot() + " " + string(fields[19])
}
