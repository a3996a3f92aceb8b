package gemini

import (
	"strconv"
	"strings"
	"sync"

	"google.golang.org/genai"
)

// style is how a family of models is asked to think.
type style int

const (
	styleNone   style = iota // does not think, or nothing is known of it
	styleBudget              // 2.5: a number of tokens
	styleLevel               // from 3 on: a word
)

// styleOf goes by the name: "gemini-2.5-flash", "gemini-3-pro-preview".
func styleOf(name string) style {
	v := version(name)
	switch {
	case strings.Contains(name, "image") || v < 2.5:
		return styleNone
	case v < 3:
		return styleBudget
	}
	return styleLevel
}

// version is 2.5 for "gemini-2.5-flash", and 0 for a name of another form. Names without a number ("gemini-flash-latest") are of
// the newest.
func version(name string) float64 {
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return 0
	}
	if strings.HasSuffix(rest, "-latest") && (strings.HasPrefix(rest, "flash") || strings.HasPrefix(rest, "pro")) {
		return 3
	}
	number, _, _ := strings.Cut(rest, "-")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return v
}

var budgets = map[string]int32{"none": 0, "minimal": 1024, "low": 4096, "medium": 8192, "high": 16_384, "xhigh": 24_576}

var levels = map[string]genai.ThinkingLevel{
	"none": genai.ThinkingLevelMinimal, "minimal": genai.ThinkingLevelMinimal, "low": genai.ThinkingLevelLow,
	"medium": genai.ThinkingLevelMedium, "high": genai.ThinkingLevelHigh, "xhigh": genai.ThinkingLevelHigh,
}

// Steps down from what was asked for, as far as a server refuses it.
const (
	stepAsked   = iota
	stepNearest // the least or the most that every model of the family can do
	stepFree    // as the model likes
	stepSilent  // thinking is not mentioned
)

// thinker knows what a model has refused.
type thinker struct {
	style style

	mu   sync.Mutex
	step int
}

// plan decides for a level (protocol.ThinkingLevels); an empty one leaves it to the model. The step is for learn.
func (t *thinker) plan(level string, thinks bool) (*genai.ThinkingConfig, int) {
	t.mu.Lock()
	step := t.step
	t.mu.Unlock()
	if step == stepSilent || t.style == styleNone && (level == "" || level == "none" || !thinks) {
		return nil, step
	}
	c := &genai.ThinkingConfig{IncludeThoughts: level != "none"}
	switch {
	case level == "" || step == stepFree:
	case t.style == styleBudget || t.style == styleNone:
		b := budgets[level]
		if step == stepNearest && level == "none" { // the Pro models cannot but think
			b = 128
		}
		c.ThinkingBudget = &b
	default:
		l := levels[level]
		if step == stepNearest {
			switch l {
			case genai.ThinkingLevelMinimal:
				l = genai.ThinkingLevelLow
			case genai.ThinkingLevelMedium:
				l = genai.ThinkingLevelHigh
			}
		}
		c.ThinkingLevel = l
	}
	return c, step
}

// learn notes that a request with the plan of step was refused, and reports whether a lesser one is worth a try.
func (t *thinker) learn(step int, reason string) bool {
	low := strings.ToLower(reason)
	if !strings.Contains(low, "thinking") && !strings.Contains(low, "thought") && !strings.Contains(low, "budget") || strings.Contains(low, "signature") {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step = max(t.step, step+1)
	return true
}
