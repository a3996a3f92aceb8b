package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

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
