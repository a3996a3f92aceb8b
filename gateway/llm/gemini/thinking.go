package gemini

import (
	"cmp"
	"strconv"
	"strings"
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
	"none": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "HIGH",
}

// anySetting stands for every setting of thinking in [model.refused].
const anySetting = "thinking"

// setting identifies c: its level, its budget, or that it has neither.
func (c *thinkingConfig) setting() string {
	if c.ThinkingBudget != nil {
		return strconv.Itoa(*c.ThinkingBudget)
	}
	return cmp.Or(c.ThinkingLevel, anySetting)
}

// thinking chooses the setting for a level (protocol.ThinkingLevels). An empty or refused level
// leaves the amount to the model. nil does not mention thinking at all.
func (m *model) thinking(level string) *thinkingConfig {
	if m.refused.Has(anySetting) || m.style == noStyle && (!m.Info.Thinking || level == "none") {
		return nil
	}
	c := thinkingConfig{IncludeThoughts: level != "none"}
	exact := c
	switch {
	case level == "":
	case m.style == budgetStyle:
		exact.ThinkingBudget = new(budgets[level])
	case m.style == levelStyle:
		exact.ThinkingLevel = levels[level]
	}
	if m.refused.Has(exact.setting()) {
		return &c
	}
	return &exact
}

// learn records that a server refused a request because of its setting, and reports whether an
// attempt without it is worthwhile.
func (m *model) learn(c *thinkingConfig, reason string) bool {
	low := strings.ToLower(reason)
	if strings.Contains(low, "signature") || !strings.Contains(low, "thinking") && !strings.Contains(low, "thought") && !strings.Contains(low, "budget") {
		return false
	}
	m.refused.Add(c.setting())
	return true
}
