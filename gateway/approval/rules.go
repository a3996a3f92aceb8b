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

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// RuleStore keeps rules and what is told of them.
type RuleStore interface {
	Rules(ctx context.Context) ([]protocol.Rule, error)
	PutRules(ctx context.Context, rules []protocol.Rule, lines ...protocol.AuditEntry) error
	CountRule(ctx context.Context, id string, at int64) error
	Grants(ctx context.Context, session protocol.SessionKey) ([]store.Grant, error)
	PutGrant(ctx context.Context, g store.Grant, lines ...protocol.AuditEntry) error
	MarkGrant(ctx context.Context, id string, deletedAt int64, lines ...protocol.AuditEntry) (bool, error)
}

// Rules are the person's rules. They are safe for use by many goroutines.
type Rules struct {
	store  RuleStore
	config func() config.ToolApproval
	// changed is called after every change, without any lock.
	changed func()
	// names says what the person calls a machine; "" is by its id alone.
	names func(protocol.NodeID) string

	change sync.Mutex // held by whoever changes rules, over the store: one change after the other

	mu   sync.Mutex // guards what follows
	list []protocol.Rule
	set  *policy.Set // nil asks about everything
	sum  string      // over the rules that decide
}

// OpenRules loads the rules. One that is not understood, or does not meet its own examples, is switched off and says why; the others hold.
func OpenRules(ctx context.Context, s RuleStore, cfg func() config.ToolApproval) (*Rules, error) {
	r := &Rules{store: s, config: cfg, changed: func() {}, names: func(protocol.NodeID) string { return "" }}
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

// Name sets what says what the person calls a machine. To be called once, before the rules are used.
func (r *Rules) Name(f func(protocol.NodeID) string) { r.names = f }

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
	doubt := "" // a rule that may hold something back is not known
	for i := range list {
		rule := &list[i]
		rule.Problem = ""
		if rule.DeletedAt > 0 {
			continue
		}
		p, problem := prepare(*rule)
		if problem != "" {
			rule.Problem = problem
			if p.Verdict != policy.Allow {
				doubt = "a rule that may ask or deny is switched off, for " + problem
			}
			continue
		}
		file.Rules = append(file.Rules, p)
	}
	set, problems, err := policy.New(file)
	if err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	set.Doubt(doubt)
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

// doubt says why nothing with an effect passes unasked: a rule that may hold something back could not be loaded. "" when all were.
func (r *Rules) doubt() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.set.Doubted()
}

// hides reports why a command may hold what a rule asks about or denies, where whatever no rule names is let pass; "" when it does not.
func (r *Rules) hides(c policy.Call) string {
	r.mu.Lock()
	loose := r.set.Loosened()
	r.mu.Unlock()
	if loose == nil || c.Command == "" {
		return ""
	}
	if j := loose.Judge(c); j.Verdict != Allow {
		return j.Reason
	}
	return ""
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
