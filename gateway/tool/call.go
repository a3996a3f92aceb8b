package tool

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// Call is a request to run a tool.
type Call struct {
	ID         protocol.CallID // empty: a new one is made
	ToolCallID string          // the model's ID
	Tool       protocol.ToolName
	Args       json.RawMessage
	Principal  auth.Principal      // who makes the call
	AskedBy    protocol.AskedBy    // who caused it
	Session    protocol.SessionKey // empty for a call outside a chat
	Run        protocol.RunID
	Iteration  int  // the model step of the run
	Direct     bool // a direct action of the person, which only a deny rule stops
	// IdempotencyKey is the same for every attempt of a call and different for every other call.
	// Empty: the pipeline derives it from the call.
	IdempotencyKey string
	// FileOperation makes this an operation of the file browser instead of a tool call; see there.
	FileOperation *FileOperation
	// OnApproval, if set, is called when an approval is pending, which can be answered from then
	// on, and again when it is closed.
	OnApproval func(protocol.Approval)
	// OnStart, if set, is called just before the call runs. It is not called for a call that does
	// not run.
	OnStart func()
}

// Agent returns the agent whose chat makes the call; the main agent for a call outside a chat.
func (c Call) Agent() protocol.AgentID {
	if parts := strings.SplitN(string(c.Session), ":", 3); len(parts) == 3 && parts[0] == "agent" {
		return protocol.AgentID(parts[1])
	}
	return protocol.MainAgent
}

// FileOperation is an operation of a node's file browser, such as moving a file. It is not a tool:
// only the person can request it. The rules decide on it as on calls of a file tool.
type FileOperation struct {
	Node   protocol.NodeID
	Effect protocol.Effect
	Files  []FileAccess // if one is denied, the operation is denied
}

// FileAccess is a file or folder that a call reads or writes beside what its arguments say to the
// rules. They decide on it as on a call of the file tool there, so that a rule about a file applies
// however the file is reached.
type FileAccess struct {
	protocol.Endpoint
	Tool    string // the tool that would access it, such as Read or Write
	Effect  protocol.Effect
	IsWhole bool // including everything below the path
}
