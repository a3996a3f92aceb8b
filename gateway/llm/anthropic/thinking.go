package anthropic

import (
	"strconv"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// plan is the way in which one request asks for thinking.
type plan struct {
	kind   string // "": not mentioned; else adaptive, budget or off
	effort sdk.OutputConfigEffort
	budget int64
}

const (
	planAdaptive = "adaptive"
	planBudget   = "budget"
	planOff      = "off"
)

// thinker learns which ways of asking for thinking a model accepts. Models from 4.6 on decide
// themselves how much to think and accept an effort; earlier ones need a budget of tokens; other
// servers may support neither. A refused way is not used again.
type thinker struct {
	adaptive bool

	mu       sync.Mutex
	refused  map[string]bool // kinds of plan
	noEffort bool
	noXhigh  bool
}

var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 10_000, "high": 24_000, "xhigh": 48_000}

var efforts = map[string]sdk.OutputConfigEffort{
	"minimal": sdk.OutputConfigEffortLow, "low": sdk.OutputConfigEffortLow, "medium": sdk.OutputConfigEffortMedium,
	"high": sdk.OutputConfigEffortHigh, "xhigh": sdk.OutputConfigEffortXhigh,
}

// plan chooses the plan for a level (protocol.ThinkingLevels). An empty level leaves the decision
// to the model: an adaptive one may think, one that needs a budget answers without thinking.
func (t *thinker) plan(level string, known bool) plan {
	t.mu.Lock()
	defer t.mu.Unlock()
	var p plan
	switch {
	case level == "none":
		// If thinking is not mentioned, only an adaptive model would think.
		if t.adaptive && !t.refused[planOff] {
			p.kind = planOff
		}
		return p
	case level == "" && !(known && t.adaptive):
		return p
	case t.adaptive && !t.refused[planAdaptive]:
		p.kind = planAdaptive
	case level != "" && !t.refused[planBudget]:
		p.kind, p.budget = planBudget, budgets[level]
	case level != "" && !t.refused[planAdaptive]:
		p.kind = planAdaptive
	}
	if p.kind == planAdaptive && !t.noEffort {
		p.effort = efforts[level]
		if p.effort == sdk.OutputConfigEffortXhigh && t.noXhigh {
			p.effort = sdk.OutputConfigEffortHigh
		}
	}
	return p
}

// learn records that a server refused a request because of its plan, and reports whether another
// plan is worth a try.
func (t *thinker) learn(p plan, reason string) bool {
	low := strings.ToLower(reason)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case p.effort != "" && (strings.Contains(low, "effort") || strings.Contains(low, "output_config")):
		if p.effort == sdk.OutputConfigEffortXhigh && !t.noXhigh {
			t.noXhigh = true
			return true
		}
		already := t.noEffort
		t.noEffort = true
		return !already
	case p.kind != "" && (strings.Contains(low, "thinking") || strings.Contains(low, "adaptive") || strings.Contains(low, "budget")):
		if t.refused == nil {
			t.refused = map[string]bool{}
		}
		already := t.refused[p.kind]
		t.refused[p.kind] = true
		return !already
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
	switch len(version) {
	case 0:
		return strings.HasPrefix(rest, "mythos")
	case 1:
		return version[0] >= 5
	}
	return version[0] > 4 || version[0] == 4 && version[1] >= 6
}
