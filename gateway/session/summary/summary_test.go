package summary

import (
	"testing"
	"time"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestBoundaryNeverPartsACallFromItsResult(t *testing.T) {
	t.Parallel()
	text := func(role protocol.Role) protocol.Message {
		return protocol.Message{Role: role, Content: protocol.Content{protocol.Text("x")}}
	}
	call := func(ids ...string) protocol.Message {
		m := protocol.Message{Role: protocol.RoleAssistant}
		for _, id := range ids {
			m.Content = append(m.Content, protocol.Block{Type: protocol.BlockToolCall, ID: id})
		}
		return m
	}
	result := func(id string) protocol.Message {
		return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, Content: protocol.Content{protocol.Text("r")}}
	}
	u, a := text(protocol.RoleUser), text(protocol.RoleAssistant)
	msgs := []protocol.Message{u, call("1", "2"), result("1"), result("2"), call("3"), result("3"), a, u, a, u, call("4"), u, a}
	//                         0  1               2            3            4          5            6  7  8  9  10         11 12
	for want, at := range map[int]int{0: 0, 1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 6: 6, 7: 7, 8: 7, 9: 9, 10: 9, 11: 11, 12: 12, 13: 0, -1: 0} {
		if got := Boundary(msgs, want, 1.5); got != at {
			t.Errorf("Boundary(%d): got %d, want %d", want, got, at)
		}
	}
	for want := 1; want < len(msgs); want++ {
		for _, slack := range []float64{1, 2, 100} {
			if at := Boundary(msgs, want, slack); at > want || msgs[at].Role == protocol.RoleToolResult {
				t.Errorf("Boundary(%d, %g): got %d, want at most %d and no result", want, slack, at, want)
			}
		}
	}
}

func TestAWindowOfNoSizeIsCondensedToo(t *testing.T) {
	t.Parallel()
	s := Summarizer{
		Model: llmtest.Script(llmtest.Say("<summary>They greeted.</summary><memories>- Ann grows tomatoes\nno fact\n- </memories>")),
		Info:  protocol.ModelInfo{ContextWindow: 1}, Timeout: time.Minute,
	}
	msgs := []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("💣")}}}
	got, err := s.Summarize(t.Context(), "", msgs, "")
	if err != nil || got.Text != "They greeted." || got.Memories != "- Ann grows tomatoes" {
		t.Errorf("got %+v, error %v, want the summary and the memories", got, err)
	}
}
