package gemini

import (
	"strconv"
	"strings"
	"sync"
)

// style is the way in which a family of models is asked to think.
type style int

const (
	noStyle     style = iota // does not think, or the style is unknown
	budgetStyle              // 2.5: a number of tokens
	levelStyle               // from 3 on: a level
)

// styleOf derives the style from the name: "gemini-2.5-flash", "gemini-3-pro-preview". Other names
// have no known style.
func styleOf(name string) style {
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		return noStyle
	}
	number, _, _ := strings.Cut(rest, "-")
	version, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || version < 2.5 || version < 3 && strings.Contains(name, "image"):
		return noStyle
	case version < 3:
		return budgetStyle
	}
	return levelStyle
}

var budgets = map[string]int{"none": 0, "minimal": 1024, "low": 4096, "medium": 8192, "high": 16_384, "xhigh": 24_576}

var levels = map[string]string{
	"none": levelMinimal, "minimal": levelMinimal, "low": levelLow,
	"medium": levelMedium, "high": levelHigh, "xhigh": levelHigh,
}

// thinker records what a model has refused: levels, budgets, or any setting of thinking.
type thinker struct {
	style style

	mu      sync.Mutex
	refused map[string]bool
	budgets map[int]bool // refused as well
	silent  bool
}

// plan chooses the setting for a level (protocol.ThinkingLevels). An empty or refused level leaves
// the amount to the model. nil does not mention thinking at all.
func (t *thinker) plan(level string, known bool) *thinkingConfig {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.silent || t.style == noStyle && (!known || level == "none") {
		return nil
	}
	c := &thinkingConfig{IncludeThoughts: level != "none"}
	switch {
	case level == "":
	case t.style == budgetStyle && !t.budgets[budgets[level]]:
		c.ThinkingBudget = new(budgets[level])
	case t.style == levelStyle && !t.refused[levels[level]]:
		c.ThinkingLevel = levels[level]
	}
	return c
}

// learn records that a server refused a request because of its plan, and reports whether an attempt
// without it is worthwhile.
func (t *thinker) learn(c *thinkingConfig, reason string) bool {
	low := strings.ToLower(reason)
	if strings.Contains(low, "signature") || !strings.Contains(low, "thinking") && !strings.Contains(low, "thought") && !strings.Contains(low, "budget") {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case c.ThinkingLevel != "":
		if t.refused == nil {
			t.refused = map[string]bool{}
		}
		t.refused[c.ThinkingLevel] = true
	case c.ThinkingBudget != nil:
		if t.budgets == nil {
			t.budgets = map[int]bool{}
		}
		t.budgets[*c.ThinkingBudget] = true
	default:
		t.silent = true
	}
	return true
}
