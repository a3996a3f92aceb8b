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

// List returns the active and the switched-off rules, newest first, and those of the configuration.
func (r *Rules) List() protocol.RulesResult {
	cfg := r.config().ToolApproval
	out := protocol.RulesResult{Rules: []protocol.Rule{}, Default: cfg.DefaultDecision}
	for _, rule := range r.active.all() {
		if rule.DeletedAt == 0 {
			out.Rules = append(out.Rules, rule)
		}
	}
	for i, rule := range out.Rules { // the name of a rule's machine may have changed
		var p policy.Rule
		if bytes.Contains(rule.Policy, []byte(`"node":`)) && json.Unmarshal(rule.Policy, &p) == nil {
			out.Rules[i].Words = r.describe(p)
		}
	}
	for _, c := range cfg.Rules {
		raw, err := protocol.Marshal(c)
		if err != nil {
			continue
		}
		words := Describe(policy.Rule{Tool: c.Tool, Verdict: policy.Verdict(c.Decision), When: make([]policy.Cond, len(c.When))})
		out.Rules = append(out.Rules, protocol.Rule{ID: c.ID, Policy: raw, Words: words, Origin: protocol.RuleFromConfig})
	}
	return out
}

// Put creates a rule, or changes the one with the ID. A duplicate fails with protocol.ErrConflict.
func (r *Rules) Put(ctx context.Context, by string, in protocol.RulePutParams) (protocol.Rule, error) {
	rule := protocol.Rule{ID: in.ID, Policy: in.Policy, Origin: protocol.RuleFromPerson, CreatedBy: by, CreatedAt: time.Now().UnixMilli()}
	kind := protocol.AuditRuleMade
	defer r.publish() // after the lock is released
	r.change.Lock()
	defer r.change.Unlock()
	if in.ID == "" {
		rule.ID = protocol.NewID()
	} else {
		old, ok := r.active.find(in.ID)
		if !ok || old.DeletedAt > 0 {
			return rule, protocol.ErrNotFound.With("No rule has the id " + in.ID)
		}
		old.Policy, rule, kind = in.Policy, old, protocol.AuditRuleChanged
		rule.Policy = in.Policy
	}
	if err := r.check(&rule); err != nil {
		return rule, err
	}
	if err := r.refuseDuplicate(rule); err != nil {
		return rule, err
	}
	return rule, r.save(putRules(ctx, r.store), by, kind, rule)
}

// refuseDuplicate refuses a rule when another active one is identical.
func (r *Rules) refuseDuplicate(rule protocol.Rule) error {
	for _, old := range r.active.all() {
		if old.ID != rule.ID && old.DeletedAt == 0 && old.Problem == "" && bytes.Equal(old.Policy, rule.Policy) {
			return protocol.ErrConflict.With(fmt.Sprintf("This rule already exists: %s (%s)", old.Words, old.ID))
		}
	}
	return nil
}

// check refuses a rule that is invalid or fails its own examples, and fills in its description.
func (r *Rules) check(rule *protocol.Rule) error {
	p, problem := prepare(*rule)
	if problem == "" {
		problem = policy.UnknownFields(rule.Policy)
	}
	if problem == "" {
		if _, problems, _ := policy.New(policy.File{Rules: []policy.Rule{p}}); len(problems) > 0 {
			problem = problems[0].Reason
		}
	}
	if problem != "" {
		return protocol.ErrBadRequest.With("This rule cannot be used: " + problem)
	}
	rule.Words = r.describe(p)
	p.ID, p.Source = "", ""
	raw, err := protocol.Marshal(p)
	rule.Policy = raw
	return err
}

// putRules returns a function that stores rules on their own.
func putRules(ctx context.Context, s RuleStore) func(store.RuleChange) (bool, error) {
	return func(c store.RuleChange) (bool, error) { return true, s.Put(ctx, c) }
}

// save activates new or changed rules once put has stored them; put may also find that they are no
// longer wanted, and return false. The caller holds r.change.
func (r *Rules) save(put func(store.RuleChange) (bool, error), by, kind string, rules ...protocol.Rule) error {
	c := store.RuleChange{Rules: rules}
	for _, rule := range rules {
		c.Audit = append(c.Audit, protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: kind, By: by, Rule: rule.ID, Policy: rule.Policy, What: rule.Words, Approval: rule.CreatedFrom})
	}
	if stored, err := put(c); err != nil || !stored {
		return err
	}
	list := r.active.all()
	for _, rule := range rules {
		if i := slices.IndexFunc(list, func(old protocol.Rule) bool { return old.ID == rule.ID }); i >= 0 {
			rule.Hits, rule.LastUsed = list[i].Hits, list[i].LastUsed
			list[i] = rule
		} else {
			list = slices.Insert(list, 0, rule)
		}
	}
	return r.active.activate(list)
}

// Delete deletes a rule, or revokes a chat's permission; Restore undoes it.
func (r *Rules) Delete(ctx context.Context, by, id string) error {
	return r.setDeleted(ctx, by, id, time.Now().UnixMilli(), protocol.AuditRuleDeleted, protocol.AuditGrantWithdrawn)
}

// Restore restores a deleted rule. A duplicate of another one fails with protocol.ErrConflict.
func (r *Rules) Restore(ctx context.Context, by, id string) error {
	return r.setDeleted(ctx, by, id, 0, protocol.AuditRuleRestored, protocol.AuditGrantRestored)
}

func (r *Rules) setDeleted(ctx context.Context, by, id string, at int64, kind, grantKind string) error {
	defer r.publish() // after the lock is released
	if grant, ok := strings.CutPrefix(id, protocol.GrantPrefix); ok {
		line := protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: grantKind, By: by, Rule: id}
		if found, err := r.grants.SetDeleted(ctx, grant, at, line); err != nil || found {
			return err
		}
		return protocol.ErrNotFound.With("No such permission has the id " + id)
	}
	r.change.Lock()
	defer r.change.Unlock()
	rule, ok := r.active.find(id)
	if !ok || (rule.DeletedAt > 0) == (at > 0) {
		return protocol.ErrNotFound.With("No rule with the id " + id + " can be changed here. Rules of toolApproval are changed in the configuration.")
	}
	if at == 0 {
		if err := r.refuseDuplicate(rule); err != nil {
			return err
		}
	}
	rule.DeletedAt = at
	return r.save(putRules(ctx, r.store), by, kind, rule)
}

// describe returns Words with the person's name of the machine.
func (r *Rules) describe(p policy.Rule) string {
	p.Node = cmp.Or(r.machineName(protocol.NodeID(p.Node)), p.Node)
	return Describe(p)
}

// argvText returns a command's pattern for people, with "(any value)" for a word that may be anything.
func argvText(argv []string) string {
	words := slices.Clone(argv)
	for i, w := range words {
		if w == "*" {
			words[i] = "(any value)"
		}
	}
	return strings.Join(words, " ")
}

// Describe returns a description of a rule for people.
func Describe(p policy.Rule) string {
	var b strings.Builder
	anyArguments := false
	b.WriteString(cmp.Or(map[policy.Verdict]string{policy.Allow: "Allow ", policy.Deny: "Deny "}[p.Verdict], "Ask about "))
	switch {
	case len(p.Argv) > 0 && p.Argv[len(p.Argv)-1] == "**":
		b.WriteString(argvText(p.Argv[:len(p.Argv)-1]) + " with anything after it")
	case len(p.Argv) > 0:
		b.WriteString(argvText(p.Argv))
	case p.Path != "":
		fmt.Fprintf(&b, "%s of %s", p.Tool, p.Path)
	default:
		b.WriteString(policy.EveryCall(p.Tool))
		anyArguments = p.Verdict == policy.Allow && len(p.When) == 0
	}
	if n := len(p.When); n == 1 {
		b.WriteString(" under a condition")
	} else if n > 1 {
		fmt.Fprintf(&b, " under %d conditions", n)
	}
	if p.Cwd != "" {
		if dir, below := strings.CutSuffix(p.Cwd, "/**"); below {
			fmt.Fprintf(&b, " in %s and below", dir)
		} else {
			fmt.Fprintf(&b, " in %s", p.Cwd)
		}
	}
	if p.Node != "" && p.Node != "*" {
		fmt.Fprintf(&b, " on %s", p.Node)
	}
	if p.Session != "" && p.Session != "*" {
		b.WriteString(" in this chat")
	}
	if anyArguments {
		b.WriteString(policy.AnyArguments)
	}
	if !p.Expires.IsZero() {
		fmt.Fprintf(&b, " until %s", p.Expires.Local().Format("2 January 2006 15:04"))
	}
	return b.String()
}
