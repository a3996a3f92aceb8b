// Package supervisor implements the helper process that starts the node's commands, watches and
// ends them, and the node's side of the connection to it. Linux only. Package sandbox decides what
// a command may do; package confine enforces it.
package supervisor

import "time"

const (
	// Grace is the time between SIGTERM and SIGKILL.
	Grace = 250 * time.Millisecond
	// SettleTime is the time that processes which outlive their command have to end by themselves,
	// such as the end of a pipe that the shell does not wait for.
	SettleTime = 100 * time.Millisecond
)
