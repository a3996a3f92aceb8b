//go:build !linux

package tools

import "os/exec"

// awaitExit blocks until the process has ended.
func awaitExit(cmd *exec.Cmd) { cmd.Wait() } // the exit status is in ProcessState

// reap has nothing left to do.
func reap(*exec.Cmd) {}
