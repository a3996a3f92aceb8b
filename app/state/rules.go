package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// ImportRules adds the rules of a file. It blocks.
func ImportRules(ctx context.Context, g feed.Gateway, file []byte) (protocol.RulesImportResult, error) {
	if !json.Valid(file) {
		return protocol.RulesImportResult{}, fmt.Errorf("the file does not contain rules: it is not JSON")
	}
	return feed.Call(ctx, g, protocol.RulesImport, protocol.RulesImportParams{File: file})
}

// TryRule finds the earlier calls that a rule would have decided differently. It blocks.
func TryRule(ctx context.Context, g feed.Gateway, policy json.RawMessage) (protocol.RuleTryResult, error) {
	return feed.Call(ctx, g, protocol.RuleTry, protocol.RuleTryParams{Policy: policy, Limit: 50})
}

// FindRules returns the rules whose description, origin or text contain every word of a query.
func FindRules(rules []protocol.Rule, query string) []protocol.Rule {
	return lists.Without(rules, func(r protocol.Rule) bool {
		return !wording.Matches(r.Words+" "+r.Origin+" "+string(r.Policy)+" "+r.Problem, query)
	})
}

var ruleOrigins = map[string]string{
	protocol.RuleFromQuestion: "Created from a question,",
	protocol.RuleFromPerson:   "Created",
	protocol.RuleFromImport:   "Imported",
	protocol.RuleFromChat:     "Allowed in one chat",
	protocol.RuleFromConfig:   "From All settings, Tool rules",
}

// RuleOrigin describes the origin of a rule.
func RuleOrigin(r protocol.Rule) string {
	return cmp.Or(ruleOrigins[r.Origin], r.Origin) + wording.By(r.CreatedBy)
}

// RuleUse describes how often a rule was used, and when last.
func RuleUse(r protocol.Rule, now time.Time) string {
	switch {
	case r.Origin == protocol.RuleFromConfig || r.Origin == protocol.RuleFromChat:
		return "" // the gateway does not count these
	case r.Hits == 0:
		return "not used yet"
	}
	return wording.Plural(int(r.Hits), "use", "uses") + ", last " + wording.When(r.LastUsed, now)
}

// VerdictOf returns the verdict and the expiry of a rule. The zero time means never.
func VerdictOf(policy json.RawMessage) (verdict string, expires time.Time) {
	var p struct {
		Verdict  string    `json:"verdict"`
		Decision string    `json:"decision"` // as in toolApproval
		Expires  time.Time `json:"expires"`
	}
	if json.Unmarshal(policy, &p) != nil {
		return "", time.Time{}
	}
	return cmp.Or(p.Verdict, p.Decision), p.Expires
}

// CountText says how many rules are shown, what happens without a rule, and how many are off.
func CountText(all protocol.RulesResult, shown []protocol.Rule, nodes []protocol.NodeInfo) string {
	text := DefaultText(all.Default, len(all.Rules) > 0, nodes)
	if n := len(all.Rules); n > 0 {
		text = wording.Plural(n, "rule", "rules") + ". " + text
		if len(shown) < n {
			text = fmt.Sprintf("%d of ", len(shown)) + text
		}
	}
	off := lists.Without(shown, func(r protocol.Rule) bool { return r.Problem == "" })
	if len(off) > 0 {
		text += " " + wording.Plural(len(off), "rule is", "rules are") + " turned off."
	}
	return text
}

// ImportText says what became of an imported file.
func ImportText(r protocol.RulesImportResult) string {
	text := wording.Plural(r.Added, "rule was", "rules were") + " added."
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

// DefaultText says what happens to calls that no rule covers, or to all if there are no rules.
func DefaultText(verdict string, hasRules bool, nodes []protocol.NodeInfo) string {
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

// Changeable reports what is possible here: a chat's grants, for example, only to be removed.
func Changeable(r protocol.Rule) (edit, remove bool) {
	return r.Origin != protocol.RuleFromConfig && r.Origin != protocol.RuleFromChat, r.Origin != protocol.RuleFromConfig
}
