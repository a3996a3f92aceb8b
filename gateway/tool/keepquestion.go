package tool

import (
	"fmt"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// keepQuestion describes in one line what a command changed, for the question whether to keep it.
func keepQuestion(b protocol.PutBack) string {
	if len(b.Changes) == 0 {
		return ""
	}
	c := b.Changes[0]
	text := "“" + format.Line(b.Command, format.MaxTitle) + "” " + c.Kind + " " + lineEnd(c.Path, format.MaxTitle)
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

// lineEnd is [format.Line] that leaves out the beginning of a long path rather than its end.
func lineEnd(path string, n int) string {
	r := []rune(format.Line(path, 0))
	if len(r) <= n {
		return string(r)
	}
	end := string(r[len(r)-n+1:])
	if _, after, ok := strings.Cut(end, "/"); ok {
		end = "/" + after
	}
	return "…" + end
}
