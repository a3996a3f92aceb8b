package approval

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// activeRules are the rules that decide now. It is safe for concurrent use.
type activeRules struct {
	mu   sync.Mutex // guards the fields below
	list []protocol.Rule
	set  *policy.Set // nil means that everything needs an approval
	sum  string      // checksum of the active rules
}

// activate prepares a list of rules and activates it. It fills in the rules' problems.
func (a *activeRules) activate(list []protocol.Rule) error {
	var file policy.File
	doubt := "" // a rule that may ask or deny could not be loaded
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
				doubt = "A rule that may ask or deny is turned off: " + problem
			}
			continue
		}
		file.Rules = append(file.Rules, p)
	}
	file.Doubt = doubt
	set, problems, err := policy.New(file)
	if err != nil {
		return fmt.Errorf("preparing rules: %w", err)
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
		return fmt.Errorf("preparing rules: %w", err)
	}
	sum := sha256.Sum256(raw)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list, a.set, a.sum = list, set, string(sum[:])
	return nil
}

// prepare parses one rule on its own, so that a broken one does not turn off the others.
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

// find returns a rule by its ID.
func (a *activeRules) find(id string) (protocol.Rule, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(rule protocol.Rule) bool { return rule.ID == id })
	if i < 0 {
		return protocol.Rule{}, false
	}
	return a.list[i], true
}

// all returns the rules, including deleted ones.
func (a *activeRules) all() []protocol.Rule {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.list)
}

// current returns the rules in the form that decides, and their checksum.
func (a *activeRules) current() (set *policy.Set, sum string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.set, a.sum
}

// countUse counts the use of a rule.
func (a *activeRules) countUse(id string, at int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.IndexFunc(a.list, func(rule protocol.Rule) bool { return rule.ID == id }); i >= 0 {
		a.list[i].Hits, a.list[i].LastUsed = a.list[i].Hits+1, at
	}
}
