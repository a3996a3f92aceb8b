package question

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// WithNetwork returns a command's arguments with network access requested or not.
func WithNetwork(args json.RawMessage, on bool) (json.RawMessage, error) {
	if !on {
		return withArg(args, "network", nil)
	}
	return withArg(args, "network", true)
}

// withArg returns arguments with a value, or without it if it is nil.
func withArg(args json.RawMessage, name string, value any) (json.RawMessage, error) {
	fields := make(map[string]json.RawMessage)
	if err := json.Unmarshal(args, &fields); err != nil {
		return nil, fmt.Errorf("reading the call's arguments: %w", err)
	}
	if value == nil {
		delete(fields, name)
	} else if err := SetArgument(fields, name, value); err != nil {
		return nil, err
	}
	return protocol.Marshal(fields)
}

// AsksNetwork reports whether a command requests network access and an answer decides that.
func AsksNetwork(q protocol.Question) (asks, offer bool) {
	var in struct {
		Network bool `json:"network"`
	}
	if q.Tool != "Bash" || q.ServerTool != nil || json.Unmarshal(q.Args, &in) != nil {
		return false, false
	}
	return in.Network, q.Host != nil && q.Host.Enforcement != nil && q.Host.Enforcement.Lends
}

// GrantsFolder reports whether allowing a call of a file tool opens the folder that it needs.
func GrantsFolder(q protocol.Question) bool {
	return q.Effect == protocol.EffectRead || q.Effect == protocol.EffectWrite
}

// FolderOffers returns the folders that may be opened for the call; answers have their index.
func FolderOffers(q protocol.Question) []protocol.FolderAccess {
	if q.Preview == nil || !q.IsCall() {
		return nil
	}
	return q.Preview.Folders
}

// NotConfined reports whether the machine of an approval does not confine commands at all.
func NotConfined(q protocol.Question) bool {
	return q.Effect == protocol.EffectExec && (q.Sandbox == "" || q.Sandbox == protocol.NotEnforced ||
		q.Host != nil && q.Host.Enforcement != nil && q.Host.Enforcement.Summary == "none")
}

// FilesText says which of the person's file rules apply to code that a call runs, or "".
func FilesText(q protocol.Question) string {
	if q.Files == "" {
		return ""
	}
	return format.Capital(q.Files) + "."
}

// FilesLoose reports whether some of them do not apply.
func FilesLoose(q protocol.Question) bool { return strings.HasPrefix(q.Files, "the code it runs") }

// PartlyConfined reports whether only a part of the confinement, see Sandbox, is enforced.
func PartlyConfined(q protocol.Question) bool {
	return q.Effect == protocol.EffectExec && !NotConfined(q) && strings.Contains(q.Sandbox, protocol.NotEnforced)
}

// NetworkWords describes the effect of a request for network access where an answer cannot decide
// it; empty if there is no such request. open: the command has network access anyway.
func NetworkWords(q protocol.Question) (words string, open bool) {
	asks, offer := AsksNetwork(q)
	switch {
	case !asks || offer:
		return "", false
	case NotConfined(q) || strings.Contains(q.Sandbox, "network "+protocol.NotEnforced):
		return "requested; " + protocol.NotEnforced + ": the command has network access anyway", true
	}
	return "requested", false
}

// Identical returns the pending approvals that are [protocol.Question.SameAs] q, including q.
func Identical(open []protocol.Question, q protocol.Question) []protocol.Question {
	return lists.Without(open, func(o protocol.Question) bool { return !q.SameAs(o) })
}

// ScopeWords describes the extent of a scope, for a menu.
func ScopeWords(q protocol.Question, scope string) string {
	words := map[string]string{
		protocol.ScopeOnce:    "Allow once",
		protocol.ScopeSession: "Allow in this chat: " + q.SessionRule,
		protocol.ScopeFolder:  "Always in this folder…",
		protocol.ScopeMachine: "Always on this machine…",
		protocol.ScopeAlways:  "Always, everywhere…",
	}[scope]
	return cmp.Or(words, scope)
}

// OfferedRule is a rule that an answer can create, as the gateway will store it.
type OfferedRule struct {
	Place  int // index in the approval's offers
	Text   string
	Policy json.RawMessage
	Wide   bool // it allows more than the words shown
	// Group is the same for rules about the same part of a command, of which the wider ones include
	// the first: one of them is enough.
	Group int
}

// OfferedRules returns the rules that allowing with a scope can create, in the gateway's words after
// "Don't ask again for".
func OfferedRules(q protocol.Question, scope string) []OfferedRule {
	var out []OfferedRule
	group := -1
	for i, o := range q.Offers {
		as, ok := o.As[scope]
		var p struct {
			Argv []any
			Path string
		}
		if !ok || json.Unmarshal(as.Policy, &p) != nil {
			continue
		}
		anyArguments := p.Argv == nil && p.Path == ""
		wide := anyArguments || slices.ContainsFunc(p.Argv, func(word any) bool { return word == "*" || word == "**" })
		text := strings.TrimPrefix(as.Words, "Allow ")
		if !wide && text != as.Words {
			text = "exactly " + text
		}
		if !wide || anyArguments || group < 0 {
			group++
		}
		out = append(out, OfferedRule{Place: i, Text: text, Policy: as.Policy, Wide: wide, Group: group})
	}
	return out
}

// NarrowOffers returns the indexes of the narrowest rule of each group, with which a choice starts.
func NarrowOffers(rules []OfferedRule) (places []int) {
	for i, r := range rules {
		if i == 0 || r.Group != rules[i-1].Group {
			places = append(places, r.Place)
		}
	}
	return places
}

// ChooseOffer returns the selected places after the person has pressed one: the other rule of its
// group is no longer selected. A pressed rule that is selected is left out, if others remain.
func ChooseOffer(rules []OfferedRule, selected []int, place int) []int {
	groupOf := func(place int) int {
		r, _ := lists.Find(rules, func(r OfferedRule) bool { return r.Place == place })
		return r.Group
	}
	others := lists.Without(selected, func(p int) bool { return groupOf(p) == groupOf(place) })
	if slices.Contains(selected, place) && len(others) > 0 {
		return others
	}
	others = append(others, place)
	slices.Sort(others)
	return others
}

// CheckedText begins the sentence about a rule's decisions for n earlier calls, at least one.
func CheckedText(n int) string {
	if n == 1 {
		return "Checked against the last call"
	}
	return fmt.Sprintf("Checked against the last %d calls", n)
}

// NothingElseText says that a rule would have allowed none of n other calls. A rule for any
// arguments does not sound narrow because nobody has made such calls yet.
func NothingElseText(n int, wide bool) string {
	if wide {
		return "It allows no other of the last " + format.Plural(n, "call") + ", but later calls with any other arguments."
	}
	return CheckedText(n) + ": it allows nothing else."
}

// NoCallsText is shown if there are no earlier calls.
const NoCallsText = "There are no earlier calls to check against."

// Editable is an argument that a person may change before the call runs, with its label.
func Editable(q protocol.Question) (name, text string, ok bool) {
	argument := editable[q.Tool]
	var in map[string]any
	if argument.name == "" || q.ServerTool != nil || !q.IsCall() || json.Unmarshal(q.Args, &in) != nil {
		return "", "", false
	}
	text, ok = in[argument.name].(string)
	return argument.label, text, ok
}

// WithEdited returns a call's arguments with a new editable text; nil if it is unchanged.
func WithEdited(q protocol.Question, text string) (json.RawMessage, error) {
	_, was, ok := Editable(q)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s cannot be changed", q.Tool)
	case text == was:
		return nil, nil
	case q.Tool == "Bash" && strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("the command is empty")
	}
	return withArg(q.Args, editable[q.Tool].name, text)
}

// CallLine summarizes a call of the journal in one line, with the machine's display name.
func CallLine(c protocol.JournalEntry, machine string) string {
	return QuestionLine(protocol.Question{Kind: protocol.KindOfCall(c.Tool, "", nil), Tool: c.Tool, Args: c.Input, Node: c.Node}, machine)
}
