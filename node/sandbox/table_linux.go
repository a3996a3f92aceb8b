package sandbox

import (
	"os"
	"strconv"
	"strings"
)

// processTable lists the running processes.
func processTable() (list []processEntry) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The name in parentheses can contain any character. After it come state, parent, group and
		// session (proc_pid_stat(5)).
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(fields[i+1])
		}
		list = append(list, processEntry{pid: pid, parent: n[0], group: n[1], session: n[2]})
	}
	return list
}
