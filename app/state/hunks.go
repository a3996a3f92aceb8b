package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Hunk is one part of a change: consecutive lines of a unified diff.
type Hunk struct {
	Head  string   // the line that begins with @@
	Lines []string // with their prefix
	old   int      // line number of its start in the old text, from 1
	first int      // line number of its start in the new text, from 1
}

// Hunks parses a unified diff. It returns nil if the diff cannot be parsed.
func Hunks(diff string) []Hunk {
	var out []Hunk
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			h := Hunk{Head: line}
			if !parseHeader(line, &h) {
				return nil
			}
			out = append(out, h)
		case len(out) == 0: // file names
		case line == "":
			// an empty context line whose blank was trimmed
			out[len(out)-1].Lines = append(out[len(out)-1].Lines, " ")
		default:
			out[len(out)-1].Lines = append(out[len(out)-1].Lines, line)
		}
	}
	return out
}

func parseHeader(line string, h *Hunk) bool {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return false
	}
	for i, at := range []*int{&h.old, &h.first} {
		if _, err := fmt.Sscanf(fields[i+1][1:], "%d", at); err != nil {
			return false
		}
		// an empty side has the number of the line before it
		if strings.HasSuffix(fields[i+1], ",0") {
			*at++
		}
	}
	return true
}

// sides returns a hunk's lines before and after the change.
func (h Hunk) sides() (before, after []string) {
	for _, l := range h.Lines {
		switch l[0] {
		case '-':
			before = append(before, l[1:])
		case '+':
			after = append(after, l[1:])
		case ' ':
			before, after = append(before, l[1:]), append(after, l[1:])
		}
	}
	return before, after
}

// errHunks means that a change cannot be applied in part.
var errHunks = errors.New("this change can only be allowed as a whole")

// CanPick reports whether a change can be allowed in part.
func CanPick(q protocol.Approval) bool {
	if q.Preview == nil || q.Preview.Truncated || len(Hunks(q.Preview.Diff)) < 2 {
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
	if len(hunks) == 0 || len(keep) != len(hunks) {
		return nil, errHunks
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(q.Args, &args); err != nil {
		return nil, errHunks
	}
	var err error
	switch q.Tool {
	case "Write":
		err = pickWrite(args, hunks, keep)
	case "Edit":
		err = pickEdit(args, hunks, keep)
	default:
		err = errHunks
	}
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(args)
}

func pickWrite(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	var content string
	if json.Unmarshal(args["content"], &content) != nil {
		return errHunks
	}
	lines, ok := undoHunks(strings.Split(content, "\n"), 1, hunks, keep)
	if !ok {
		return errHunks
	}
	return setText(args, "content", strings.Join(lines, "\n"))
}

// pickEdit finds the position of the new text in the file: where undoing every hunk gives the old
// text.
func pickEdit(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	var old, text string
	if args["edits"] != nil || string(args["replaceAll"]) == "true" {
		return pickSteps(args, hunks, keep)
	}
	if json.Unmarshal(args["oldString"], &old) != nil || json.Unmarshal(args["newString"], &text) != nil {
		return errHunks
	}
	lines := strings.Split(text, "\n")
	last := hunks[len(hunks)-1]
	_, after := last.sides()
	for at := max(1, hunks[0].first-len(lines)); at <= last.first+len(after); at++ {
		whole, prefix, suffix, ok := completeLines(lines, at, hunks)
		if !ok {
			continue
		}
		all, ok := undoHunks(whole, at, hunks, make([]bool, len(hunks)))
		if back, fits := unwrap(all, prefix, suffix); !ok || !fits || back != old {
			continue
		}
		some, _ := undoHunks(whole, at, hunks, keep)
		picked, fits := unwrap(some, prefix, suffix)
		if !fits {
			continue
		}
		return setText(args, "newString", picked)
	}
	return errHunks
}

func setText(args map[string]json.RawMessage, name, text string) error {
	raw, err := protocol.Marshal(text)
	args[name] = raw
	return err
}

// completeLines completes the first and last line, which the text may contain only in part, from
// the hunks that include them.
func completeLines(lines []string, at int, hunks []Hunk) (whole []string, prefix, suffix string, ok bool) {
	whole = append([]string(nil), lines...)
	end := len(lines) - 1
	for _, h := range hunks {
		_, after := h.sides()
		for i, l := range after {
			k := h.first + i - at
			switch {
			case k == 0 && k == end:
				cut := strings.Index(l, lines[0])
				if cut < 0 {
					return nil, "", "", false
				}
				prefix, suffix, whole[0] = l[:cut], l[cut+len(lines[0]):], l
			case k == 0:
				if !strings.HasSuffix(l, lines[0]) {
					return nil, "", "", false
				}
				prefix, whole[0] = strings.TrimSuffix(l, lines[0]), l
			case k == end:
				if !strings.HasPrefix(l, lines[end]) {
					return nil, "", "", false
				}
				suffix, whole[end] = strings.TrimPrefix(l, lines[end]), l
			case k > 0 && k < end && l != lines[k]:
				return nil, "", "", false
			}
		}
	}
	return whole, prefix, suffix, true
}

func unwrap(lines []string, prefix, suffix string) (string, bool) {
	s := strings.Join(lines, "\n")
	if !strings.HasPrefix(s, prefix) || !strings.HasSuffix(s, suffix) || len(s) < len(prefix)+len(suffix) {
		return "", false
	}
	return s[len(prefix) : len(s)-len(suffix)], true
}

// undoHunks undoes the hunks that are not kept. at is the number of the first of the lines in the
// file. Context outside the lines is ignored.
func undoHunks(lines []string, at int, hunks []Hunk, keep []bool) ([]string, bool) {
	var out []string
	k := 0 // index in lines
	for i, h := range hunks {
		line := h.first - at
		for _, l := range h.Lines {
			inside := line >= 0 && line < len(lines)
			switch l[0] {
			case '\\': // a note about the end of the file, not a line
				return nil, false
			case '-':
				if line < 0 || line > len(lines) {
					return nil, false
				}
				if !keep[i] {
					out = append(out, lines[k:max(k, line)]...)
					k = max(k, line)
					out = append(out, l[1:])
				}
				continue
			case '+':
				if !inside || lines[line] != l[1:] {
					return nil, false
				}
				if !keep[i] {
					out = append(out, lines[k:max(k, line)]...)
					k = line + 1
				}
			default:
				if inside && lines[line] != l[1:] {
					return nil, false
				}
			}
			line++
		}
	}
	return append(out, lines[k:]...), true
}
