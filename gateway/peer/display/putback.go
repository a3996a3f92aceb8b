package display

import (
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// maxPutBack is the number of files that a sentence names.
const maxPutBack = 3

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
		text = append(text, "The command changed protected files without permission: "+named+". This was undone; what it wrote is in the trash. The person may be asked whether to keep it.")
	}
	return strings.Join(append(text, failed[:min(len(failed), maxPutBack)]...), " ")
}

// KeepQuestion describes in one line what a command changed, for the question whether to keep it.
func KeepQuestion(b protocol.PutBack) string {
	if len(b.Changes) == 0 {
		return ""
	}
	c := b.Changes[0]
	text := "“" + Line(b.Command, maxTitle) + "” " + c.Kind + " " + Line(c.Path, maxTitle)
	if c.Why != "" {
		text += ", which " + c.Why
	}
	switch n := len(b.Changes) - 1; n {
	case 0:
		return text
	case 1:
		return text + ", and 1 more file"
	default:
		return fmt.Sprintf("%s, and %d more files", text, n)
	}
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
