package rules

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

var origins = map[string]string{
	protocol.RuleFromQuestion: "Created from a question,",
	protocol.RuleFromPerson:   "Created",
	protocol.RuleFromImport:   "Imported",
	protocol.RuleFromChat:     "Allowed in one chat",
	protocol.RuleFromConfig:   "From All settings, Tool rules",
}

// originText describes the origin of a rule.
func originText(r protocol.Rule) string {
	return cmp.Or(origins[r.Origin], r.Origin) + wording.By(r.CreatedBy)
}

// useText describes how often a rule was used, and when last.
func useText(r protocol.Rule, now time.Time) string {
	switch {
	case r.Origin == protocol.RuleFromConfig || r.Origin == protocol.RuleFromChat:
		return "" // the gateway does not count these
	case r.Hits == 0:
		return "not used yet"
	}
	return format.Plural(int(r.Hits), "use") + ", last " + format.When(r.LastUsed, now)
}

// countText says how many rules are shown, what happens without a rule, and how many are off.
func countText(all protocol.RulesResult, shown []protocol.Rule, nodes []protocol.NodeInfo) string {
	text := defaultText(all.Default, len(all.Rules) > 0, nodes)
	if n := len(all.Rules); n > 0 {
		text = format.Plural(n, "rule") + ". " + text
		if len(shown) < n {
			text = fmt.Sprintf("%d of ", len(shown)) + text
		}
	}
	off := lists.Without(shown, func(r protocol.Rule) bool { return r.Problem == "" })
	if len(off) > 0 {
		text += " " + format.Plural(len(off), "rule is", "rules are") + " turned off."
	}
	return text
}

// importText says what became of an imported file.
func importText(r protocol.RulesImportResult) string {
	text := format.Plural(r.Added, "rule was", "rules were") + " added."
	if r.Skipped > 0 {
		text += fmt.Sprintf(" %d already existed.", r.Skipped)
	}
	if n := len(r.Problems); n > 0 {
		text += " Problem: " + r.Problems[0]
		if n > 1 {
			text += fmt.Sprintf(" And %d more.", n-1)
		}
	}
	return text
}

// defaultText says what happens to calls that no rule covers, or to all if there are no rules.
func defaultText(verdict string, hasRules bool, nodes []protocol.NodeInfo) string {
	text := "Reading in the workspace is allowed. Everything else "
	if hasRules {
		text = "Without a rule, reading in the workspace is allowed, and everything else "
	}
	switch verdict {
	case "allow":
		machines, _ := protocol.Unprotected(nodes)
		return strings.TrimSuffix(text+"is, too. "+protocol.StillAsks(machines), " ")
	case "deny":
		return text + "is denied."
	}
	return text + "asks."
}

// toolText describes a tool of a rule.
func toolText(tool string) string {
	for _, t := range toolChoices {
		if t.Name == tool {
			return t.Words
		}
	}
	return "Use " + tool
}

// Outcome describes what a rule covers.
type Outcome struct {
	Words   string // the rule in a sentence
	Summary string // what it would change
	Covers  []string
	Spares  []string // similar calls that it does not cover
}

// outcomeOf describes the result of testing a rule.
func outcomeOf(v feed.View, r protocol.RuleTryResult) Outcome {
	line := func(c protocol.JournalEntry) string {
		text, _ := wording.Reveal(question.CallLine(c, v.Machines.Name(c.Node)))
		return text
	}
	p := Outcome{Words: r.Words, Summary: question.NoCallsText, Covers: lists.Map(r.Matched, line), Spares: lists.Map(r.Unmatched, line)}
	switch {
	case r.Looked == 0:
	case len(r.Changed) == 0:
		p.Summary = question.CheckedText(r.Looked) + ": it changes no decision."
	default:
		c := r.Changed[0]
		p.Summary = fmt.Sprintf("%s: it changes %s, such as from %s to %s.", question.CheckedText(r.Looked), format.Plural(len(r.Changed), "decision"), c.Was, c.Now)
	}
	return p
}
