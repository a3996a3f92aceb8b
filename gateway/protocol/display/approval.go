package display

import (
	"cmp"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Peer returns the address of a machine and the words of its key: "192.168.1.20 ·
// cobalt-otter-lamp-nine". It is empty for the gateway's own machine.
func Peer(h *protocol.HostInfo) string {
	if h == nil {
		return ""
	}
	return strings.Trim(format.Line(h.Address, 0)+" · "+format.Line(strings.Join(h.Words, "-"), 0), " ·")
}

// isForeign reports whether somebody other than the person's own chats caused a call, so that its
// question names them.
func isForeign(by protocol.AskedBy) bool {
	return by.Kind == protocol.AskedByApp || by.Kind == protocol.AskedByAgent || by.IsUnattended()
}

// Asker names who wants a call, as the subject of a sentence: "MCP CLI Proxy", "The schedule
// “Backup”", "ann@town.test (XMPP)". The person's own chats are Fairlead.
func Asker(by protocol.AskedBy) string {
	name := format.Line(by.Name, format.MaxTitle)
	switch by.Kind {
	case protocol.AskedByApp:
		return cmp.Or(name, "An app")
	case protocol.AskedBySchedule:
		return strings.TrimSuffix("The schedule “"+name+"”", " “”")
	case protocol.AskedByChannel:
		if channel, sender, ok := strings.Cut(name, " "); ok {
			name = sender + " (" + ChannelName(channel) + ")"
		}
		return cmp.Or(name, "Somebody on a channel")
	case protocol.AskedByAgent:
		return "Another chat"
	}
	return "Fairlead"
}

// QuestionTitle returns the title of an approval. machine is the person's name of the machine; it
// may be empty. Only a question that the person's own chat did not cause contains it.
func QuestionTitle(a protocol.Question, machine string) string {
	who := Asker(a.AskedBy)
	switch {
	case a.Kind == protocol.AskContinue && a.AskedBy.Kind == protocol.AskedBySchedule && a.RunID == "":
		return who + " missed its run"
	case a.Kind == protocol.AskContinue:
		return who + " wants to continue"
	case IsKeep(a):
		return "Keep what a command changed?"
	case a.ServerTool != nil && isForeign(a.AskedBy):
		return who + " wants to use " + serverTool(*a.ServerTool)
	case a.ServerTool != nil:
		return format.Line(string(a.ServerTool.Server), format.MaxTitle) + " wants to use “" + format.Line(a.ServerTool.Name, format.MaxTitle) + "”"
	}
	title := who + " wants to " + action(a)
	if isForeign(a.AskedBy) && machine != "" && a.Node != protocol.NativePrefix {
		title += " on " + format.Line(machine, format.MaxTitle)
	}
	return title
}

// serverTool names a tool of an MCP server.
func serverTool(t protocol.QuestionTool) string {
	return "“" + format.Line(t.Name, format.MaxTitle) + "” (" + format.Line(string(t.Server), format.MaxTitle) + ")"
}

// actions are what the tools of machines do, after "wants to". Other tools are named.
var actions = map[string]string{
	"Bash": "run a command", "command": "run a command", "Process": "control a running command",
	"Write": "change a file", "Edit": "change a file", "fs_write": "change a file",
	"Read": "read a file", "fs_read": "read a file", "fs_fetch": "read a file", "fs_stat": "look up a file",
	"Glob": "list files", "fs_glob": "list files", "fs_list": "list a folder",
	"Grep": "search files", "fs_grep": "search files",
	protocol.BatchTool: "change several files", "fs_mkdir": "create a folder", "fs_delete": "delete a file or folder",
}

// nativeActions are what the gateway's own tools do, after "wants to".
var nativeActions = map[string]string{
	"ReadFile": "read a file", "WriteFile": "change a file", "EditFile": "change a file",
	"NetworkCreate": "create a network", "NetworkDelete": "delete a network", "ServicePublish": "publish an app", "ServiceUpdate": "change a published app", "ServiceShare": "change who may visit an app",
	"ServiceDelete": "delete a published app", "NodeProvision": "rent a machine", "NodeDeprovision": "delete a rented machine",
}

func action(a protocol.Question) string {
	what := actions[a.Tool]
	if a.Node == protocol.NativePrefix {
		what = nativeActions[a.Tool]
	}
	switch {
	case what == "", a.Effect == protocol.EffectUnknown:
		return "use " + format.Line(a.Tool, format.MaxTitle)
	case a.Kind == protocol.AskType:
		return "type into a running command"
	case what == "change a file" && a.Preview != nil && a.Preview.NewFile:
		return "create a file"
	}
	return what
}

// AnswerWords are the words of the buttons that allow a call once and deny it.
func AnswerWords(a protocol.Question) (allow, deny string) {
	switch {
	case IsKeep(a):
		return "Keep", "Discard"
	case a.Kind == protocol.AskContinue:
		return "Continue", "Stop"
	}
	return "Allow once", "Deny"
}

// IsKeep reports whether an approval asks whether to keep what a command changed unasked.
func IsKeep(a protocol.Question) bool { return a.Kind == protocol.AskKeep }

// Why returns the reason for a question, in one line.
func Why(a protocol.Question) string {
	if a.Floor && !IsKeep(a) {
		return a.Why + " – always asked"
	}
	return a.Why
}

// Program names the program of a part of a command, with those that it starts: "sudo → systemctl".
// A part without a program is named by its text, and one that runs the output of another as "curl …
// | sh".
func Program(p protocol.QuestionPart) string {
	if len(p.Argv) == 0 {
		return format.Line(p.Text, 60)
	}
	name := p.Argv[0][strings.LastIndexAny(p.Argv[0], `/\`)+1:]
	if first, _, piped := strings.Cut(p.Text, " "); piped && strings.Contains(p.Text, "|") && first != p.Argv[0] {
		name = first + " … | " + name
	}
	if p.Starts != "" {
		name += " → " + p.Starts
	}
	return format.Line(name, 60)
}

// Risk says why a part of a command is dangerous or denied; "" if it is not known to be.
func Risk(p protocol.QuestionPart) string {
	risk := p.Risk
	if risk == "" && (p.Kind == "finding" || p.Verdict == "deny" || p.Floor) {
		risk = p.Reason
	}
	if len(p.Changes) > 0 {
		risk += ". If you allow this, the command can change " + strings.Join(p.Changes, ", ") + " and no other protected file"
	}
	return risk
}

// Stopped says what the sandbox will stop of a part of a command; "" if nothing is known.
func Stopped(p protocol.QuestionPart, a protocol.Question) string {
	var list []string
	if p.NoNetwork {
		list = append(list, "the network is off")
		if a.Host != nil && a.Host.Enforcement != nil && !a.Host.Enforcement.Lends {
			list[0] += " for commands, as set for this machine"
		}
	}
	for _, i := range p.Folders {
		if a.Preview == nil || i < 0 || i >= len(a.Preview.Folders) {
			continue
		}
		f := a.Preview.Folders[i]
		if f.Write {
			list = append(list, f.Path+" cannot be written")
		} else {
			list = append(list, f.Path+" cannot be read")
		}
	}
	if list == nil {
		return ""
	}
	return "the sandbox stops it: " + strings.Join(list, ", ")
}
