package state

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/protocol"
)

// pickSteps handles an edit with several steps, or one that replaces all occurrences. It returns
// steps for the hunks to keep: each replaces its own text, made unique by the context lines of the
// diff. A machine applies a step only if its old text occurs exactly once.
func pickSteps(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	type step struct {
		Old string `json:"oldString"`
		New string `json:"newString"`
	}
	befores, afters := make([]string, len(hunks)), make([]string, len(hunks))
	for i, h := range hunks {
		for _, l := range h.Lines {
			if !strings.ContainsAny(l[:1], " +-") { // a note about the end of the file, not a line
				return errHunks
			}
		}
		before, after := h.sides()
		befores[i], afters[i] = strings.Join(before, "\n"), strings.Join(after, "\n")
	}
	var steps []step
	for i := range hunks {
		// check all hunks, so that every selection is possible
		if befores[i] == "" || !isUnique(befores, afters, i) {
			return errHunks
		}
		if keep[i] {
			steps = append(steps, step{befores[i], afters[i]})
		}
	}
	if len(steps) == 0 {
		return errHunks
	}
	delete(args, "replaceAll")
	delete(args, "edits")
	if err := setText(args, "oldString", steps[0].Old); err != nil {
		return err
	}
	if err := setText(args, "newString", steps[0].New); err != nil {
		return err
	}
	if len(steps) == 1 {
		return nil
	}
	raw, err := protocol.Marshal(steps[1:])
	args["edits"] = raw
	return err
}

// isUnique reports whether the old text of hunk i occurs exactly once in the old text of all hunks,
// and not in the new text of earlier hunks.
func isUnique(befores, afters []string, i int) bool {
	n := 0
	for j, text := range befores {
		n += countOverlapping(text, befores[i])
		if j < i {
			n += countOverlapping(afters[j], befores[i])
		}
	}
	return n == 1
}

// countOverlapping counts the occurrences of part in text, including overlapping ones.
func countOverlapping(text, part string) (n int) {
	for at := 0; at <= len(text)-len(part); at++ {
		if strings.HasPrefix(text[at:], part) {
			n++
		}
	}
	return n
}
