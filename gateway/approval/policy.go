package approval

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Verdict is what happens with a call.
type Verdict string

const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Request is everything a decision depends on.
type Request struct {
	Tool    protocol.ToolName
	Node    protocol.NodeID
	Bare    string // the tool's bare name
	Effect  protocol.Effect
	Args    json.RawMessage
	Preview *protocol.CallPreview // nil: the node could not say what the call would touch
	Direct  bool                  // the person's own act
	Grants  []store.Grant         // of the session
}

// Decision is a verdict with its reason, one sentence for the person.
type Decision struct {
	Verdict Verdict
	Why     string
}

// Decide applies the person's rules, then what was granted, then the defaults: reading inside the workspace is allowed, everything else
// is asked about.
func Decide(rules config.ToolApproval, r Request) Decision {
	rule, found := firstRule(rules.Rules, r)
	verdict := Verdict("")
	if found {
		verdict = Verdict(rule.Decision)
	}
	if verdict == Deny {
		return Decision{Deny, ruleWhy(rule)}
	}
	if r.Direct {
		return Decision{Allow, "you did it yourself"}
	}
	switch verdict {
	case Allow:
		return Decision{Allow, ruleWhy(rule)}
	case Ask:
		return Decision{Ask, ruleWhy(rule)}
	}
	if granted(r) {
		return Decision{Allow, "you allowed it for this chat"}
	}
	if r.Effect == protocol.EffectRead && r.Preview != nil && !r.Preview.Outside {
		return Decision{Allow, "it reads inside the workspace"}
	}
	switch Verdict(rules.DefaultDecision) {
	case Allow:
		return Decision{Allow, "your configuration allows what no rule names"}
	case Deny:
		return Decision{Deny, "your configuration denies what no rule names"}
	}
	return Decision{Ask, askWhy(r)}
}

func askWhy(r Request) string {
	switch {
	case r.Preview == nil:
		return "this machine cannot say beforehand what the call would touch"
	case r.Effect == protocol.EffectRead:
		return "it reads outside the workspace"
	case r.Effect == protocol.EffectWrite && r.Preview.Outside:
		return "it changes a file outside the workspace"
	case r.Effect == protocol.EffectWrite:
		return "changing files is asked about"
	case r.Effect == protocol.EffectExec:
		return "running commands is asked about"
	case r.Effect == protocol.EffectNetwork:
		return "it uses the network"
	}
	return "nobody has said what this tool can do"
}

func ruleWhy(r config.ToolRule) string {
	if r.Reason != "" {
		return r.Reason
	}
	return fmt.Sprintf("rule %s says so", r.ID)
}

// firstRule finds the first rule that matches, as the original does (gsv interop notes, approval).
func firstRule(rules []config.ToolRule, r Request) (config.ToolRule, bool) {
	var args any
	if json.Unmarshal(r.Args, &args) != nil {
		args = nil
	}
	for _, rule := range rules {
		if !wildcard(rule.Tool, string(r.Tool)) {
			continue
		}
		all := true
		for _, w := range rule.When {
			all = all && holds(w, args)
		}
		if all {
			return rule, true
		}
	}
	return config.ToolRule{}, false
}

// wildcard reports whether s matches a pattern in which * is any text.
func wildcard(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return strings.HasSuffix(s, parts[len(parts)-1])
}

// holds evaluates a condition; what cannot be evaluated does not hold.
func holds(w config.ToolWhen, args any) bool {
	v, ok := at(args, w.Path)
	if !ok {
		return false
	}
	if w.Op == "equals" {
		return reflect.DeepEqual(v, w.Value)
	}
	have, ok1 := v.(string)
	want, ok2 := w.Value.(string)
	if !ok1 || !ok2 {
		return false
	}
	switch w.Op {
	case "contains":
		return strings.Contains(have, want)
	case "startsWith":
		return strings.HasPrefix(have, want)
	case "regex":
		if flags := strings.Trim(w.Flags, "gu"); flags != "" {
			want = "(?" + flags + ")" + want
		}
		re, err := regexp.Compile(want)
		return err == nil && re.MatchString(have)
	}
	return false
}

// at follows a dotted path with numeric indexes.
func at(v any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// SessionGrant says what an allow for the session would let through: in the form that calls are compared with, and in words. ok is false
// where nothing narrow enough can be said.
func SessionGrant(r Request) (match, words string, ok bool) {
	if r.Preview == nil || r.Preview.Truncated {
		return "", "", false
	}
	switch r.Effect {
	case protocol.EffectExec:
		args, err := Canonical(r.Args)
		if err != nil {
			return "", "", false
		}
		return "call " + r.Preview.Folder + " " + string(args), "exactly this command, in this folder", true
	case protocol.EffectWrite, protocol.EffectRead:
		if r.Preview.Path == "" {
			return "", "", false
		}
		return "path " + r.Preview.Path, fmt.Sprintf("any %s of %s", strings.ToLower(r.Bare), r.Preview.Path), true
	}
	return "", "", false
}

func granted(r Request) bool {
	match, _, ok := SessionGrant(r)
	if !ok {
		return false
	}
	for _, g := range r.Grants {
		if g.Node == r.Node && g.Tool == r.Bare && g.Match == match {
			return true
		}
	}
	return false
}
