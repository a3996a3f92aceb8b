package display

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// ArgumentLines lists the arguments of a call as "name: value", one a line, without those named in
// without. The further lines of a value are indented, so that none looks like another argument.
func ArgumentLines(args json.RawMessage, without ...string) string {
	var lines []string
	for _, a := range protocol.NamedArguments(args) {
		if slices.Contains(without, a.Name) {
			continue
		}
		value := strings.TrimRight(strings.ReplaceAll(a.Value, "\r\n", "\n"), "\n")
		if strings.Contains(value, "\n") {
			value = "\n    " + strings.ReplaceAll(value, "\n", "\n    ")
		} else if value != "" {
			value = " " + value
		}
		lines = append(lines, format.Line(a.Name, 0)+":"+value)
	}
	return strings.Join(lines, "\n")
}

// subjects are the arguments that the calls of a tool are about.
var subjects = map[string]string{
	protocol.KeepTool: "question", protocol.BatchTool: "files", "Bash": "command", "Read": "path", "Write": "path", "Edit": "path", "Glob": "pattern", "Grep": "pattern", "fs_glob": "pattern", "fs_grep": "pattern",
}

// SubjectArgument names the argument that a call of a machine's tool is about, such as the command;
// empty if its arguments are shown as they are.
func SubjectArgument(tool string) string {
	return cmp.Or(subjects[tool], subjects[protocol.ActsAs(tool)])
}

// Subject returns what an approval is about, in full: the command, the file, the pattern, the text to
// type, or all arguments, one a line.
func Subject(a protocol.Question) string {
	if in := typed(a); in != nil {
		return strings.TrimRight(in.Text, "\n")
	}
	if a.ServerTool == nil {
		if text, ok := argumentText(a.Args, SubjectArgument(a.Tool)); ok {
			return text
		}
	}
	if lines := ArgumentLines(a.Args); lines != "" || isObject(a.Args) {
		if a.Preview != nil && a.Preview.Publishes != "" {
			return inPublishWords(lines)
		}
		return lines
	}
	return string(a.Args)
}

// publishWords are the arguments of the tools that publish apps that are not words.
var publishWords = map[string]string{
	"signIn: true": "sign-in: required", "signIn: false": "sign-in: not required", "enabled: true": "turned on: yes", "enabled: false": "turned on: no",
}

// inPublishWords says such arguments in words. Further lines of a value are indented, and stay as they
// are.
func inPublishWords(arguments string) string {
	lines := strings.Split(arguments, "\n")
	for i, l := range lines {
		lines[i] = cmp.Or(publishWords[l], l)
	}
	return strings.Join(lines, "\n")
}

// typed returns what a call types into a running command; nil if it types nothing.
func typed(a protocol.Question) *protocol.CommandInput {
	if a.Kind != protocol.AskType || a.Preview == nil {
		return nil
	}
	return a.Preview.Input
}

// argumentText returns an argument that is a text; no argument has an empty name.
func argumentText(args json.RawMessage, name string) (text string, ok bool) {
	var in map[string]any
	if name != "" && json.Unmarshal(args, &in) == nil {
		text, ok = in[name].(string)
	}
	return text, ok
}

func isObject(raw json.RawMessage) bool {
	var in map[string]json.RawMessage
	return len(raw) == 0 || json.Unmarshal(raw, &in) == nil
}

// OtherArguments lists the arguments beside the [Subject] and the change, one a line.
func OtherArguments(a protocol.Question) string {
	if in := typed(a); in != nil {
		return "into: " + format.Line(in.Command, 0)
	}
	subject := SubjectArgument(a.Tool)
	if _, ok := argumentText(a.Args, subject); !ok || a.ServerTool != nil {
		return ""
	}
	if IsKeep(a) {
		return "" // the change says all of it
	}
	hidden := []string{subject}
	if slices.ContainsFunc(a.Parts, func(p protocol.QuestionPart) bool { return len(p.Changes) > 0 }) {
		hidden = append(hidden, "changes") // the parts name them in full
	}
	if a.Preview != nil && a.Preview.Folder != "" {
		hidden = append(hidden, "workdir")
	}
	if a.Preview != nil && a.Preview.Diff != "" {
		if a.Tool == "Write" || a.Tool == "Edit" {
			return "" // the change says all of it
		}
		hidden = append(hidden, "content", "chunk", "chunk_b64")
	}
	return ArgumentLines(a.Args, hidden...)
}

// verbs are what the tools of machines do, with their subject: "Run make".
var verbs = map[string]string{
	"Bash": "Run", "Write": "Write", "Edit": "Edit", "Read": "Read", "Glob": "List", "Grep": "Search",
	"command": "Run", "fs_read": "Read", "fs_stat": "Look up", "fs_list": "List", "fs_glob": "List", "fs_grep": "Search", "fs_write": "Write",
	"fs_fetch": "Download", protocol.BatchTool: "Change", "fs_mkdir": "Create", "fs_delete": "Delete",
}

// CallText says in one line what a call does, and where: "Run make -j4", "on nas". A file is named
// without its folder. machine is the person's name of the machine.
func CallText(a protocol.Question, machine string) (what, where string) {
	if a.Kind == protocol.AskContinue {
		return "Continue the run", ""
	}
	text := Subject(a)
	if IsKeep(a) {
		return keepText(a.Args), "on " + machine
	}
	if t := a.ServerTool; t != nil {
		return joinArguments("Use “"+t.Name+"”", text), "(" + string(t.Server) + ")"
	}
	where = "on " + machine
	if a.Node == protocol.NativePrefix {
		where = "on the gateway"
	}
	if typed(a) != nil {
		return "Type " + format.Line(text, 0), where
	}
	verb, subject := verbs[a.Tool], SubjectArgument(a.Tool)
	if a.Node == protocol.NativePrefix {
		verb = format.Capital(nativeActions[a.Tool])
	}
	if _, ok := argumentText(a.Args, subject); verb == "" || !ok {
		return joinArguments(cmp.Or(verb, a.Tool), text), where
	}
	if subject == "path" && text != "" {
		text = path.Base(strings.ReplaceAll(text, `\`, "/"))
	}
	if a.Tool == protocol.BatchTool {
		text = format.Plural(strings.Count(text, "\n")+1, "file")
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSpace(verb + " " + text), where
}

// keepText names the first changed file: "Keep pre-commit and 1 more".
func keepText(args json.RawMessage) string {
	var in protocol.KeepArgs
	if json.Unmarshal(args, &in) != nil || len(in.Paths) == 0 {
		return "Keep what a command changed"
	}
	text := "Keep " + path.Base(strings.ReplaceAll(in.Paths[0], `\`, "/"))
	if n := len(in.Paths) - 1 + in.More; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// joinArguments puts arguments, one a line, behind the name of their tool.
func joinArguments(name, lines string) string {
	return strings.TrimSuffix(name+" · "+strings.ReplaceAll(lines, "\n", ", "), " · ")
}
