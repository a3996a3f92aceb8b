package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// zombie is the state SZOMB of sys/proc.h.
const zombie = 5

// processTable lists the running processes of this user.
func processTable() (list []processEntry) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Geteuid())
	if err != nil {
		return nil
	}
	for _, p := range procs {
		if p.Proc.P_stat == zombie {
			continue
		}
		e := processEntry{pid: int(p.Proc.P_pid), parent: int(p.Eproc.Ppid), group: int(p.Eproc.Pgid)}
		e.session, _ = unix.Getsid(e.pid)
		list = append(list, e)
	}
	return list
}
