package policy

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestToolPatternOfTheSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, tool string
		want          bool
	}{
		{"a*b", "ab", true},
		{"*", "", true},
		{"a*b*c", "axxbyyc", true},
		{"*__Bash", "n__Bash", true},
		{"a*b", "a", false},
		{"Bash", "n__Bash", false},
		{"a*a", "a", false},
		{"*x", "xy", false},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			s := Settings{Rules: []SettingsRule{{Tool: c.pattern, Verdict: Allow}}}
			if _, got := s.rule(Request{Tool: protocol.ToolName(c.tool)}); got != c.want {
				t.Errorf("%q and %q: got %t, want %t", c.pattern, c.tool, got, c.want)
			}
		})
	}
}
