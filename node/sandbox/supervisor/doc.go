// Package supervisor is the helper process that starts the node's commands, watches what becomes of them and ends it, and the node's end of the talk
// with it. Linux only. What a command may do is decided before, in package sandbox; how it is kept to that is package confine's.
package supervisor

import "time"

const (
	// Grace is the time between SIGTERM and SIGKILL.
	Grace = 250 * time.Millisecond
	// SettleTime is how long processes that outlive their command may take to end by themselves,
	// such as the end of a pipe that the shell does not wait for.
	SettleTime = 100 * time.Millisecond
)
