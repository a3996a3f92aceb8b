package sandbox

import "syscall"

// Console is a terminal that is passed to a program when it starts, and not as a file: Windows'
// pseudo console.
type Console interface {
	// Spawn starts a program in it. The caller owns the handle.
	Spawn(name string, args []string, attr *syscall.ProcAttr) (pid int, handle uintptr, err error)
}
