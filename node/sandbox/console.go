package sandbox

import "syscall"

// Console is a terminal that a program gets when it is started and not as a file: Windows' pseudo console.
type Console interface {
	// Spawn starts a program in it. The handle is the caller's.
	Spawn(name string, args []string, attr *syscall.ProcAttr) (pid int, handle uintptr, err error)
}
