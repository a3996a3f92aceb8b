package sandbox

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// StartIn starts cmd in a console; of its input and output nothing else is used. Package os/exec cannot do that. cmd.Wait works afterwards.
func StartIn(c Console, cmd *exec.Cmd) error {
	if cmd.SysProcAttr != nil { // a group of its own would hear no Ctrl+C, and without a window there is no console
		cmd.SysProcAttr.CreationFlags &^= windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW
	}
	pid, handle, err := c.Spawn(cmd.Path, cmd.Args, &syscall.ProcAttr{Dir: cmd.Dir, Env: cmd.Env, Sys: cmd.SysProcAttr})
	if err != nil {
		return err
	}
	defer windows.CloseHandle(windows.Handle(handle)) // until then the number is that process's
	cmd.Process, err = os.FindProcess(pid)
	return err
}
