package protocol

import "encoding/json"

// QuestionPart is one piece of a command: a program with its arguments, a redirection, an
// assignment, or a finding.
type QuestionPart struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"`
	Verdict string   `json:"verdict"` // allow, ask or deny
	Reason  string   `json:"reason"`
	Floor   bool     `json:"floor,omitempty"`
	// From and To delimit the part in the command, in bytes; To is 0 if it is not there literally.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Risk says in plain words why the part is dangerous, such as "runs as administrator (sudo)"; empty
	// if it is not known to be.
	Risk string `json:"risk,omitempty"`
	// Starts are the programs that the part's program starts, such as "systemctl" for sudo. Started
	// means that the program of another part starts this one.
	Starts  string `json:"starts,omitempty"`
	Started bool   `json:"started,omitempty"`
	// NoNetwork means that the part uses the network, which the machine's sandbox blocks for the call.
	// Folders are the indexes in Preview.Folders of the folders that the part uses: the sandbox blocks
	// them unless the answer allows them.
	NoNetwork bool  `json:"noNetwork,omitempty"`
	Folders   []int `json:"folders,omitempty"`
	// Changes are the protected files that the part may change if the call is allowed; commands cannot
	// change others.
	Changes []string `json:"changes,omitempty"`
}

// QuestionTool describes the called tool of an MCP server in the server's own words, which prove
// nothing.
type QuestionTool struct {
	Server      ServerName `json:"server"`
	Name        string     `json:"name"` // as the server calls it, without the server
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	// Arguments are those of Args, in the same order.
	Arguments []QuestionArgument `json:"arguments,omitempty"`
}

// QuestionArgument is an argument of a call for people.
type QuestionArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // as the server describes it
	Value       string `json:"value"`                 // a text without quotes, other values as JSON
}

// RuleOffer is a rule that the person can save with the answer.
type RuleOffer struct {
	Policy json.RawMessage `json:"policy"`
	Words  string          `json:"words"`
	// As are the exact rules that an answer saves, by its scope: folder, node or always.
	As map[string]RuleOffer `json:"as,omitempty"`
}

// SameAs reports whether two pending approvals ask the same question: the same machine, tool,
// arguments, folder, diff and reason. Only approvals of calls can.
func (a Question) SameAs(b Question) bool {
	if a.ID == b.ID {
		return true
	}
	return a.IsCall() && a.Kind == b.Kind && a.Node == b.Node && a.Tool == b.Tool && string(a.Args) == string(b.Args) &&
		a.Folder() == b.Folder() && a.Why == b.Why && a.diff() == b.diff()
}

// Folder returns the folder in which the call would run, or the machine's workspace, or "".
func (a Question) Folder() string {
	if a.Preview != nil && a.Preview.Folder != "" {
		return a.Preview.Folder
	}
	if a.Host != nil {
		return a.Host.Workspace
	}
	return ""
}

func (a Question) diff() string {
	if a.Preview != nil {
		return a.Preview.Diff
	}
	return ""
}

// Kinds of AskedBy other than the person. With the first two, possibly nobody is present.
const (
	AskedBySchedule = "schedule" // a scheduled job or the heartbeat
	AskedByChannel  = "channel"  // a channel user who is not the owner
	AskedByApp      = "app"      // a connected app
	AskedByAgent    = "agent"    // the agent of another chat, which sent a message to this one
	AskedByDevice   = "device"   // a device or machine
	AskedByServer   = "server"   // an MCP server
	AskedByVisitor  = "visitor"  // somebody who wants to visit a published app
)

// AskedBy describes who caused a call.
type AskedBy struct {
	Kind  string `json:"kind"`            // chat, schedule, channel, agent, app, client, device, server, visitor
	Name  string `json:"name,omitempty"`  // such as the chat's title
	Model string `json:"model,omitempty"` // provider/id
}

// IsUnattended reports whether a run was started by a schedule or by somebody on a channel, so that
// nobody may be there to answer its approvals.
func (a AskedBy) IsUnattended() bool { return a.Kind == AskedBySchedule || a.Kind == AskedByChannel }
