package shell

import (
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

// startRequest is a command to start, and what it may do.
type startRequest struct {
	command, dir string
	shell        string        // path of the shell that runs it; empty for Path
	account      *account      // the user that runs it; nil for the node's own
	timeout      time.Duration // 0: unlimited
	tty          bool
	call         protocol.CallID
	caller       *protocol.ToolCaller
	tool         string // the tool that starts it
	// folders that it may use in addition to those of the profile
	folders        []protocol.FolderAccess
	lifts          []string               // protected files that it may change
	records        []string               // protected files that it may change as git does
	rules          *protocol.CommandRules // for the code that it runs; may be nil
	network        bool                   // it may use the network, regardless of the profile
	direct         bool                   // started by the person, not by the agent
	release        func()                 // see job
	ended          func(*job)             // see job
	idempotencyKey string                 // the call's idempotency key, if any
}

// newRequest returns what a call of a tool starts, with what the person allowed for the call.
func newRequest(call access.Call, tool string) startRequest {
	return startRequest{
		call: call.ID, caller: call.Caller, direct: call.Direct, tool: tool, idempotencyKey: call.IdempotencyKey,
		folders: call.Folders, lifts: call.Lifts, records: call.Records, rules: call.Rules,
	}
}

// environ completes the environment of the command: it adds variables for commands without a person
// at the terminal, git's configuration unless the command is the person's own, and the idempotency
// key, which the command can pass on to the systems that it changes.
func (o startRequest) environ(env []string) []string {
	env = nonInteractive(env, o.tty)
	if !o.direct {
		env = guardGit(env)
	}
	if o.idempotencyKey != "" {
		env = append(env, "FAIRLEAD_IDEMPOTENCY_KEY="+o.idempotencyKey)
	}
	return env
}
