package display

import (
	"fmt"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// maxPutBack is the number of files that a sentence names.
const maxPutBack = 3

// KeepNow says what has become of a change that a command made unasked.
const KeepNow = "The change was undone. What the command wrote is in the trash."

const (
	mayAsk    = "The person may be asked whether to keep it."
	isAsked   = "You are asked whether to keep it."
	askFor    = ": ask for it with changes: "
	askForEnd = " if the command must change it."
)

// ProtectedNote tells the agent which protected paths a command tried to change in vain, and how to
// get the permission; empty for an empty list.
func ProtectedNote(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	verb, it := "is", "it starts"
	if len(paths) > 1 {
		verb, it = "are", "they start"
	}
	shown := paths[:min(len(paths), maxPutBack)]
	names := strings.Join(shown, ", ")
	if n := len(paths) - len(shown); n > 0 {
		names += fmt.Sprintf(" and %d more", n)
	}
	quoted := make([]string, len(shown))
	for i, p := range shown {
		quoted[i] = strconv.Quote(p)
	}
	return fmt.Sprintf("%s %s protected, because %s programs later%s[%s]%s", names, verb, it, askFor, strings.Join(quoted, ", "), askForEnd)
}

// NoteForPerson words the remarks of a machine on a command, which are for the agent, as the person
// reads them.
func NoteForPerson(note string) string {
	if before, rest, ok := strings.Cut(note, askFor); ok {
		if _, after, ok := strings.Cut(rest, askForEnd); ok {
			note = before + ". The agent can ask you for it." + after
		}
	}
	return strings.Replace(note, mayAsk, isAsked, 1)
}

// PutBack describes what was done about the protected files that a command changed unasked; empty
// for an empty list.
func PutBack(list []protocol.ProtectedChange) string {
	var done, failed []string
	for _, c := range list {
		if c.Problem != "" {
			failed = append(failed, fmt.Sprintf("%s was %s and could not be put back: %s.", c.Path, c.Kind, c.Problem))
			continue
		}
		done = append(done, DescribeChange(c))
	}
	var text []string
	if n := len(done); n > 0 {
		named := strings.Join(done[:min(n, maxPutBack)], "; ")
		if n > maxPutBack {
			named += fmt.Sprintf("; and %d more", n-maxPutBack)
		}
		text = append(text, "The command changed protected files without permission: "+named+". This was undone; what it wrote is in the trash. "+mayAsk)
	}
	return strings.Join(append(text, failed[:min(len(failed), maxPutBack)]...), " ")
}

// KeepQuestion describes in one line what a command changed, for the question whether to keep it.
func KeepQuestion(b protocol.PutBack) string {
	if len(b.Changes) == 0 {
		return ""
	}
	c := b.Changes[0]
	text := "“" + Line(b.Command, maxTitle) + "” " + c.Kind + " " + lineEnd(c.Path, maxTitle)
	if c.Why != "" {
		text += ", which " + c.Why
	}
	switch n := len(b.Changes) - 1 + b.More; {
	case n == 0:
		return text
	case n == 1:
		return text + ", and 1 more file"
	case b.More == 0:
		return fmt.Sprintf("%s, and %d more files", text, n)
	default:
		return fmt.Sprintf("%s, and %d more files: the answer is for all of them", text, n)
	}
}

// lineEnd is [Line] that leaves out the beginning of a long path rather than its end.
func lineEnd(path string, n int) string {
	r := []rune(Line(path, 0))
	if len(r) <= n {
		return string(r)
	}
	end := string(r[len(r)-n+1:])
	if _, after, ok := strings.Cut(end, "/"); ok {
		end = "/" + after
	}
	return "…" + end
}

// DescribeChange describes one change: "/w/.husky/pre-commit was created, which runs at your next
// commit".
func DescribeChange(c protocol.ProtectedChange) string {
	text := c.Path + " was " + c.Kind
	if c.Why != "" {
		text += ", which " + c.Why
	}
	return text
}
