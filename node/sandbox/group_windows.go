package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object with all processes of one command. The node has its only handle, so the job
// and all its processes end when the node does.
type group struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	job    windows.Handle // 0 when closed
	exited bool           // the command itself has ended
	killed int            // processes that were ended with the job, without the command's own
}

// startGroup starts cmd suspended and resumes it only when it is in its job, because processes
// started earlier would not be.
func startGroup(cmd *exec.Cmd, s Spec) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("creating a job object: %w", err)
	}
	g := &group{cmd: cmd, job: job}
	if err := g.start(s); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *group) start(s Spec) error {
	if err := g.limit(s.Profile.isContained()); err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true, CmdLine: s.Line,
	}
	if s.Profile.isContained() {
		token, err := restrictedToken()
		if err != nil {
			return err
		}
		defer token.Close()
		attr.Token = syscall.Token(token)
	}
	g.cmd.SysProcAttr = attr
	start := g.cmd.Start
	if s.Console != nil {
		start = func() error { return StartIn(s.Console, g.cmd) }
	}
	if err := start(); err != nil {
		return err
	}
	if err := g.admit(uint32(g.cmd.Process.Pid)); err != nil {
		g.cmd.Process.Kill()
		g.cmd.Wait()
		return err
	}
	return nil
}

// admit puts the suspended process in the job and resumes it.
func (g *group) admit(pid uint32) error {
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("opening the new process: %w", err)
	}
	defer windows.CloseHandle(p)
	if err := windows.AssignProcessToJobObject(g.job, p); err != nil {
		return fmt.Errorf("assigning the process to its job: %w", err)
	}
	snap, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing the threads: %w", err)
	}
	defer windows.CloseHandle(snap)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snap, &entry); err == nil; err = windows.Thread32Next(snap, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		t, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("opening the first thread: %w", err)
		}
		_, err = windows.ResumeThread(t)
		windows.CloseHandle(t)
		return err
	}
	return errors.New("the new process has no thread")
}

func (g *group) wait() (Exit, error) {
	err := g.cmd.Wait()
	g.mu.Lock()
	g.exited = true
	g.mu.Unlock()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return Exit{}, err
	}
	return Exit{Code: g.cmd.ProcessState.ExitCode()}, nil
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// terminate is killTree: Windows has no gentler way that programs without a window would notice.
func (g *group) terminate() { g.killTree() }

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

func (g *group) hasProcesses() bool { return len(g.processes()) > 0 }

func (g *group) killedCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.killed
}

// StartIn starts cmd in a console; cmd's own input and output are ignored. Package os/exec cannot
// do that. cmd.Wait works afterwards.
func StartIn(c Console, cmd *exec.Cmd) error {
	// A group of its own would not receive Ctrl+C, and without a window there is no console.
	if cmd.SysProcAttr != nil {
		cmd.SysProcAttr.CreationFlags &^= windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW
	}
	pid, handle, err := c.Spawn(cmd.Path, cmd.Args, &syscall.ProcAttr{Dir: cmd.Dir, Env: cmd.Env, Sys: cmd.SysProcAttr})
	if err != nil {
		return err
	}
	// Until then the process number cannot be reused.
	defer windows.CloseHandle(windows.Handle(handle))
	cmd.Process, err = os.FindProcess(pid)
	return err
}

// The parts of winnt.h that package windows lacks.
const (
	luaToken = 0x4

	uiHandles          = 0x1
	uiReadClipboard    = 0x2
	uiWriteClipboard   = 0x4
	uiSystemParameters = 0x8
	uiDisplaySettings  = 0x10
	uiDesktop          = 0x40
	uiExitWindows      = 0x80
)

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// restrictedToken returns the node's own token without its privileges and, if it belongs to an
// administrator, reduced to that of a standard user. The caller closes it.
func restrictedToken() (windows.Token, error) {
	var own, less windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_QUERY|windows.TOKEN_ADJUST_DEFAULT, &own)
	if err != nil {
		return 0, fmt.Errorf("opening the process token: %w", err)
	}
	defer own.Close()
	drop, err := privileges(own)
	if err != nil {
		return 0, fmt.Errorf("listing the process privileges: %w", err)
	}
	ok, _, err := createRestrictedToken.Call(uintptr(own), luaToken, 0, 0, uintptr(len(drop)), uintptr(unsafe.Pointer(unsafe.SliceData(drop))), 0, 0,
		uintptr(unsafe.Pointer(&less)))
	if ok == 0 {
		return 0, fmt.Errorf("creating a restricted token: %w", err)
	}
	return less, nil
}

// limit limits the job: it ends with the node, and the number of its processes is bounded, against
// fork bombs. The processes of a contained job cannot read the person's clipboard, send messages to
// windows of other programs, or log the person out.
func (g *group) limit(contained bool) error {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
	limits.BasicLimitInformation.ActiveProcessLimit = maxProcesses
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return fmt.Errorf("limiting the job object: %w", err)
	}
	if !contained {
		return nil
	}
	ui := uint32(uiHandles | uiReadClipboard | uiWriteClipboard | uiSystemParameters | uiDisplaySettings | uiDesktop | uiExitWindows)
	if _, err := windows.SetInformationJobObject(g.job, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&ui)), uint32(unsafe.Sizeof(ui))); err != nil {
		return fmt.Errorf("restricting the job object's access to windows: %w", err)
	}
	return nil
}

const maxProcesses = 2048

// privileges returns those of a token, except the one for traversing folders, which everyone has.
func privileges(token windows.Token) (all []windows.LUIDAndAttributes, err error) {
	size := uint32(0)
	windows.GetTokenInformation(token, windows.TokenPrivileges, nil, 0, &size)
	if size == 0 {
		return nil, windows.ERROR_INVALID_DATA
	}
	buf := make([]byte, size)
	if err := windows.GetTokenInformation(token, windows.TokenPrivileges, &buf[0], size, &size); err != nil {
		return nil, err
	}
	var pass windows.LUID
	if err := windows.LookupPrivilegeValue(nil, windows.StringToUTF16Ptr("SeChangeNotifyPrivilege"), &pass); err != nil {
		return nil, err
	}
	for _, p := range (*windows.Tokenprivileges)(unsafe.Pointer(&buf[0])).AllPrivileges() {
		if p.Luid != pass {
			all = append(all, p)
		}
	}
	return all, nil
}
