package sandbox

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// terminate is killTree: Windows has no gentler way that programs without a window would notice.
func (g *group) terminate() { g.killTree() }

// killTree ends all processes of the command by ending its job.
func (g *group) killTree() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return
	}
	n := len(g.list())
	if !g.exited {
		n--
	}
	g.killed = max(g.killed, n)
	windows.TerminateJobObject(g.job, 1)
}

// processList is JOBOBJECT_BASIC_PROCESS_ID_LIST, which package windows lacks, with room for 1024
// processes.
type processList struct {
	assigned, listed uint32
	ids              [1024]uintptr
}

// list lists the processes in the job, at most 1024. The caller holds mu.
func (g *group) list() (pids []int) {
	if g.job == 0 {
		return nil
	}
	var l processList
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&l)), uint32(unsafe.Sizeof(l)), nil)
	if err != nil && !errors.Is(err, windows.ERROR_MORE_DATA) {
		return nil
	}
	for _, id := range l.ids[:min(int(l.listed), len(l.ids))] {
		pids = append(pids, int(id))
	}
	return pids
}

func (g *group) processes() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list()
}

// hasProcesses reports whether the job has processes left.
func (g *group) hasProcesses() bool { return len(g.processes()) > 0 }

func (g *group) killedCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}
