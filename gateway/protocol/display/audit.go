package display

import (
	"fmt"
	"path"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Names returns the person's names for what the audit log refers to by ID.
type Names struct {
	Machine func(protocol.NodeID) string
	Chat    func(protocol.SessionKey) string
}

// serverCommand is the name under which the journal records the start of an MCP server's command, and
// serverAsker the beginning of the name of who asked for it.
const (
	serverCommand = "serve"
	transferTool  = "Transfer"
	serverAsker   = "MCP server "
)

// AuditLine describes an entry of the audit log as a sentence, such as "MCP CLI Proxy: run “make” on
// tower", and its outcome, such as "you denied it". The outcome may be empty.
func AuditLine(e protocol.AuditEntry, n Names) (title, outcome string) {
	if e.Kind != protocol.AuditCall {
		return auditChange(e, n), joinParts(" · ", strings.TrimSuffix("by "+Answerer(e.By), "by nobody"), e.Why)
	}
	switch server, isServer := strings.CutPrefix(e.By, "owner "+serverAsker); {
	case e.Tool == serverCommand && isServer:
		name, network, _ := strings.Cut(server, ", ")
		title = joinParts(": ", "Started the MCP server “"+name+"”"+place(e.Node, n), network)
		if e.State != protocol.CallDone {
			title = joinParts(": ", "Start the MCP server “"+name+"”"+place(e.Node, n), network)
		}
	case e.Tool == transferTool && strings.Contains(e.What, " to "):
		title = transferTitle(e, n)
	default:
		title = asker(e, n) + act(e) + place(e.Node, n)
	}
	return format.Capital(title), auditOutcome(e)
}

// asker names who wanted a call, before what they wanted: "MCP CLI Proxy: ".
func asker(e protocol.AuditEntry, n Names) string {
	by := protocol.AskedBy{}
	if e.AskedBy != nil {
		by = *e.AskedBy
	}
	switch {
	case by.Kind == protocol.AskedBySchedule:
		return strings.TrimPrefix(Asker(by), "The ") + ": "
	case isForeign(by):
		return Asker(by) + ": "
	case isOwn(e):
		return "you: "
	case e.SessionKey != "":
		return "chat “" + format.Clip(n.Chat(e.SessionKey), format.MaxTitle) + "”: "
	}
	return ""
}

// isOwn reports whether the person made a call directly, so that nobody was asked.
func isOwn(e protocol.AuditEntry) bool {
	return e.Approval == "" && e.Rule == "" && (e.By == "owner" || strings.HasPrefix(e.By, "owner "))
}

// act says what a call does: run “make”.
func act(e protocol.AuditEntry) string {
	tool, isFile := strings.CutPrefix(e.Tool, protocol.FileAct)
	verb := verbs[e.Tool]
	switch {
	case isFile:
		verb = tool
	case e.Tool == protocol.KeepTool:
		verb = "keep the change of"
	case e.Node == protocol.NativePrefix && nativeActions[e.Tool] != "":
		return joinParts(": ", nativeActions[e.Tool], e.What)
	case verb == "" || e.Node == protocol.NativePrefix:
		return strings.TrimSuffix("use "+e.Tool+": "+e.What, ": ")
	case SubjectArgument(e.Tool) == "command":
		return strings.ToLower(verb) + " “" + e.What + "”"
	}
	return strings.TrimSpace(strings.ToLower(verb) + " " + e.What)
}

func place(node protocol.NodeID, n Names) string {
	switch node {
	case "":
		return ""
	case protocol.NativePrefix:
		return " on the gateway"
	}
	return " on " + n.Machine(node)
}

// transferTitle says what was sent where, or that it was undone: "Sent big.bin to tower", "Undid the
// transfer of big.bin to tower".
func transferTitle(e protocol.AuditEntry, n Names) string {
	source, target, _ := strings.Cut(e.What, " to ")
	from, file, _ := strings.Cut(source, ":")
	to, _, _ := strings.Cut(target, ":")
	end := func(id string) string {
		switch protocol.NodeID(id) {
		case protocol.Here:
			return "this computer"
		case protocol.NativePrefix:
			return "the agent's files"
		}
		return n.Machine(protocol.NodeID(id))
	}
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if from != string(protocol.Here) {
		name += " from " + end(from)
	}
	text := " " + name + " to " + end(to)
	do, did := "send", "sent"
	if e.Undo {
		do, did = "undo the transfer of", "undid the transfer of"
	}
	switch who := asker(e, n); {
	case who != "you: " && who != "":
		return who + do + text
	case e.State == protocol.CallDone:
		return did + text
	}
	return do + text
}

// Answerer names the person or the device behind a principal of the audit log, in the middle of a
// sentence.
func Answerer(principal string) string {
	name, isOwner := strings.CutPrefix(principal, "owner ")
	switch {
	case principal == "owner", principal == "person":
		return "you"
	case !isOwner:
		return principal
	case name == "this computer":
		return "you"
	case strings.HasPrefix(name, "desktop-"):
		return "you in another window"
	case strings.HasPrefix(name, "cli-") || name == "(command line)" || name == "cli":
		return "you on the command line"
	}
	return "you on " + name
}

var verdicts = map[string]string{"allow": "allowed", "deny": "denied", "ask": "asked"}

// answers are what the person answered, by the reason in the audit log.
var answers = map[string]string{
	"allowed " + protocol.ScopeOnce:    "allowed it once",
	"allowed " + protocol.ScopeSession: "allowed it for this chat",
	"allowed " + protocol.ScopeFolder:  "always allow it in this folder",
	"allowed " + protocol.ScopeMachine: "always allow it on this machine",
	"allowed " + protocol.ScopeAlways:  "always allow it",
	"edited " + protocol.ScopeOnce:     "allowed it once, changed",
	"the question was denied":          "denied it",
}

// unanswered are the outcomes of approvals that closed without an answer.
var unanswered = map[string]string{
	"the question was " + protocol.QuestionExpired:   "not run: nobody answered in time",
	"the question was " + protocol.QuestionCancelled: "not run: cancelled before anyone answered",
}

// auditOutcome says who or what decided a call, and how it ended if not well.
func auditOutcome(e protocol.AuditEntry) string {
	if text := unanswered[e.Why]; text != "" && e.Approval != "" {
		return text
	}
	decided := ""
	switch words, byRule := RuleWords(e); {
	case e.Approval != "":
		decided = answerOutcome(e)
	case byRule:
		decided = verdicts[e.Verdict] + " by the rule “" + words + "”"
	case e.Resumed:
		decided = "continued after a restart"
	case isOwn(e) && e.Verdict != "deny":
		if who := Answerer(e.By); who != "you" && !strings.HasPrefix(e.By, "owner "+serverAsker) {
			decided = strings.TrimPrefix(who, "you ")
			if e.Tool == transferTool { // whose title does not name the person
				decided = "by " + who
			}
		}
	default:
		decided = joinParts(": ", verdicts[e.Verdict], e.Why)
	}
	return joinParts(", ", decided, auditState(e))
}

func answerOutcome(e protocol.AuditEntry) string {
	who, where, _ := strings.Cut(Answerer(e.By), " ")
	if who == "you" && where != "" {
		where = " " + where
	} else if where != "" {
		who, where = who+" "+where, ""
	}
	if answer := answers[e.Why]; answer != "" {
		return who + " " + answer + where
	}
	if reason, ok := strings.CutPrefix(e.Why, "the question was denied: "); ok {
		return who + " denied it" + where + ": “" + reason + "”"
	}
	return joinParts(": ", who+" "+verdicts[e.Verdict]+" it"+where, e.Why)
}

// auditState says how a call ended, if it did not simply succeed or was denied.
func auditState(e protocol.AuditEntry) string {
	exit := ""
	if e.ExitCode != nil && *e.ExitCode != 0 {
		exit = fmt.Sprintf(" with exit code %d", *e.ExitCode)
	}
	switch {
	case e.State == protocol.CallFailed || exit != "":
		cause := format.Line(e.Error, 200)
		if rest, ok := strings.CutPrefix(cause, "Failed to "); ok && exit == "" {
			return "failed to " + rest
		}
		return joinParts(": ", "failed"+exit, cause)
	case e.State == protocol.CallRunning:
		return "started"
	case e.State == protocol.CallCancelled:
		return "stopped"
	case e.State == protocol.CallUnknown:
		return "outcome unknown"
	}
	return ""
}

// AuditFailed reports whether a call was allowed and failed.
func AuditFailed(e protocol.AuditEntry) bool {
	return e.Verdict != "deny" && strings.HasPrefix(auditState(e), "failed")
}

// RuleWords returns the text of the rule that decided a call; ok is false if none did.
func RuleWords(e protocol.AuditEntry) (words string, ok bool) {
	if words, ok = strings.CutPrefix(e.Why, e.Rule+": "); !ok {
		words, ok = strings.CutPrefix(e.Why, "Your rule: ")
	}
	return words, ok && e.Rule != ""
}

func joinParts(sep string, parts ...string) string {
	var list []string
	for _, s := range parts {
		if s != "" {
			list = append(list, s)
		}
	}
	return strings.Join(list, sep)
}
