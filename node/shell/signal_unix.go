//go:build unix

package shell

import (
	"syscall"

	"fairlead/gateway/protocol"
)

var signals = map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT}

// sendSignal sends a signal to the process group of a command.
func sendSignal(pid int, name string) error {
	if err := syscall.Kill(-pid, signals[name]); err != nil && err != syscall.ESRCH {
		return protocol.NewFault(protocol.FaultInternal, "the signal could not be sent: "+err.Error())
	}
	return nil
}
