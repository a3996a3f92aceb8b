package llm

import (
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestNoCallIDIsSentTwice: servers that number calls anew in each answer made a chat unusable with
// a stricter server.
func TestNoCallIDIsSentTwice(t *testing.T) {
	long := strings.Repeat("x", 60)
	var in []protocol.Message
	for turn := range 12 {
		text := fmt.Sprint(turn)
		in = append(in, userMessage("go on"), calls("call_0", "call.0", "call_0_2", long), toolResult("call_0", text), toolResult("call.0", text), toolResult("call_0_2", text), toolResult(long, text))
	}
	was := outline(in)
	var before string
	for turns := 1; turns <= 12; turns++ {
		got := Repair(in[:6*turns], protocol.ModelInfo{})
		if now := outline(got); !strings.HasPrefix(now, before) {
			t.Fatalf("turn %d changes what was sent before: %s, was %s", turns, now, before)
		} else {
			before = now
		}
		seen := map[string]bool{}
		for i, m := range got {
			for n, c := range m.Content.Calls() {
				if seen[PlainID(c.ID)] {
					t.Errorf("turn %d sends %s twice", turns, c.ID)
				}
				seen[PlainID(c.ID)] = true
				if r := got[i+1+n]; r.ToolCallID != c.ID || r.Content.Text() != fmt.Sprint(i/6) {
					t.Errorf("turn %d: %s is answered by %s, %q, want its own result", turns, c.ID, r.ToolCallID, r.Content.Text())
				}
				if len(c.ID) > maxCallID && c.ID != long {
					t.Errorf("%s is too long, want at most %d characters", c.ID, maxCallID)
				}
			}
		}
	}
	if outline(in) != was {
		t.Error("what is stored was changed")
	}
}
