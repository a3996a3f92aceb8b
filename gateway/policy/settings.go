package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// Settings is the part of the configuration that decides calls, in the form of the original system.
type Settings struct {
	Default Verdict // for calls that nothing else decides; "" asks
	Rules   []SettingsRule
}

// SettingsRule decides the calls whose full tool name matches Tool, in which * stands for any text,
// and whose arguments meet every condition. The first rule that matches applies.
type SettingsRule struct {
	ID      string
	Tool    string
	When    []Cond
	Verdict Verdict
	Reason  string
}

func (r SettingsRule) reason() string {
	return cmp.Or(r.Reason, fmt.Sprintf("Rule %s of your settings applies", r.ID))
}

// rule returns the first rule that matches a request. A condition that cannot be evaluated is not
// met.
func (s Settings) rule(q Request) (SettingsRule, bool) {
	if len(s.Rules) == 0 {
		return SettingsRule{}, false
	}
	var args any
	if json.Unmarshal(q.Args, &args) != nil {
		args = nil
	}
	for _, r := range s.Rules {
		met := glob{parts: strings.Split(r.Tool, "*")}.match(string(q.Tool))
		for _, c := range r.When {
			holds, _ := c.holds(args)
			met = met && holds
		}
		if met {
			return r, true
		}
	}
	return SettingsRule{}, false
}
