package state

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// QuestionTitle returns the title of an approval.
func QuestionTitle(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return "Fairlead wants to continue"
	}
	// tools such as SessionsList or Cron neither read nor change a file
	if a.Node == protocol.NativePrefix && !strings.HasSuffix(a.Tool, "File") {
		return "Fairlead wants to use " + a.Tool
	}
	switch a.Effect {
	case protocol.EffectExec:
		return "Fairlead wants to run a command"
	case protocol.EffectWrite:
		if a.Preview != nil && a.Preview.NewFile {
			return "Fairlead wants to create a file"
		}
		return "Fairlead wants to change a file"
	case protocol.EffectRead:
		return "Fairlead wants to read"
	case protocol.EffectNetwork:
		return "Fairlead wants to use the network"
	}
	return "Fairlead wants to use " + a.Tool
}

// machineTools describes the tools of machines: what they do, the argument that a call is about,
// and the argument that a person may change before the call runs, with its label.
var machineTools = map[string]struct{ verb, subject, editable, label string }{
	"Bash":  {"Run", "command", "command", "The command"},
	"Write": {"Write", "path", "content", "The content"},
	"Edit":  {"Edit", "path", "newString", "The new text"},
	"Read":  {"Read", "path", "", ""},
	"Glob":  {"List", "pattern", "", ""},
	"Grep":  {"Search", "pattern", "", ""},
}

// QuestionLine summarizes an approval in one line, for lists and the tray.
func (v View) QuestionLine(a protocol.Approval) string { return QuestionLine(a, v.MachineName(a.Node)) }

// QuestionLine summarizes an approval in one line, with the machine's display name.
func QuestionLine(a protocol.Approval, machine string) string {
	what, where := QuestionParts(a, machine)
	line, _ := Reveal(strings.TrimSpace(shorten(what, 36) + " " + where))
	return line
}

// QuestionParts returns the request of an approval in one line, and its place, if any.
func QuestionParts(a protocol.Approval, machine string) (what, where string) {
	if a.Kind == protocol.AskContinue {
		return "Continue the run", ""
	}
	tool := machineTools[a.Tool]
	what = QuestionText(a)
	if tool.subject == "path" && what != "" {
		what = path.Base(slashes(what))
	}
	what, _, _ = strings.Cut(what, "\n")
	return strings.TrimSpace(cmp.Or(tool.verb, a.Tool) + " " + what), strings.TrimSpace(onMachine(a.Node, machine))
}

// onMachine says where a call runs; it is empty for the gateway's own tools.
func onMachine(id protocol.NodeID, name string) string {
	if id == protocol.NativePrefix {
		return " on the gateway"
	}
	return " on " + name
}

// SeenWord says whether any surface has shown an approval; "" while that is unknown.
func SeenWord(q protocol.Approval) string {
	switch {
	case q.Shown:
		return "shown"
	case q.Unseen > 0:
		return "not seen yet"
	}
	return ""
}

// WaitingWord says whether any surface has shown an approval. If none did in time, it says that
// nobody has seen it yet.
func WaitingWord(q protocol.Approval) string {
	if !q.Shown && q.Unseen > 0 {
		return "waiting, not seen yet"
	}
	return "waiting for you"
}

// QuestionText returns the full subject of an approval: the command, the file, or the arguments.
func QuestionText(a protocol.Approval) string {
	var in map[string]any
	if json.Unmarshal(a.Args, &in) == nil {
		if s, ok := in[machineTools[a.Tool].subject].(string); ok {
			return s
		}
	}
	return string(a.Args)
}

// byText names the answerer as the windows do; the gateway's names are for its journal.
func byText(principal string) string {
	name := strings.TrimPrefix(principal, "owner ")
	switch {
	case principal == "" || principal == "owner":
		return ""
	case name == "this computer":
		return " on this computer"
	case strings.HasPrefix(name, "desktop-"):
		return " in another window"
	case strings.HasPrefix(name, "cli-") || name == "(command line)":
		return " on the command line"
	}
	return " by " + name
}

// OutcomeText describes how an approval was closed, and by whom.
func OutcomeText(a protocol.Approval) string {
	by := byText(a.AnsweredBy)
	switch a.State {
	case protocol.ApprovalAllowed:
		if a.Scope == protocol.ScopeSession {
			return "allowed in this chat" + by
		}
		return "allowed" + by
	case protocol.ApprovalEdited:
		return "changed and allowed" + by
	case protocol.ApprovalSuperseded:
		return "decided by your rules"
	case protocol.ApprovalDenied:
		return "denied" + by
	case protocol.ApprovalExpired:
		return "not answered in time"
	}
	return "no longer needed"
}
