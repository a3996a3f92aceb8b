package policy

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// applies reports whether all conditions of a rule except argv and path are met. A strict rule
// applies if that is uncertain.
func (ma *matcher) applies(r *rule, tool string) bool {
	strict := r.Verdict != Allow
	fold := func(g glob, s string) bool { return g.match(s) || strict && g.match(strings.ToLower(s)) }
	switch {
	case !fold(r.tool, tool):
		return false
	case r.node.literal() && ma.call.Node == "" && !strict:
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
		holds, known := c.holds(ma.args())
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
	for _, d := range ma.resolver.dirs {
		if in := ma.resolver.is(d, r.cwd, r.tree, strict); in == strict {
			// for a strict rule one folder is enough, for an allow rule all must match
			return strict
		}
	}
	return !strict
}

func matchesExactly(want, have string, strict bool) bool {
	return want == "" || want == "*" || want == have || strict && have == ""
}

// args returns the call's decoded arguments.
func (ma *matcher) args() (args any) {
	if json.Unmarshal(ma.call.Args, &args) != nil {
		return nil
	}
	return args
}

// holds evaluates a condition on a call's decoded arguments; known is false if the argument is
// missing or has another type.
func (c Cond) holds(args any) (holds, known bool) {
	v := args
	for name := range strings.SplitSeq(c.Path, ".") {
		switch node := v.(type) {
		case map[string]any:
			next, ok := node[name]
			if !ok {
				return false, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(node) {
				return false, false
			}
			v = node[i]
		default:
			return false, false
		}
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
