package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// Rules loads the rules. It blocks.
func (a *App) Rules(ctx context.Context) (protocol.RulesResult, error) {
	return Call(ctx, a, protocol.RulesList, protocol.Empty{})
}

// PutRule makes a rule, or changes the one with an id. It blocks.
func (a *App) PutRule(ctx context.Context, id string, policy json.RawMessage) (protocol.Rule, error) {
	return Call(ctx, a, protocol.RulePut, protocol.RulePutParams{ID: id, Policy: policy})
}

// DeleteRule deletes a rule; RestoreRule brings it back. They block.
func (a *App) DeleteRule(ctx context.Context, id string) error {
	_, err := Call(ctx, a, protocol.RuleDelete, protocol.RuleParams{ID: id})
	return err
}

// RestoreRule brings a deleted rule back. It blocks.
func (a *App) RestoreRule(ctx context.Context, id string) error {
	_, err := Call(ctx, a, protocol.RuleRestore, protocol.RuleParams{ID: id})
	return err
}

// ExportRules returns every rule as a file. It blocks.
func (a *App) ExportRules(ctx context.Context) ([]byte, error) {
	r, err := Call(ctx, a, protocol.RulesSave, protocol.Empty{})
	return r.File, err
}

// ImportRules adds the rules of a file. It blocks.
func (a *App) ImportRules(ctx context.Context, file []byte) (protocol.RulesImportResult, error) {
	if !json.Valid(file) {
		return protocol.RulesImportResult{}, fmt.Errorf("the file holds no rules: it is not JSON")
	}
	return Call(ctx, a, protocol.RulesImport, protocol.RulesImportParams{File: file})
}

// FindRules are the rules whose words, origin or text hold every word of a query.
func FindRules(rules []protocol.Rule, query string) []protocol.Rule {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return rules
	}
	var out []protocol.Rule
	for _, r := range rules {
		text := strings.ToLower(r.Words + " " + r.Origin + " " + string(r.Policy) + " " + r.Problem)
		all := true
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			out = append(out, r)
		}
	}
	return out
}

// RuleOrigin says where a rule comes from.
func RuleOrigin(r protocol.Rule) string {
	switch r.Origin {
	case protocol.RuleFromQuestion:
		return "made at a question" + byWhom(r.CreatedBy)
	case protocol.RuleFromPerson:
		return "written" + byWhom(r.CreatedBy)
	case protocol.RuleFromImport:
		return "imported" + byWhom(r.CreatedBy)
	case protocol.RuleFromChat:
		return "allowed in one chat"
	case protocol.RuleFromConfig:
		return "from the configuration (toolApproval)"
	}
	return r.Origin
}

// RuleUse says how often a rule was used, and when last.
func RuleUse(r protocol.Rule, now time.Time) string {
	switch {
	case r.Origin == protocol.RuleFromConfig || r.Origin == protocol.RuleFromChat:
		return "" // nobody counts these
	case r.Hits == 0:
		return "not used yet"
	}
	return Plural(int(r.Hits), "use", "uses") + ", last " + When(r.LastUsed, now)
}

// RuleFields are what of a rule is changed without writing JSON.
type RuleFields struct {
	Verdict string
	Expires time.Time // zero never
}

// FieldsOf reads them from a rule.
func FieldsOf(policy json.RawMessage) (RuleFields, error) {
	var p struct {
		Verdict  string    `json:"verdict"`
		Decision string    `json:"decision"` // in toolApproval
		Expires  time.Time `json:"expires"`
	}
	err := json.Unmarshal(policy, &p)
	return RuleFields{cmp.Or(p.Verdict, p.Decision), p.Expires}, err
}

// WithFields is a rule with them changed; everything else in it stays.
func WithFields(policy json.RawMessage, f RuleFields) (json.RawMessage, error) {
	p := make(map[string]json.RawMessage)
	if err := json.Unmarshal(policy, &p); err != nil {
		return nil, fmt.Errorf("the rule is not JSON: %w", err)
	}
	raw, err := protocol.Marshal(f.Verdict)
	if err != nil {
		return nil, err
	}
	p["verdict"] = raw
	delete(p, "expires")
	if !f.Expires.IsZero() {
		if p["expires"], err = protocol.Marshal(f.Expires.UTC().Truncate(time.Second)); err != nil {
			return nil, err
		}
	}
	return protocol.Marshal(p)
}

// Changeable reports whether a rule is changed here: what comes from the configuration is changed there, what was allowed for a chat only withdrawn.
func Changeable(r protocol.Rule) (edit, remove bool) {
	return r.Origin != protocol.RuleFromConfig && r.Origin != protocol.RuleFromChat, r.Origin != protocol.RuleFromConfig
}
