package approval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// errNoOffer is returned when an answer chooses a rule that the approval does not offer.
var errNoOffer = protocol.ErrBadRequest.With("no rule was offered with this approval: allow it once")

// SaveOffers passes the rules that an answer chose among the question's offers to put, which stores
// them with the answer and reports whether it did. If it chose none, these are the narrow ones,
// which allow exactly the displayed command. An existing rule is not duplicated: two windows may
// answer two similar questions at the same time. An answer for its chat saves no rule, but put
// stores a permission for the chat.
func (r *Rules) SaveOffers(by string, a protocol.Question, put func(store.RuleChange) (bool, error)) error {
	if a.Scope == protocol.ScopeSession {
		won, err := put(store.RuleChange{})
		if won {
			r.publish()
		}
		return err
	}
	if len(a.Offers) == 0 {
		return errNoOffer
	}
	defer r.publish()
	r.change.Lock()
	defer r.change.Unlock()
	var add []protocol.Rule
	chosen := 0
	for i := range a.Offers {
		p, err := OfferedRule(a, i, a.Scope)
		if err != nil {
			return err
		}
		open := slices.Contains(p.Argv, "*") || slices.Contains(p.Argv, "**")
		if len(a.Chosen) > 0 && !slices.Contains(a.Chosen, i) || len(a.Chosen) == 0 && open {
			continue
		}
		if a.Until > 0 {
			p.Expires = time.UnixMilli(a.Until).UTC().Truncate(time.Second)
		}
		raw, err := protocol.Marshal(p)
		if err != nil {
			return err
		}
		rule := protocol.Rule{ID: protocol.NewID(), Policy: raw, Origin: protocol.RuleFromQuestion, CreatedBy: by, CreatedFrom: a.ID, CreatedAt: time.Now().UnixMilli()}
		rule.Hits, rule.LastUsed = 1, rule.CreatedAt // the call that it is made from runs with it
		if err := r.check(&rule); err != nil {
			return err
		}
		chosen++
		if r.refuseDuplicate(rule) != nil || slices.ContainsFunc(add, func(made protocol.Rule) bool { return bytes.Equal(made.Policy, rule.Policy) }) {
			continue
		}
		add = append(add, rule)
	}
	if chosen == 0 {
		return errNoOffer
	}
	return r.save(put, by, protocol.AuditRuleMade, add...)
}

// OfferedRule returns the rule that an answer with the scope makes of the approval's offer i.
func OfferedRule(a protocol.Question, i int, scope string) (policy.Rule, error) {
	var p policy.Rule
	if i < 0 || i >= len(a.Offers) {
		return p, protocol.ErrBadRequest.With(fmt.Sprintf("this approval offers %d rules, so there is no rule %d", len(a.Offers), i))
	}
	if err := json.Unmarshal(a.Offers[i].Policy, &p); err != nil {
		return p, fmt.Errorf("reading the offered rule: %w", err)
	}
	p.ID, p.Source = "", ""
	switch scope {
	case protocol.ScopeFolder:
		p.Node, p.Cwd = string(a.Node), strings.TrimRight(a.Folder(), `/\`)+"/**"
	case protocol.ScopeMachine:
		p.Node, p.Cwd = string(a.Node), ""
	case protocol.ScopeAlways:
		p.Node, p.Cwd = "", ""
	default:
		return p, protocol.ErrBadRequest.With(fmt.Sprintf("no rule is made with scope %q: it is folder, node or always", scope))
	}
	return p, nil
}

// Offer adds the rules of a decision to an approval that the person can save with the answer, and
// the scopes for which they can be saved, each with its rule.
func (r *Rules) Offer(a *protocol.Question, d policy.Decision) error {
	if len(d.Offers) == 0 {
		return nil
	}
	scopes := []string{protocol.ScopeMachine, protocol.ScopeAlways}
	if strings.Contains(d.Offers[0].Rule.Tool, "__") { // of an MCP server, wherever it runs
		scopes = []string{protocol.ScopeAlways}
	} else if len(d.Offers[0].Rule.Argv) == 0 { // everything that a tool can read on a machine
		scopes = []string{protocol.ScopeMachine}
	} else if folder := a.Folder(); folder != "" && !strings.ContainsAny(folder, "*?") { // a rule cannot name others
		scopes = slices.Insert(scopes, 0, protocol.ScopeFolder)
	}
	a.Choices = append(a.Choices, scopes...)
	for i, o := range d.Offers {
		raw, err := protocol.Marshal(o.Rule)
		if err != nil {
			return err
		}
		a.Offers = append(a.Offers, protocol.RuleOffer{Policy: raw, Words: r.describe(o.Rule), As: map[string]protocol.RuleOffer{}})
		for _, scope := range scopes {
			p, err := OfferedRule(*a, i, scope)
			if err != nil {
				return err
			}
			if raw, err = protocol.Marshal(p); err != nil {
				return err
			}
			a.Offers[i].As[scope] = protocol.RuleOffer{Policy: raw, Words: r.describe(p)}
		}
	}
	return nil
}

// All returns List together with the permissions of chats, which windows show beside the rules.
func (r *Rules) All(ctx context.Context) (protocol.RulesResult, error) {
	out := r.List()
	grants, err := r.grants.List(ctx, "")
	if err != nil {
		return out, err
	}
	for _, g := range slices.Backward(grants) {
		rule, err := r.grantRule(g)
		if err != nil {
			return out, err
		}
		out.Rules = append(out.Rules, rule)
	}
	return out, nil
}

// grantRule converts a chat's permission to a rule for display.
func (r *Rules) grantRule(g store.Grant) (protocol.Rule, error) {
	raw, err := protocol.Marshal(map[string]any{"tool": g.Tool, "node": g.Node, "session": g.Session, "verdict": policy.Allow, "exactly": g.Match})
	machine := cmp.Or(r.machineName(g.Node), string(g.Node))
	what := g.Words + " on " + machine
	if g.Match == policy.ServerMatch {
		what = policy.EveryCall(string(protocol.NewToolName(g.Node, g.Tool))) + policy.AnyArguments
	} else if c, ok := exportGrant(g); ok && c.Command != "" {
		what = fmt.Sprintf("exactly %s in %s on %s", c.Command, c.Cwd, machine)
	}
	return protocol.Rule{
		ID: protocol.GrantPrefix + g.ID, Policy: raw, Words: fmt.Sprintf("Allow %s, in one chat", what),
		Origin: protocol.RuleFromChat, CreatedFrom: g.From, CreatedAt: g.CreatedAt, LastUsed: r.uses.Last(protocol.GrantPrefix + g.ID),
	}, err
}

// Undo revokes what the answer to an approval granted, its rules and its chat's permission, or
// fails with protocol.ErrNotFound. Calls that have run are not undone.
func (r *Rules) Undo(ctx context.Context, by string, id protocol.QuestionID) (protocol.QuestionUndoResult, error) {
	var res protocol.QuestionUndoResult
	if id == "" {
		return res, protocol.ErrBadRequest.With("id required")
	}
	list, err := r.All(ctx)
	if err != nil {
		return res, err
	}
	for _, rule := range list.Rules {
		if rule.CreatedFrom != id {
			continue
		}
		if err := r.Delete(ctx, by, rule.ID); err != nil {
			return res, err
		}
		if rule.Origin == protocol.RuleFromChat {
			res.Grants++
		} else {
			res.Rules++
		}
	}
	if res == (protocol.QuestionUndoResult{}) {
		return res, protocol.ErrNotFound.With("This answer has no active rule or permission left to revoke")
	}
	return res, nil
}
