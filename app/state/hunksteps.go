package state

import (
	"encoding/json"
	"strings"

	"fairlead/gateway/protocol"
)

// pickSteps makes an edit of several places, or of every place with a text, one of the places to keep: each is replaced by itself, found by the lines
// around it as the diff shows them. The machine makes an edit only where its old text is found exactly once.
func pickSteps(args map[string]json.RawMessage, hunks []Hunk, keep []bool) error {
	type step struct {
		Old string `json:"oldString"`
		New string `json:"newString"`
	}
	befores, afters := make([]string, len(hunks)), make([]string, len(hunks))
	for i, h := range hunks {
		for _, l := range h.Lines {
			if !strings.ContainsAny(l[:1], " +-") { // it is about the end of the file, which is no line of its own
				return errHunks
			}
		}
		before, after := h.sides()
		befores[i], afters[i] = strings.Join(before, "\n"), strings.Join(after, "\n")
	}
	var steps []step
	for i := range hunks {
		if befores[i] == "" || !once(befores, afters, i) { // kept or not: every choice must be one that can be made
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
	if err := putText(args, "oldString", steps[0].Old); err != nil {
		return err
	}
	if err := putText(args, "newString", steps[0].New); err != nil {
		return err
	}
	if len(steps) == 1 {
		return nil
	}
	raw, err := protocol.Marshal(steps[1:])
	args["edits"] = raw
	return err
}

// once reports whether hunk i's text before the change stands in no other hunk, and in none that the others make.
func once(befores, afters []string, i int) bool {
	n := 0
	for j, text := range befores {
		n += places(text, befores[i])
		if j < i {
			n += places(afters[j], befores[i])
		}
	}
	return n == 1
}

// places counts where part begins in text, overlapping ones too.
func places(text, part string) (n int) {
	for at := 0; at <= len(text)-len(part); at++ {
		if strings.HasPrefix(text[at:], part) {
			n++
		}
	}
	return n
}
