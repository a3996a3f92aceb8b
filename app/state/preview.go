package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Hunk is one part of a change: consecutive lines of a unified diff.
type Hunk struct {
	Head  string   // the line that begins with @@
	Lines []string // with their prefix
	first int      // line number of its start in the new text, from 1
}

// Hunks parses a unified diff. It returns nil if the diff cannot be parsed.
func Hunks(diff string) []Hunk {
	var out []Hunk
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			h := Hunk{Head: line}
			fields := strings.Fields(line)
			if len(fields) < 3 {
				return nil
			}
			if _, err := fmt.Sscanf(fields[2][1:], "%d", &h.first); err != nil {
				return nil
			}
			if strings.HasSuffix(fields[2], ",0") { // an empty side has the number of the line before it
				h.first++
			}
			out = append(out, h)
		case len(out) == 0: // file names
		default:
			if line == "" {
				line = " " // an empty context line whose blank was trimmed
			}
			out[len(out)-1].Lines = append(out[len(out)-1].Lines, line)
		}
	}
	return out
}

// sides returns a hunk's lines before and after; ok is false for a note about the file's end.
func (h Hunk) sides() (before, after []string, ok bool) {
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			before = append(before, l[1:])
		case '+':
			after = append(after, l[1:])
		case ' ':
			before, after = append(before, l[1:]), append(after, l[1:])
		default:
			return nil, nil, false
		}
	}
	return before, after, true
}

var errHunks = errors.New("this change can only be allowed as a whole")

// CanPick reports whether a change can be allowed in part.
func CanPick(q protocol.Approval) bool {
	if q.Preview == nil || len(Hunks(q.Preview.Diff)) < 2 {
		return false
	}
	keep := make([]bool, len(Hunks(q.Preview.Diff)))
	keep[0] = true
	_, err := PickHunks(q, keep)
	return err == nil
}

// PickHunks returns the arguments of a call that writes only the hunks to keep, at least one.
func PickHunks(q protocol.Approval, keep []bool) (json.RawMessage, error) {
	if q.Preview == nil || q.Preview.Truncated {
		return nil, errHunks
	}
	hunks := Hunks(q.Preview.Diff)
	var args map[string]json.RawMessage
	if len(hunks) == 0 || len(keep) != len(hunks) || json.Unmarshal(q.Args, &args) != nil {
		return nil, errHunks
	}
	err := errHunks
	switch q.Tool {
	case "Write":
		err = pickWrite(args, hunks, keep)
	case "Edit":
		err = pickSteps(args, hunks, keep)
	}
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(args)
}

// pickWrite undoes the hunks that are not kept in the new content.
func pickWrite(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	var content string
	if json.Unmarshal(args["content"], &content) != nil {
		return errHunks
	}
	lines := strings.Split(content, "\n")
	var out []string
	next := 0 // index in lines
	for i, h := range hunks {
		before, after, ok := h.sides()
		at := h.first - 1
		if end := at + len(after); !ok || at < next || end > len(lines) || !slices.Equal(lines[at:end], after) {
			return errHunks
		}
		out = append(out, lines[next:at]...)
		if keep[i] {
			out = append(out, after...)
		} else {
			out = append(out, before...)
		}
		next = at + len(after)
	}
	return setArgument(args, "content", strings.Join(append(out, lines[next:]...), "\n"))
}

func setArgument(args map[string]json.RawMessage, name string, value any) error {
	raw, err := protocol.Marshal(value)
	args[name] = raw
	return err
}

// pickSteps replaces an edit by steps for the hunks to keep. A machine applies a step only if its
// old text occurs exactly once, so it includes the context lines of the diff.
func pickSteps(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	type step struct {
		Old string `json:"oldString"`
		New string `json:"newString"`
	}
	all := make([]step, len(hunks))
	for i, h := range hunks {
		before, after, ok := h.sides()
		if !ok {
			return errHunks
		}
		all[i] = step{strings.Join(before, "\n"), strings.Join(after, "\n")}
	}
	var steps []step
	for i, s := range all { // checks all hunks, so that every selection is possible
		n := 0 // occurrences in the old text, and in the new text of earlier hunks
		for j, other := range all {
			n += countOverlapping(other.Old, s.Old)
			if j < i {
				n += countOverlapping(other.New, s.Old)
			}
		}
		if s.Old == "" || n != 1 {
			return errHunks
		}
		if keep[i] {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return errHunks
	}
	delete(args, "replaceAll")
	delete(args, "edits")
	err := errors.Join(setArgument(args, "oldString", steps[0].Old), setArgument(args, "newString", steps[0].New))
	if len(steps) > 1 {
		err = errors.Join(err, setArgument(args, "edits", steps[1:]))
	}
	return err
}

// countOverlapping counts the occurrences of part in text, including overlapping ones.
func countOverlapping(text, part string) (n int) {
	for at := range text {
		if strings.HasPrefix(text[at:], part) {
			n++
		}
	}
	return n
}

// CommandSpan is a section of a command's text. The gateway marked the risky ones.
type CommandSpan struct {
	Text  string
	Risky bool
}

// CommandPart describes one part of a command in an approval, on a line below it.
type CommandPart struct {
	Text   string // the part's text in the command, in one line
	Path   string // the program's path, if it says more than its name
	Reason string // why it needs an approval
	Risky  bool
}

// isRisky reports whether a part has a risk beyond not being allowed by a rule.
func isRisky(p protocol.ApprovalPart) bool {
	return p.Floor || p.Kind == "finding" || p.Verdict == "deny"
}

// CommandSpans splits a command where risky parts begin and end.
func CommandSpans(q protocol.Approval) []CommandSpan {
	text := QuestionText(q)
	marked := make([]bool, len(text))
	// position from which to search for the next part with the same text
	next := make(map[string]int)
	for _, p := range q.Parts {
		if !isRisky(p) || strings.TrimSpace(p.Text) == "" {
			continue
		}
		at := strings.Index(text[next[p.Text]:], p.Text)
		if at < 0 {
			continue
		}
		at += next[p.Text]
		next[p.Text] = at + len(p.Text)
		for i := at; i < at+len(p.Text); i++ {
			marked[i] = true
		}
	}
	var spans []CommandSpan
	for i := 0; i < len(text); {
		end := i + 1
		for end < len(text) && marked[end] == marked[i] {
			end++
		}
		spans = append(spans, CommandSpan{text[i:end], marked[i]})
		i = end
	}
	return spans
}

// CommandParts returns the parts to explain: the risky ones first, then the programs, each once.
func CommandParts(q protocol.Approval) []CommandPart {
	where := make(map[string]string)
	if q.Preview != nil {
		for _, p := range q.Preview.Programs {
			if p.Path != "" && path.Base(p.Path) != p.Path {
				where[p.Name] = p.Path
			}
		}
	}
	var list []CommandPart
	seen := make(map[string]bool)
	for _, p := range q.Parts {
		text, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
		out := CommandPart{Text: text, Reason: p.Reason, Risky: isRisky(p)}
		if len(p.Argv) > 0 {
			out.Path = where[p.Argv[0]]
		}
		key := text + "\x00" + p.Reason
		if seen[key] || !out.Risky && p.Verdict == "allow" && out.Path == "" {
			continue
		}
		seen[key] = true
		list = append(list, out)
	}
	if len(q.Parts) == 0 && q.Preview != nil {
		for _, p := range q.Preview.Programs {
			if where[p.Name] != "" {
				list = append(list, CommandPart{Text: p.Name, Path: p.Path})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b CommandPart) int { return trueFirst(a.Risky, b.Risky) })
	return list
}
