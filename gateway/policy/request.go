package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Request is everything that a decision about a tool call depends on.
type Request struct {
	Tool    protocol.ToolName
	Node    protocol.NodeID
	Bare    string // the tool's name without the node
	Effect  protocol.Effect
	Args    json.RawMessage
	Preview *protocol.CallPreview // nil if the node could not make one
	Host    *protocol.HostInfo    // of the node, if it reports them
	Session protocol.SessionKey
	Direct  bool           // a direct action of the person
	Whole   bool           // the paths of the preview, with everything below them
	Grants  []SessionGrant // of the session
	Mode    protocol.ApprovalMode
	By      protocol.AskedBy // who caused the call
}

// SessionGrant is a permission of a chat for one call, or for one tool's access to one file.
type SessionGrant struct {
	Node  protocol.NodeID
	Tool  string // bare name
	Match string // see [Request.SessionMatch]
}

// Prefixes of the text with which a chat's permission is compared. The folder and the arguments
// follow, or the file.
const (
	CallMatch = "call "
	PathMatch = "path "
)

// ExactCommand describes a permission for one command.
const ExactCommand = "exactly this command, in this folder"

// AnyAccess describes a permission for one tool's access to one file.
func AnyAccess(tool, path string) string {
	return fmt.Sprintf("any %s of %s", strings.ToLower(tool), path)
}

// SessionMatch returns what an allow for the session would permit: in the form that calls are
// compared with, and as a description. ok is false if nothing narrow enough can be expressed.
func (q Request) SessionMatch() (match, words string, ok bool) {
	if q.Preview == nil || q.Preview.Truncated {
		return "", "", false
	}
	switch q.Effect {
	case protocol.EffectExec:
		args, err := protocol.Canonical(q.Args)
		if err != nil {
			return "", "", false
		}
		return CallMatch + q.Preview.Folder + " " + string(args), ExactCommand, true
	case protocol.EffectWrite, protocol.EffectRead:
		if q.Preview.Path == "" {
			return "", "", false
		}
		return PathMatch + q.Preview.Path, AnyAccess(q.Bare, q.Preview.Path), true
	}
	return "", "", false
}

func (q Request) isGranted() bool {
	match, _, ok := q.SessionMatch()
	return ok && slices.Contains(q.Grants, SessionGrant{Node: q.Node, Tool: q.Bare, Match: match})
}

// isForeign reports whether somebody other than the person started the run. The person has trusted
// a chat with their own messages; at the same time, strangers may write to the same chat on a
// channel, and so may jobs and the agents of other chats.
func (q Request) isForeign() bool {
	switch q.By.Kind {
	case protocol.AskedByChannel, protocol.AskedBySchedule, protocol.AskedByAgent:
		return true
	}
	return false
}

// Call converts a request to the form that rules decide.
func (q Request) Call() Call {
	c := Call{Tool: q.Bare, Node: q.Node, Session: q.Session, Args: q.Args, Whole: q.Whole}
	if q.Host != nil {
		c.Root, c.Cwd, c.Home = q.Host.Workspace, q.Host.Workspace, q.Host.Home
		c.Aliases, c.Sandbox = q.Host.Aliases, sandboxOf(q.Host)
		if q.Host.Private != "" {
			c.Own = []string{q.Host.Private}
		}
	}
	if q.Preview != nil {
		if q.Preview.Folder != "" {
			c.Cwd = q.Preview.Folder
		}
		c.Shell = q.Preview.Shell
		if q.Preview.Path != "" {
			c.Paths = []string{q.Preview.Path}
		}
	}
	// A value of the wrong type must not hide the other one, so each is read separately.
	var command struct {
		Text string `json:"command"`
	}
	var file struct {
		Path string `json:"path"`
	}
	switch {
	case q.Effect == protocol.EffectExec && json.Unmarshal(q.Args, &command) == nil:
		c.Command = command.Text
	case q.Effect == protocol.EffectWrite && json.Unmarshal(q.Args, &file) == nil:
		c.Named = file.Path
	}
	return c
}
