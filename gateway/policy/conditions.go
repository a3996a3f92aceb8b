package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// applies reports whether a rule's conditions except argv and path are met; strict, or may be.
func (ma *matcher) applies(r *rule, tool string) bool {
	strict := r.Verdict != Allow
	fold := func(g wordGlob, s string) bool { return g.match(s) || strict && g.match(strings.ToLower(s)) }
	switch {
	case !fold(r.tool, tool):
		return false
	case !r.node.match(string(ma.call.Node)) && !(strict && ma.call.Node == ""):
		return false
	case !matchesExactly(r.Rule.Node, string(ma.call.Node), strict), !matchesExactly(r.Agent, string(ma.call.Agent), strict),
		!matchesExactly(r.Session, string(ma.call.Session), strict):
		return false
	case isExpired(r.Expires, ma.now):
		return false
	}
	for _, c := range r.When {
		holds, known := c.holds(decodeArgs(ma.call.Args))
		if !holds && (known || !strict) {
			return false
		}
	}
	if r.cwd == "" {
		return true
	}
	if ma.resolver.dirs == nil {
		return strict
	}
	// for a strict rule one folder is enough, for an allow rule all must match
	one := slices.ContainsFunc(ma.resolver.dirs, func(d string) bool { return ma.resolver.is(d, r.cwd, r.tree, strict) == strict })
	return one == strict
}

func matchesExactly(want, have string, strict bool) bool {
	return want == "" || want == "*" || want == have || strict && have == ""
}

func decodeArgs(raw json.RawMessage) (args any) {
	if json.Unmarshal(raw, &args) != nil {
		return nil
	}
	return args
}

// holds evaluates a condition; known is false if the argument is missing or has another type.
func (c Cond) holds(args any) (holds, known bool) {
	v, ok := protocol.PartAt(args, strings.Split(c.Path, "."))
	if !ok {
		return false, false
	}
	if c.Op == "equals" {
		return reflect.DeepEqual(v, c.Value), true
	}
	have, ok1 := v.(string)
	want, ok2 := c.Value.(string)
	if !ok1 || !ok2 {
		return false, false
	}
	switch c.Op {
	case "contains":
		return strings.Contains(have, want), true
	case "startsWith":
		return strings.HasPrefix(have, want), true
	}
	re, err := regexp.Compile(want)
	return err == nil && re.MatchString(have), err == nil
}

// Settings is the part of the configuration that decides calls, in the form of GSV.
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

// rule returns the first rule that matches. A condition that cannot be evaluated is not met.
func (s Settings) rule(q Request) (SettingsRule, bool) {
	args := decodeArgs(q.Args)
	for _, r := range s.Rules {
		met := wordGlob{parts: strings.Split(r.Tool, "*")}.match(string(q.Tool))
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
