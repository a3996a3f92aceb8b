package question

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Hunk is one part of a change: consecutive lines of a unified diff.
type Hunk struct {
	Head  string   // the line that begins with @@
	Lines []string // with their prefix
	first int      // line number of its start in the new text, from 1
}

// Hunks parses a unified diff of one file. It returns nil if it cannot be parsed, or has several
// files.
func Hunks(diff string) []Hunk {
	var out []Hunk
	var old, new int // lines of the current hunk that are still to come
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
			old, new = rangeLength(fields[1]), rangeLength(fields[2])
			out = append(out, h)
		case len(out) == 0: // file names
		case old <= 0 && new <= 0 && strings.HasPrefix(line, "--- "):
			return nil
		default:
			if line == "" {
				line = " " // an empty context line whose blank was trimmed
			}
			if line[0] != '+' {
				old--
			}
			if line[0] != '-' {
				new--
			}
			out[len(out)-1].Lines = append(out[len(out)-1].Lines, line)
		}
	}
	return out
}

// rangeLength returns the number of lines of one side of a hunk, as in -3,7.
func rangeLength(text string) int {
	_, length, ok := strings.Cut(text, ",")
	if n, err := strconv.Atoi(length); ok && err == nil {
		return n
	}
	return 1
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

// counts returns the numbers of lines that a hunk adds and removes.
func (h Hunk) counts() (added, removed int) {
	for _, l := range h.Lines {
		switch l[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// ChangeText says how many lines a change of a file adds and removes: "2 lines added, 1 removed".
// keep are the hunks to allow; nil is all.
func ChangeText(q protocol.Question, keep []bool) string {
	added, removed := q.Preview.Added, q.Preview.Removed
	if hunks := Hunks(q.Preview.Diff); slices.Contains(keep, false) && len(hunks) == len(keep) {
		added, removed = 0, 0
		for i, h := range hunks {
			if keep[i] {
				a, r := h.counts()
				added, removed = added+a, removed+r
			}
		}
	}
	switch {
	case removed == 0:
		return format.Plural(added, "line") + " added"
	case added == 0:
		return format.Plural(removed, "line") + " removed"
	}
	return fmt.Sprintf("%s added, %d removed", format.Plural(added, "line"), removed)
}

var errHunks = errors.New("this change can only be allowed as a whole")

// CanPick reports whether a change can be allowed in part.
func CanPick(q protocol.Question) bool {
	if q.Preview == nil || len(Hunks(q.Preview.Diff)) < 2 {
		return false
	}
	keep := make([]bool, len(Hunks(q.Preview.Diff)))
	keep[0] = true
	_, err := PickHunks(q, keep)
	return err == nil
}

// PickHunks returns the arguments of a call that writes only the hunks to keep, at least one.
func PickHunks(q protocol.Question, keep []bool) (json.RawMessage, error) {
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
	return SetArgument(args, "content", strings.Join(append(out, lines[next:]...), "\n"))
}

func SetArgument(args map[string]json.RawMessage, name string, value any) error {
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
	err := errors.Join(SetArgument(args, "oldString", steps[0].Old), SetArgument(args, "newString", steps[0].New))
	if len(steps) > 1 {
		err = errors.Join(err, SetArgument(args, "edits", steps[1:]))
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
