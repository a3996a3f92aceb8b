package sandbox

import (
	"errors"
	"fmt"
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
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		return Exit{}, err
	}
	return Exit{Code: g.cmd.ProcessState.ExitCode()}, nil
}

// close ends the remaining processes of the job.
func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}
