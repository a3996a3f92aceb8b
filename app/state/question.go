package state

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"fairlead/gateway/protocol"
)

// QuestionTitle says what is asked.
func QuestionTitle(a protocol.Approval) string {
	if a.Kind == protocol.AskContinue {
		return "Fairlead wants to go on"
	}
	if a.Node == protocol.NativePrefix && !strings.HasSuffix(a.Tool, "File") { // such as SessionsList or Cron, which neither read nor change a file
		return "Fairlead wants to use " + a.Tool
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
func (v View) QuestionLine(a protocol.Approval) string { return QuestionLine(a, v.MachineName(a.Node)) }

// QuestionLine is a question in one line, with what its machine is called.
func QuestionLine(a protocol.Approval, machine string) string {
	what, where := QuestionParts(a, machine)
	line, _ := Reveal(strings.TrimSpace(cut(what, 36) + " " + where))
	return line
}

// QuestionParts are what a question asks for in one line, however long that is, and the words for where it would happen, if anywhere.
func QuestionParts(a protocol.Approval, machine string) (what, where string) {
	if a.Kind == protocol.AskContinue {
		return "Go on with the run", ""
	}
	verb := map[string]string{"Bash": "Run", "Write": "Write", "Edit": "Edit", "Read": "Read", "Glob": "List", "Grep": "Search"}[a.Tool]
	if verb == "" {
		verb = a.Tool
	}
	what = QuestionText(a)
	if (a.Tool == "Write" || a.Tool == "Edit" || a.Tool == "Read") && what != "" {
		what = path.Base(strings.ReplaceAll(what, `\`, "/"))
	}
	what, _, _ = strings.Cut(what, "\n")
	return strings.TrimSpace(verb + " " + what), strings.TrimSpace(onMachine(a.Node, machine))
}

// onMachine says where a call runs; the gateway's own tools run on none.
func onMachine(id protocol.NodeID, name string) string {
	if id == protocol.NativePrefix {
		return " in the gateway"
	}
	return " on " + name
}

// SeenWord says whether some surface has shown a question; "" before that is known.
func SeenWord(q protocol.Approval) string {
	switch {
	case q.Shown:
		return "shown"
	case q.Unseen > 0:
		return "not yet seen"
	}
	return ""
}

// WaitingWord says how a question waits: whether some surface has shown it, and where none did in time, that nobody has seen it yet.
func WaitingWord(q protocol.Approval) string {
	switch {
	case q.Shown:
		return "shown, waiting for you"
	case q.Unseen > 0:
		return "waiting, not yet seen"
	}
	return "waiting for you"
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

// Reveal makes characters visible that would hide what a text does: control, bidirectional and zero-width ones, blanks that are no
// spaces, and what changes the letter before it. Line breaks, tabs and spaces stay. changed reports whether there were any.
func Reveal(s string) (text string, changed bool) {
	var b strings.Builder
	for _, r := range s {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		changed = true
	}
	return b.String(), changed
}

// fillers are letters and marks that take part in a text without a shape.
var fillers = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x034f, Hi: 0x034f, Stride: 1},
	{Lo: 0x115f, Hi: 0x1160, Stride: 1},
	{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
	{Lo: 0x2800, Hi: 0x2800, Stride: 1},
	{Lo: 0x3164, Hi: 0x3164, Stride: 1},
	{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
}}

func hidden(r rune) bool {
	switch r {
	case '\n', '\t', ' ':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Co, fillers)
}

// Lookalikes names the words of a text that mix Latin letters with Greek or Cyrillic ones, which may pass for other letters, with those letters:
// "аpple (а is U+0430)". Each word once, at most five.
func Lookalikes(s string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin := false
		var other []string
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			if said := fmt.Sprintf("%c is U+%04X", r, r); unicode.In(r, unicode.Greek, unicode.Cyrillic) && !slices.Contains(other, said) {
				other = append(other, said)
			}
		}
		if said := word + " (" + strings.Join(other, ", ") + ")"; latin && other != nil && !slices.Contains(out, said) && len(out) < 5 {
			out = append(out, said)
		}
	}
	return out
}

// byWhom says who answered in words of the windows; the gateway's are for its journal.
func byWhom(principal string) string {
	name := strings.TrimPrefix(principal, "owner ")
	switch {
	case principal == "" || principal == "owner":
		return ""
	case name == "this computer":
		return " on this computer"
	case strings.HasPrefix(name, "desktop-"):
		return " in another window"
	case strings.HasPrefix(name, "cli-") || name == "(command line)":
		return " on the command line"
	}
	return " by " + name
}

// Ended says in a few words how a question ended, and by whom.
func Ended(a protocol.Approval) string {
	by := byWhom(a.AnsweredBy)
	switch a.State {
	case protocol.ApprovalAllowed:
		if a.Scope == protocol.ScopeSession {
			return "allowed in this chat" + by
		}
		return "allowed" + by
	case protocol.ApprovalEdited:
		return "changed and allowed" + by
	case protocol.ApprovalSuperseded:
		return "decided by your rules"
	case protocol.ApprovalDenied:
		return "denied" + by
	case protocol.ApprovalExpired:
		return "not answered in time"
	}
	return "not needed any more"
}
