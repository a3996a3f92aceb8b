package chat

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestUsageIsExplained(t *testing.T) {
	t.Parallel()
	cost := func(c float64) *float64 { return &c }
	for name, c := range map[string]struct {
		entry protocol.SessionEntry
		want  string
	}{
		"before the first answer": {protocol.SessionEntry{Usage: &protocol.Usage{}}, ""},
		"everything is known": {
			protocol.SessionEntry{ContextTokens: 50_000, ContextWindow: 200_000, Usage: &protocol.Usage{Input: 10_000, CacheRead: 30_000, Output: 2_000, Total: 42_000, Cost: cost(0.123)}},
			"The model read 50k tokens in its last step: this chat, its instructions and tools. That is 25% of the 200k that it can read; older messages are summarized before it is full.\n\n" +
				"All answers together: 40k tokens read (30k of them from a cache, which costs less) and 2k written. They cost $0.12.",
		},
		"a local model": {
			protocol.SessionEntry{ContextTokens: 900, Usage: &protocol.Usage{Input: 800, Output: 100, Total: 900}},
			"The model read 900 tokens in its last step: this chat, its instructions and tools.\n\nAll answers together: 800 tokens read and 100 written. Their cost is not known.",
		},
		"little": {protocol.SessionEntry{Usage: &protocol.Usage{Input: 1, Total: 1, Cost: cost(0.001)}}, "All answers together: 1 tokens read and 0 written. They cost less than $0.01."},
	} {
		if got := UsageWords(c.entry); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestUsageIsShortInTheComposer(t *testing.T) {
	for want, e := range map[string]protocol.SessionEntry{
		"": {}, "42k of 200k · $0.12": {ContextTokens: 42000, ContextWindow: 200000, Usage: &protocol.Usage{Cost: new(0.12)}},
	} {
		if got := usageText(e); got != want {
			t.Errorf("usageText: got %q, want %q", got, want)
		}
	}
}
