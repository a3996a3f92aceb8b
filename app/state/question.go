package state

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode"

	"fairlead/gateway/protocol"
)

// QuestionTitle says what is asked.
func QuestionTitle(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return "Fairlead wants to go on"
	}
	switch a.Effect {
	case protocol.EffectExec:
		return "Fairlead wants to run a command"
	case protocol.EffectWrite:
		if a.Preview != nil && a.Preview.NewFile {
			return "Fairlead wants to make a file"
		}
		return "Fairlead wants to change a file"
	case protocol.EffectRead:
		return "Fairlead wants to read"
	case protocol.EffectNetwork:
		return "Fairlead wants to use the network"
	}
	return "Fairlead wants to use " + a.Tool
}

// QuestionLine is a question in one line, for lists and the tray.
func QuestionLine(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return "Go on with the run"
	}
	verb := map[string]string{"Bash": "Run", "Write": "Write", "Edit": "Edit", "Read": "Read", "Glob": "List", "Grep": "Search"}[a.Tool]
	if verb == "" {
		verb = a.Tool
	}
	what := QuestionText(a)
	if (a.Tool == "Write" || a.Tool == "Edit" || a.Tool == "Read") && what != "" {
		what = path.Base(strings.ReplaceAll(what, `\`, "/"))
	}
	what, _, _ = strings.Cut(what, "\n")
	return cut(strings.TrimSpace(verb+" "+what), 36) + " on " + string(a.Node)
}

// QuestionText is what would run, in full: the command, the file, or the arguments.
func QuestionText(a protocol.Approval) string {
	var in map[string]any
	if json.Unmarshal(a.Args, &in) == nil {
		key := map[string]string{"Bash": "command", "Write": "path", "Edit": "path", "Read": "path", "Glob": "pattern", "Grep": "pattern"}[a.Tool]
		if s, ok := in[key].(string); ok {
			return s
		}
	}
	return string(a.Args)
}

// Reveal makes characters visible that would hide what a text does: control, bidirectional and zero-width ones. Line breaks and tabs
// stay. changed reports whether there were any.
func Reveal(s string) (text string, changed bool) {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == '\u00a0' || r == '\u3164' || r == '\u115f':
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			changed = true
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), changed
}

// Lookalikes reports whether a text mixes Latin letters with Greek or Cyrillic ones in a word, which may pass for other letters.
func Lookalikes(s string) bool {
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin, other := false, false
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || unicode.In(r, unicode.Greek, unicode.Cyrillic)
		}
		if latin && other {
			return true
		}
	}
	return false
}
