//go:build unix

package provision

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// runInGroup makes a command, and what it starts, end together. alive stays open in it.
func runInGroup(cmd *exec.Cmd, alive *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return os.ErrProcessDone
	}
	if alive != nil {
		cmd.ExtraFiles = []*os.File{alive}
	}
}

// started records the process of a running program in the file that it inherits.
func started(cmd *exec.Cmd, alive *os.File) {
	if alive != nil {
		alive.Truncate(0)
		alive.WriteAt([]byte(strconv.Itoa(cmd.Process.Pid)), 0) // without it, the next start waits for the program
	}
}

// errBusy means that a program of an earlier start still works on a task.
var errBusy = errors.New("the provider still works on the machine, from before a restart")

// holdTask marks a task as being worked on, until the file is closed in this process and in the
// programs that inherit it: one that outlives a killed gateway must not work beside the next, which
// ends it.
func holdTask(dir, task string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, task+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the task: %w", err)
		}
		text, _ := io.ReadAll(f)
		if pid, err := strconv.Atoi(string(text)); err == nil && pid > 1 {
			syscall.Kill(-pid, syscall.SIGKILL) // its lock shows that the process is still that one
		}
		return nil, errBusy
	}
	return f, nil
}
