package approval

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// matches reports whether a rule is about a call.
func matches(rule config.ToolRule, name protocol.ToolName, args json.RawMessage) bool {
	if !wildcard(rule.Tool, string(name)) {
		return false
	}
	if len(rule.When) == 0 {
		return true
	}
	var v any
	if err := json.NewDecoder(bytes.NewReader(args)).Decode(&v); err != nil {
		return false
	}
	for _, w := range rule.When {
		if got, ok := lookup(v, w.Path); !ok || !holds(w, got) {
			return false
		}
	}
	return true
}

// wildcard matches the whole of s; * is any text, and case counts.
func wildcard(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
}

// lookup follows a dotted path with numeric array indexes.
func lookup(v any, path string) (any, bool) {
	for _, key := range strings.Split(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			next, ok := t[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(t) {
				return nil, false
			}
			v = t[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// holds tests one condition. An operation nobody knows and a broken expression hold never.
func holds(w config.ToolWhen, got any) bool {
	if w.Op == "equals" {
		return reflect.DeepEqual(normal(got), normal(w.Value))
	}
	s, ok := got.(string)
	want, ok2 := w.Value.(string)
	if !ok || !ok2 {
		return false
	}
	switch w.Op {
	case "contains":
		return strings.Contains(s, want)
	case "startsWith":
		return strings.HasPrefix(s, want)
	case "regex":
		var flags string
		for _, f := range w.Flags {
			if strings.ContainsRune("ims", f) {
				flags += string(f)
			}
		}
		if flags != "" {
			want = "(?" + flags + ")" + want
		}
		re, err := regexp.Compile(want)
		return err == nil && re.MatchString(s)
	}
	return false
}

// normal gives a value the types that decoded JSON has.
func normal(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(raw, &out) != nil {
		return v
	}
	return out
}
