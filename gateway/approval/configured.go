package approval

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"fairlead/gateway/config"
)

func ruleWhy(r config.ToolRule) string {
	if r.Reason != "" {
		return r.Reason
	}
	return fmt.Sprintf("rule %s says so", r.ID)
}

// firstRule returns the first configured rule that matches a request, as in the original system.
func firstRule(rules []config.ToolRule, r Request) (config.ToolRule, bool) {
	if len(rules) == 0 {
		return config.ToolRule{}, false
	}
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

// wildcard reports whether s matches a pattern in which * stands for any text.
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

// holds evaluates a condition; one that cannot be evaluated is false.
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
		re, err := w.Regex()
		return err == nil && re.MatchString(have)
	}
	return false
}

// at returns the value at a dotted path with numeric indexes.
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
