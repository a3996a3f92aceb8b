package shell

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// stateZombie is SZOMB of sys/proc.h.
const stateZombie = 5

// startTime returns the start time of a process; empty for one that has ended.
func startTime(pid int) string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid || p.Proc.P_stat == stateZombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec)
}
