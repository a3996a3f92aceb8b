package approval

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Exposures states what is allowed without a question beyond one chat: rules, permissions of apps
// and the default of the settings.
func (r *Rules) Exposures(ctx context.Context) ([]protocol.Exposure, error) {
	all, err := r.All(ctx)
	var list []protocol.Exposure
	if all.Default == string(policy.Allow) {
		set := func(value string) protocol.MethodCall {
			return protocol.NewCall(protocol.ConfigSet, protocol.ConfigSetParams{Path: "toolApproval.defaultDecision", Value: protocol.Encode(value)})
		}
		undo := set(all.Default)
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureGrant + ":default", Kind: protocol.ExposureGrant, Title: "Allow everything that no rule names",
			Reach: "The agent, schedules and apps act without a question.", Warnings: []string{protocol.WarnNoExpiry},
			Close: &protocol.ExposureClose{Button: "Ask again", Ends: "Calls that no rule names need your approval again.", Call: set(string(policy.Ask)), Undo: &undo},
		})
	}
	for _, rule := range all.Rules {
		if e, ok := exposure(rule); ok {
			list = append(list, e)
		}
	}
	return list, err
}

// exposure returns what a rule allows, unless it allows nothing beyond one chat.
func exposure(rule protocol.Rule) (e protocol.Exposure, ok bool) {
	var p struct {
		Verdict  policy.Verdict      `json:"verdict"`
		Decision policy.Verdict      `json:"decision"` // in place of verdict in a rule of the settings
		Expires  time.Time           `json:"expires"`
		Session  protocol.SessionKey `json:"session"`
	}
	err := json.Unmarshal(rule.Policy, &p)
	ofApp := strings.HasPrefix(string(p.Session), string(protocol.AppID("").Grantee()))
	switch {
	case err != nil || rule.Problem != "" || p.Verdict != policy.Allow && p.Decision != policy.Allow:
		return e, false
	case !p.Expires.IsZero() && !p.Expires.After(time.Now()), p.Session != "" && p.Session != "*" && !ofApp:
		return e, false
	}
	e = protocol.Exposure{
		ID: protocol.ExposureGrant + ":" + rule.ID, Kind: protocol.ExposureGrant, Title: format.Capital(rule.Words),
		Reach: "The agent, schedules and apps do this without a question.", CreatedAt: rule.CreatedAt, LastUsedAt: rule.LastUsed,
	}
	if ofApp {
		e.Title, e.Reach = strings.TrimSuffix(e.Title, ", in one chat"), "One app does this without a question."
	}
	if p.Expires.IsZero() {
		e.Warnings = []string{protocol.WarnNoExpiry}
	} else {
		e.ExpiresAt = p.Expires.UnixMilli()
	}
	if rule.Origin == protocol.RuleFromConfig {
		e.Reach += " The setting toolApproval.rules has it."
		return e, true
	}
	undo := protocol.NewCall(protocol.RuleRestore, protocol.RuleParams{ID: rule.ID})
	e.Close = &protocol.ExposureClose{
		Button: "Delete", Ends: "Calls of this kind need your approval again.", Call: protocol.NewCall(protocol.RuleDelete, protocol.RuleParams{ID: rule.ID}), Undo: &undo,
	}
	return e, true
}
