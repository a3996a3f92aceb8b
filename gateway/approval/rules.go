package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/approval/policy"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// RuleStore keeps rules and what is told of them.
type RuleStore interface {
	Rules(ctx context.Context) ([]protocol.Rule, error)
	PutRules(ctx context.Context, rules []protocol.Rule, lines ...protocol.AuditEntry) error
	CountRule(ctx context.Context, id string, at int64) error
	Grants(ctx context.Context, session protocol.SessionKey) ([]store.Grant, error)
	MarkGrant(ctx context.Context, id string, deletedAt int64, lines ...protocol.AuditEntry) (bool, error)
}

// Rules are the person's rules. They are safe for use by many goroutines.
type Rules struct {
	store  RuleStore
	config func() config.ToolApproval
	// changed is called after every change, without any lock.
	changed func()

	change sync.Mutex // held by whoever changes rules, over the store: one change after the other

	mu   sync.Mutex // guards what follows
	list []protocol.Rule
	set  *policy.Set // nil asks about everything
	sum  string      // over the rules that decide
}

// OpenRules loads the rules. One that is not understood, or does not meet its own examples, is switched off and says why; the others hold.
func OpenRules(ctx context.Context, s RuleStore, cfg func() config.ToolApproval) (*Rules, error) {
	r := &Rules{store: s, config: cfg, changed: func() {}}
	list, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.use(list); err != nil {
		return nil, err
	}
	for _, rule := range list {
		if rule.Problem != "" {
			slog.Warn("A rule is switched off", "rule", rule.ID, "err", rule.Problem)
		}
	}
	return r, nil
}

// OnChange sets what is called after every change of rules or permissions, on the goroutine that made it. To be called once, before any change.
func (r *Rules) OnChange(f func()) { r.changed = f }

// Version names the state of the rules: another one decides by other rules.
func (r *Rules) Version() string {
	raw, err := protocol.Marshal(r.config())
	if err != nil {
		raw = nil // it was read from JSON
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := sha256.Sum256(append(raw, r.sum...))
	return hex.EncodeToString(sum[:8])
}

// use prepares a list and makes it the one that decides. It fills in the rules' problems.
func (r *Rules) use(list []protocol.Rule) error {
	var file policy.File
	for i := range list {
		rule := &list[i]
		rule.Problem = ""
		if rule.DeletedAt > 0 {
			continue
		}
		p, problem := prepare(*rule)
		if problem != "" {
			rule.Problem = problem
			continue
		}
		file.Rules = append(file.Rules, p)
	}
	set, problems, err := policy.New(file)
	if err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	for _, p := range problems {
		for i := range list {
			if list[i].ID == p.Rule {
				list[i].Problem = p.Reason
			}
		}
	}
	raw, err := protocol.Marshal(file.Rules)
	if err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	sum := sha256.Sum256(raw)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list, r.set, r.sum = list, set, string(sum[:])
	return nil
}

// prepare reads one rule by itself, so that a broken one does not switch off the others.
func prepare(rule protocol.Rule) (policy.Rule, string) {
	var p policy.Rule
	if err := json.Unmarshal(rule.Policy, &p); err != nil {
		return p, "it cannot be read: " + protocol.Problem(err)
	}
	p.ID, p.Source = rule.ID, policy.SourceUser
	if _, _, err := policy.New(policy.File{Rules: []policy.Rule{p}}); err != nil {
		return p, strings.TrimPrefix(err.Error(), rule.ID+": ")
	}
	return p, ""
}

// judge asks the rules.
func (r *Rules) judge(c policy.Call) policy.Judgement {
	r.mu.Lock()
	set := r.set
	r.mu.Unlock()
	return set.Judge(c)
}

// used counts a rule that decided a call; a failure to count decides nothing.
func (r *Rules) used(ctx context.Context, id string) {
	now := time.Now().UnixMilli()
	r.mu.Lock()
	i := slices.IndexFunc(r.list, func(rule protocol.Rule) bool { return rule.ID == id })
	if i >= 0 {
		r.list[i].Hits, r.list[i].LastUsed = r.list[i].Hits+1, now
	}
	r.mu.Unlock()
	if i < 0 {
		return
	}
	if err := r.store.CountRule(context.WithoutCancel(ctx), id, now); err != nil {
		slog.Warn("A rule's use could not be counted", "rule", id, "err", err)
	}
}

// List returns the rules that hold or are switched off, newest first, and those of the configuration.
func (r *Rules) List() protocol.RulesResult {
	cfg := r.config()
	out := protocol.RulesResult{Rules: []protocol.Rule{}, Default: cfg.DefaultDecision}
	r.mu.Lock()
	for _, rule := range r.list {
		if rule.DeletedAt == 0 {
			out.Rules = append(out.Rules, rule)
		}
	}
	r.mu.Unlock()
	for _, c := range cfg.Rules {
		raw, err := protocol.Marshal(c)
		if err != nil {
			continue
		}
		words := fmt.Sprintf("%s %s", c.Decision, c.Tool)
		if len(c.When) > 0 {
			words += fmt.Sprintf(" under %d conditions", len(c.When))
		}
		out.Rules = append(out.Rules, protocol.Rule{ID: c.ID, Policy: raw, Words: words, Origin: protocol.RuleFromConfig})
	}
	return out
}

// Put makes a rule, or changes the one with the id. by is who does it.
func (r *Rules) Put(ctx context.Context, by string, in protocol.RulePutParams) (protocol.Rule, error) {
	rule := protocol.Rule{ID: in.ID, Policy: in.Policy, Origin: protocol.RuleFromPerson, CreatedBy: by, CreatedAt: time.Now().UnixMilli()}
	kind := protocol.AuditRuleMade
	defer r.changed() // after the lock is released
	r.change.Lock()
	defer r.change.Unlock()
	if in.ID == "" {
		rule.ID = protocol.NewID()
	} else {
		old, ok := r.find(in.ID)
		if !ok || old.DeletedAt > 0 {
			return rule, protocol.ErrNotFound.With("No rule has the id " + in.ID)
		}
		old.Policy, rule, kind = in.Policy, old, protocol.AuditRuleChanged
		rule.Policy = in.Policy
	}
	if err := check(&rule); err != nil {
		return rule, err
	}
	return rule, r.save(ctx, by, kind, rule)
}

// check refuses a rule that makes no sense or does not meet its own examples, and words it.
func check(rule *protocol.Rule) error {
	p, problem := prepare(*rule)
	if problem == "" {
		if _, problems, _ := policy.New(policy.File{Rules: []policy.Rule{p}}); len(problems) > 0 {
			problem = problems[0].Reason
		}
	}
	if problem != "" {
		return protocol.ErrBadRequest.With("This rule cannot be used: " + problem)
	}
	rule.Words = Words(p)
	p.ID, p.Source = "", ""
	raw, err := protocol.Marshal(p)
	rule.Policy = raw
	return err
}

func (r *Rules) find(id string) (protocol.Rule, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.list, func(rule protocol.Rule) bool { return rule.ID == id })
	if i < 0 {
		return protocol.Rule{}, false
	}
	return r.list[i], true
}

// save stores rules and makes them hold. The caller has r.change.
func (r *Rules) save(ctx context.Context, by, kind string, rules ...protocol.Rule) error {
	var lines []protocol.AuditEntry
	for _, rule := range rules {
		lines = append(lines, protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: kind, By: by, Rule: rule.ID, Policy: rule.Policy, What: rule.Words, Approval: rule.CreatedFrom})
	}
	if err := r.store.PutRules(ctx, rules, lines...); err != nil {
		return err
	}
	r.mu.Lock()
	list := slices.Clone(r.list)
	r.mu.Unlock()
	for _, rule := range rules {
		if i := slices.IndexFunc(list, func(old protocol.Rule) bool { return old.ID == rule.ID }); i >= 0 {
			rule.Hits, rule.LastUsed = list[i].Hits, list[i].LastUsed
			list[i] = rule
		} else {
			list = slices.Insert(list, 0, rule)
		}
	}
	return r.use(list)
}

// Delete takes a rule away, or withdraws a permission of a chat; Restore brings it back.
func (r *Rules) Delete(ctx context.Context, by, id string) error {
	defer r.changed()
	if grant, ok := strings.CutPrefix(id, protocol.GrantPrefix); ok {
		return r.markGrant(ctx, by, grant, time.Now().UnixMilli(), protocol.AuditGrantGone)
	}
	return r.mark(ctx, by, id, time.Now().UnixMilli(), protocol.AuditRuleDeleted)
}

// Restore brings a deleted rule back.
func (r *Rules) Restore(ctx context.Context, by, id string) error {
	defer r.changed()
	if grant, ok := strings.CutPrefix(id, protocol.GrantPrefix); ok {
		return r.markGrant(ctx, by, grant, 0, protocol.AuditGrantBack)
	}
	return r.mark(ctx, by, id, 0, protocol.AuditRuleBack)
}

func (r *Rules) mark(ctx context.Context, by, id string, at int64, kind string) error {
	r.change.Lock()
	defer r.change.Unlock()
	rule, ok := r.find(id)
	if !ok || (rule.DeletedAt > 0) == (at > 0) {
		return protocol.ErrNotFound.With("No such rule has the id " + id + ". Rules of toolApproval are changed in the configuration.")
	}
	rule.DeletedAt = at
	return r.save(ctx, by, kind, rule)
}
