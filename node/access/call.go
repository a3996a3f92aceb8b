package access

import (
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// Call is what a tool gets for a call beside its arguments. The zero value is a call without an
// approval.
type Call struct {
	ID protocol.CallID // repeated in the events of the command that the call starts
	// Direct reports that the person made the call, not the agent.
	Direct bool
	// Network reports that the person allowed the network for the command.
	Network bool
	// Folders are folders outside the workspace that the person opened for this call. They must be
	// among those that the call's preview named.
	Folders []protocol.FolderAccess
	// Target is the path without symbolic links that the preview named. If the call's path now
	// leads elsewhere, the call fails with [workspace.ErrTargetChanged]. An empty Target is not
	// checked.
	Target string
	// ExpectedSHA256 makes Write and Edit fail with [workspace.ErrChanged] when the file has
	// another checksum ([workspace.Absent] for no file). An empty one is not checked.
	ExpectedSHA256 string
	// Backup receives the content that Write and Edit are about to replace; may be nil.
	Backup workspace.Backup
	// Progress receives the live output of a command: at most its last 4,000 characters and the
	// number of bytes so far, at most ten times a second. It should not block; may be nil.
	Progress func(tail string, bytes int64)
	// IdempotencyKey is the same for every attempt of a call and different for every other call;
	// empty if the gateway sent none. A tool that changes another system passes it on, so that a
	// repetition is recognized there.
	IdempotencyKey string
}
