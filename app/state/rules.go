package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// ImportRules adds the rules of a file. It blocks.
func ImportRules(ctx context.Context, g Gateway, file []byte) (protocol.RulesImportResult, error) {
	if !json.Valid(file) {
		return protocol.RulesImportResult{}, fmt.Errorf("the file does not contain rules: it is not JSON")
	}
	return Call(ctx, g, protocol.RulesImport, protocol.RulesImportParams{File: file})
}

// TryRule finds the earlier calls that a rule would have decided differently. It blocks.
func TryRule(ctx context.Context, g Gateway, policy json.RawMessage) (protocol.RuleTryResult, error) {
	return Call(ctx, g, protocol.RuleTry, protocol.RuleTryParams{Policy: policy, Limit: 50})
}

// FindRules returns the rules whose description, origin or text contain every word of a query.
func FindRules(rules []protocol.Rule, query string) []protocol.Rule {
	return without(rules, func(r protocol.Rule) bool {
		return !matches(r.Words+" "+r.Origin+" "+string(r.Policy)+" "+r.Problem, query)
	})
}

var ruleOrigins = map[string]string{
	protocol.RuleFromQuestion: "created from an approval",
	protocol.RuleFromPerson:   "created",
	protocol.RuleFromImport:   "imported",
	protocol.RuleFromChat:     "allowed in one chat",
	protocol.RuleFromConfig:   "from the configuration (toolApproval)",
}

// RuleOrigin describes the origin of a rule.
func RuleOrigin(r protocol.Rule) string {
	return cmp.Or(ruleOrigins[r.Origin], r.Origin) + byText(r.CreatedBy)
}

// RuleUse describes how often a rule was used, and when last.
func RuleUse(r protocol.Rule, now time.Time) string {
	switch {
	case r.Origin == protocol.RuleFromConfig || r.Origin == protocol.RuleFromChat:
		return "" // the gateway does not count these
	case r.Hits == 0:
		return "not used yet"
	}
	return Plural(int(r.Hits), "use", "uses") + ", last " + When(r.LastUsed, now)
}

// RuleFields are the properties of a rule that can be edited without writing JSON.
type RuleFields struct {
	Verdict string
	Expires time.Time // zero: never
}

// FieldsOf returns the properties of a rule.
func FieldsOf(policy json.RawMessage) (RuleFields, error) {
	var p struct {
		Verdict  string    `json:"verdict"`
		Decision string    `json:"decision"` // as in toolApproval
		Expires  time.Time `json:"expires"`
	}
	err := json.Unmarshal(policy, &p)
	return RuleFields{cmp.Or(p.Verdict, p.Decision), p.Expires}, err
}

// WithFields returns a rule with these properties replaced.
func WithFields(policy json.RawMessage, f RuleFields) (json.RawMessage, error) {
	p := make(map[string]json.RawMessage)
	if err := json.Unmarshal(policy, &p); err != nil {
		return nil, fmt.Errorf("the rule is not JSON: %w", err)
	}
	err := setArgument(p, "verdict", f.Verdict)
	delete(p, "expires")
	if !f.Expires.IsZero() {
		err = errors.Join(err, setArgument(p, "expires", f.Expires.UTC().Truncate(time.Second)))
	}
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(p)
}

// Changeable reports what is possible here: a chat's grants, for example, only to be removed.
func Changeable(r protocol.Rule) (edit, remove bool) {
	return r.Origin != protocol.RuleFromConfig && r.Origin != protocol.RuleFromChat, r.Origin != protocol.RuleFromConfig
}
