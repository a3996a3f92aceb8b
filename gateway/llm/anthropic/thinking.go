package anthropic

import (
	"strconv"
	"strings"
)

// plan is the way in which one request asks for thinking.
type plan struct {
	kind   string // "": not mentioned; else adaptive, budget or off
	effort string
	budget int64
}

const (
	planAdaptive = "adaptive"
	planBudget   = "budget"
	planOff      = "off"
	anyEffort    = "effort" // refused with any value
)

var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 10_000, "high": 24_000, "xhigh": 48_000}

var efforts = map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}

// plan chooses the plan for a level (protocol.ThinkingLevels). An empty level leaves the decision
// to the model: an adaptive one may think, one that needs a budget answers without thinking. Models
// from 4.6 on decide themselves how much to think and accept an effort; earlier ones need a budget
// of tokens; other servers may support neither. A refused way is not used again.
func (m *model) plan(level string) plan {
	var p plan
	switch {
	case level == "none":
		// If thinking is not mentioned, only an adaptive model would think.
		if m.adaptive && !m.refused.Has(planOff) {
			p.kind = planOff
		}
		return p
	case level == "" && !(m.Info.Thinking && m.adaptive):
		return p
	case m.adaptive && !m.refused.Has(planAdaptive):
		p.kind = planAdaptive
	case level != "" && !m.refused.Has(planBudget):
		p.kind, p.budget = planBudget, budgets[level]
	case level != "" && !m.refused.Has(planAdaptive):
		p.kind = planAdaptive
	}
	if p.kind == planAdaptive && !m.refused.Has(anyEffort) {
		p.effort = efforts[level]
		if m.refused.Has(p.effort) {
			p.effort = "high"
		}
	}
	return p
}

// learn records that a server refused a request because of its plan, and reports whether another
// plan is worth a try.
func (m *model) learn(p plan, reason string) bool {
	low := strings.ToLower(reason)
	switch {
	case p.effort != "" && (strings.Contains(low, "effort") || strings.Contains(low, "output_config")):
		if p.effort == "xhigh" && m.refused.Add(p.effort) {
			return true
		}
		return m.refused.Add(anyEffort)
	case p.kind != "" && (strings.Contains(low, "thinking") || strings.Contains(low, "adaptive") || strings.Contains(low, "budget")):
		return m.refused.Add(p.kind)
	}
	return false
}

// adaptive reports whether a model, by its name ("claude-opus-4-6", "claude-sonnet-5"), is version
// 4.6 or later.
func adaptive(id string) bool {
	rest, ok := strings.CutPrefix(id[strings.LastIndexByte(id, '/')+1:], "claude-")
	if !ok {
		return false
	}
	var version []int
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' }) {
		if n, err := strconv.Atoi(part); err == nil && n < 100 { // a larger number is a date
			version = append(version, n)
		}
	}
	if len(version) == 0 {
		return strings.HasPrefix(rest, "mythos")
	}
	return version[0] >= 5 || version[0] == 4 && len(version) > 1 && version[1] >= 6
}
