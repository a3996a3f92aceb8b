package question

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// CallWords are the words about a call, or about a run that makes calls.
func CallWords(q protocol.Question, v feed.View, _ time.Time) Words {
	name := v.Machines.Name(q.Node)
	w := Words{Title: display.QuestionTitle(q, name), Line: QuestionLine(q, name), CanDeny: !display.IsKeep(q)}
	if w.Body, w.Whole = WholeQuestion(v, q); !w.Whole {
		w.Body = w.Line + " · " + q.Why
	}
	return w
}

// QuestionLine summarizes an approval in one line, with the machine's display name.
func QuestionLine(a protocol.Question, machine string) string {
	what, where := display.CallText(a, machine)
	if text := saidByTool(a); text != "" {
		line, _ := wording.Reveal(text)
		return line
	}
	line, _ := wording.Reveal(strings.TrimSpace(format.Clip(what, 36) + " " + where))
	return line
}

// saidByTool returns the words of a tool about what its call does, if the preview has some: who can
// reach what afterwards, or which machine is rented or deleted.
func saidByTool(a protocol.Question) string {
	if a.Preview == nil {
		return ""
	}
	return cmp.Or(a.Preview.Publishes, a.Preview.Rents)
}

// maxWhole is the maximum length of a question that a notification shows in full, in characters.
const maxWhole = 120

// careful are programs whose calls are never allowed from a notification.
var careful = strings.Fields(`rm rmdir unlink shred truncate dd mv chmod chown kill pkill killall shutdown reboot
	systemctl launchctl sc reg curl wget ssh scp del rd erase format`)

// WholeQuestion returns the whole content of an approval in one line, if it is short and harmless
// enough that the person can allow it from a notification: one plain command in one of the person's
// own chats that [FitsOnCard].
func WholeQuestion(v feed.View, a protocol.Question) (text string, ok bool) {
	var args map[string]any
	isCommand := a.IsCall() && a.Tool == "Bash" && a.Preview != nil && len(a.Parts) == 1
	if !FitsOnCard(a) || !isCommand || a.AskedBy.Kind != askedByChat || !slices.Contains(a.Choices, protocol.ScopeOnce) || json.Unmarshal(a.Args, &args) != nil {
		return "", false
	}
	delete(args, "workdir") // the preview has the folder
	command, _ := args["command"].(string)
	p := a.Preview
	if len(args) != 1 {
		return "", false
	}
	part := a.Parts[0]
	program := strings.TrimSuffix(strings.ToLower(path.Base(wording.Slashes(cmp.Or(append(part.Argv, "")...)))), ".exe")
	isCareful := slices.Contains(careful, program) || strings.HasPrefix(program, "mkfs")
	if part.Kind != "command" || program == "." || isCareful {
		return "", false
	}
	text = command + onMachine(a.Node, v.Machines.Name(a.Node))
	if p.Folder != "" {
		text += ", in " + p.Folder
	}
	if NotConfined(a) {
		text += ". Sandbox " + NotConfinedText
	}
	if strings.Contains(text, "  ") || strings.ContainsAny(text, "\n\t") || utf8.RuneCountInString(text) > maxWhole {
		return "", false
	}
	return text, true
}
