package tool

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/format"
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
	Resumed    bool // it continues what an earlier call started, before a restart
	Undo       bool // it restores the files that a transfer with these arguments has replaced
	// Of makes this a new decision about what an earlier call has queued. It gets no entry in the
	// journal: the decision is added to the entry of that call.
	Of protocol.CallID
	// IdempotencyKey is the same for every attempt of a call and different for every other call.
	// Empty: the pipeline derives it from the call.
	IdempotencyKey string
	// Plan is the answer to one question about this and other calls of a batch; may be nil.
	Plan *Plan
	// FileOperation makes this an operation of the file browser instead of a tool call; see there.
	FileOperation *FileOperation
	// OnApproval, if set, is called when an approval is pending, which can be answered from then
	// on, and again when it is closed.
	OnApproval func(protocol.Question)
	// OnProgress, if set, gets the reports of a running call. It must not block.
	OnProgress func(protocol.ToolProgress)
	// OnStart, if set, is called just before the call runs. It is not called for a call that does
	// not run.
	OnStart func()
}

// grantee returns whose permissions apply to the call: the chat's, or those of the app that calls.
func (c Call) grantee() protocol.SessionKey {
	if c.Session == "" && c.Principal.App != "" {
		return c.Principal.App.Grantee()
	}
	return c.Session
}

func (c Call) notify(q protocol.Question) {
	if c.OnApproval != nil {
		c.OnApproval(q)
	}
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

// Result is the outcome of a call, also of one that failed or was denied or cancelled (IsError).
type Result struct {
	Info    protocol.CallInfo
	Raw     json.RawMessage  // the complete result of the tool
	Content protocol.Content // the same for a model, cut to a readable size
	IsError bool
}

// resultOf returns the result of a call that has ended.
func resultOf(r Record) Result {
	// A command with an exit code other than 0 has a result: its output.
	i := r.Info
	res := Result{Info: i, Raw: r.ResultJSON, IsError: i.State != protocol.CallDone && (i.Error != "" || i.State != protocol.CallFailed)}
	if i.Error != "" {
		res.Content = errorContent(i, r.ResultJSON)
	} else {
		res.Content = content(r.ResultJSON)
	}
	if i.Edited {
		res.addNote("Note for you alone, not to be repeated to the person: The person changed the call before it ran. Its arguments were: " + Shorten(string(i.Args)))
	}
	return res
}

// addNote puts a note for the model before the result.
func (r *Result) addNote(text string) {
	note := protocol.Text(text)
	note.Aside = true
	r.Content = append(protocol.Content{note}, r.Content...)
}

// maxText is the number of bytes of a result that a model gets; the journal stores more.
const maxText = 30_000

// content converts a tool's result to the form that a model reads: a string and well-formed content
// blocks stay as they are, anything else becomes JSON. See docs/protocol.md#tools-and-calls.
func content(raw json.RawMessage) protocol.Content {
	if len(raw) == 0 {
		return protocol.Content{protocol.Text("(no result)")}
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return protocol.Content{protocol.Text(Shorten(s))}
	}
	var blocks struct {
		Content []protocol.Block `json:"content"`
	}
	if json.Unmarshal(raw, &blocks) == nil && len(blocks.Content) > 0 {
		ok := true
		for _, b := range blocks.Content {
			ok = ok && (b.Type == protocol.BlockText || b.Type == protocol.BlockImage && b.Data != "" && b.MimeType != "")
		}
		if ok {
			return blocks.Content
		}
	}
	return protocol.Content{protocol.Text(Shorten(string(protocol.Readable(raw))))}
}

// outputSoFar stands between the reason why a call ended early and its output until then.
const outputSoFar = "\nUntil then: "

// errorContent returns the text about a failed call for the model, with the output so far.
func errorContent(info protocol.CallInfo, raw json.RawMessage) protocol.Content {
	if info.State == protocol.CallFailed && len(raw) == 0 {
		return protocol.Content{protocol.Text(protocol.FailureText(info.Node, info.Error))}
	}
	text := "Error: " + info.Error
	if len(raw) > 0 && string(raw) != "null" {
		text += outputSoFar + Shorten(string(protocol.Readable(raw)))
	} else if info.State == protocol.CallUnknown && info.Tail != "" {
		text += outputSoFar + info.Tail
	}
	return protocol.Content{protocol.Text(text)}
}

// Shorten cuts the middle out of a long text and says how much is missing.
func Shorten(s string) string {
	return format.CutMiddle(s, maxText/3, maxText*2/3, fmt.Sprintf("\n[… %d bytes left out; ask for a part of it …]\n", len(s)-maxText))
}
