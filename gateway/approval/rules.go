// Package approval holds the rules and the grants that the person has saved. Package policy decides
// with them about calls, and package question asks the person.
package approval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// RuleStore saves rules and their use.
type RuleStore interface {
	List(ctx context.Context) ([]protocol.Rule, error)
	Put(ctx context.Context, c store.RuleChange) error
	CountHit(ctx context.Context, id string, at int64) error
}

// GrantStore stores the permissions for chats durably before it returns.
type GrantStore interface {
	List(ctx context.Context, session protocol.SessionKey) ([]store.Grant, error)
	Put(ctx context.Context, g store.Grant, lines ...protocol.AuditEntry) error
	SetDeleted(ctx context.Context, id string, deletedAt int64, lines ...protocol.AuditEntry) (bool, error)
}

// Rules holds the person's rules. It is safe for concurrent use.
type Rules struct {
	store       RuleStore
	grants      GrantStore
	config      func() config.Config
	machineName func(protocol.NodeID) string
	bus         *event.Bus
	uses        Uses

	// held during a change of the rules, including the store
	change sync.Mutex

	active activeRules
}

// RulesOptions configure rules. Config is required.
type RulesOptions struct {
	Config func() config.Config
	// MachineName returns the person's name of a machine; "" means that it has only its ID.
	MachineName func(protocol.NodeID) string
	Bus         *event.Bus
	Uses        Uses // of grants
}

// Uses records when grants are used.
type Uses interface {
	Record(id string)
	Last(id string) int64
}

// noUses records nothing.
type noUses struct{}

func (noUses) Record(string)     {}
func (noUses) Last(string) int64 { return 0 }

// OpenRules loads the rules. It turns off those that are invalid or fail their own examples.
func OpenRules(ctx context.Context, s RuleStore, grants GrantStore, o RulesOptions) (*Rules, error) {
	r := &Rules{store: s, grants: grants, config: o.Config, machineName: o.MachineName, bus: cmp.Or(o.Bus, new(event.Bus)), uses: cmp.Or(o.Uses, Uses(noUses{}))}
	if r.machineName == nil {
		r.machineName = func(protocol.NodeID) string { return "" }
	}
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.active.activate(list); err != nil {
		return nil, err
	}
	for _, rule := range list {
		if rule.Problem != "" {
			slog.Warn("Rule is turned off", "rule", rule.ID, "err", rule.Problem)
		}
	}
	return r, nil
}

// publish publishes that rules or grants have changed. The caller holds no lock.
func (r *Rules) publish() { r.bus.Publish(protocol.Change{Kind: protocol.ChangeRules}) }

// Version identifies the state of the rules: it changes when the rules do.
func (r *Rules) Version() string {
	raw, _ := protocol.Marshal(r.config().ToolApproval) // cannot fail: it was decoded from JSON
	_, rules := r.active.current()
	sum := sha256.Sum256(append(raw, rules...))
	return hex.EncodeToString(sum[:8])
}

// current returns the policy for a decision now.
func (r *Rules) current() policy.Policy {
	cfg := r.config().ToolApproval
	p := policy.Policy{Settings: policy.Settings{Default: policy.Verdict(cfg.DefaultDecision)}}
	for _, c := range cfg.Rules {
		p.Settings.Rules = append(p.Settings.Rules, settingsRule(c))
	}
	p.Rules, _ = r.active.current()
	return p
}

func settingsRule(c config.ToolRule) policy.SettingsRule {
	rule := policy.SettingsRule{ID: c.ID, Tool: c.Tool, Verdict: policy.Verdict(c.Decision), Reason: c.Reason}
	for _, w := range c.When {
		cond := policy.Cond{Path: w.Path, Op: w.Op, Value: w.Value}
		if re, err := w.Regex(); w.Op == "regex" && err == nil {
			cond.Value = re.String() // with its flags
		}
		rule.When = append(rule.When, cond)
	}
	return rule
}

// Decide decides a call and counts the use of the rules that decided it. It logs a failure to count.
func (r *Rules) Decide(ctx context.Context, q policy.Request) policy.Decision {
	d := r.Evaluate(q)
	for _, id := range d.Uses {
		r.countUse(ctx, id)
	}
	if d.Grant != "" {
		r.uses.Record(protocol.GrantPrefix + d.Grant)
	}
	return d
}

func (r *Rules) countUse(ctx context.Context, id string) {
	if _, ok := r.active.find(id); !ok {
		return
	}
	now := time.Now().UnixMilli()
	if err := r.store.CountHit(context.WithoutCancel(ctx), id, now); err != nil {
		slog.Warn("Counting the use of a rule failed", "rule", id, "err", err)
		return
	}
	r.active.countUse(id, now)
}

// Evaluate is Decide without counting the use of a rule.
func (r *Rules) Evaluate(q policy.Request) policy.Decision { return r.current().Decide(q) }
