package llm

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func userMessage(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

func calls(ids ...string) protocol.Message {
	m := protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("I will.")}}
	for _, id := range ids {
		m.Content = append(m.Content, protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: "x__Bash", Arguments: json.RawMessage("{}"), Opaque: json.RawMessage(`{"wire":"w"}`)})
	}
	return m
}

func toolResult(id, text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolCallID: id, ToolName: "x__Bash", Content: protocol.Content{protocol.Text(text)}}
}

func from(origin string, m protocol.Message) protocol.Message {
	m.Origin = origin
	return m
}

// outline writes a conversation in one line.
func outline(list []protocol.Message) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(string(m.Role)[:1])
		for _, c := range m.Content.Calls() {
			b.WriteString("(" + c.ID + ")")
		}
		if m.Role == protocol.RoleToolResult {
			b.WriteString("(" + m.ToolCallID + " " + m.Content.Text() + ")")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func TestEveryCallIsFollowedByItsResult(t *testing.T) {
	const lost = "Error: this call was interrupted; its outcome is unknown."
	for _, tc := range []struct {
		name string
		in   []protocol.Message
		want string
	}{
		{"in order", []protocol.Message{userMessage("a"), calls("1", "2"), toolResult("2", "b"), toolResult("1", "a")}, "u a(1)(2) t(1 a) t(2 b)"},
		{"interrupted", []protocol.Message{userMessage("a"), calls("1", "2"), toolResult("2", "b"), userMessage("c")}, "u a(1)(2) t(1 " + lost + ") t(2 b) u"},
		{"a stray result", []protocol.Message{toolResult("0", "z"), userMessage("a"), toolResult("9", "y")}, "u"},
		{"twice", []protocol.Message{calls("1"), toolResult("1", "a"), toolResult("1", "again")}, "a(1) t(1 a)"},
		{"one id again", []protocol.Message{calls("1"), toolResult("1", "a"), calls("1"), toolResult("1", "b")}, "a(1) t(1 a) a(1_2) t(1_2 b)"},
		{"one id again, first lost", []protocol.Message{calls("1"), userMessage("x"), calls("1"), toolResult("1", "b")}, "a(1) t(1 " + lost + ") u a(1_2) t(1_2 b)"},
		{"late", []protocol.Message{calls("1"), userMessage("x"), toolResult("1", "a")}, "a(1) t(1 a) u"},
		{"with the person's own between", []protocol.Message{calls("1"), from(protocol.OriginDirect, userMessage("!ls")), from(protocol.OriginDirect, toolResult("d", "f")), toolResult("1", "a")}, "a(1) t(1 a) u u"},
		{"notices and nothing", []protocol.Message{userMessage("a"), from(protocol.OriginNotice, userMessage("stopped")), {Role: protocol.RoleAssistant}, {Role: protocol.RoleUser}}, "u"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Repair(tc.in, protocol.ModelInfo{Images: true})
			if outline(got) != tc.want {
				t.Errorf("%s: %s, want %s", tc.name, outline(got), tc.want)
			}
			if again := Repair(got, protocol.ModelInfo{Images: true}); !reflect.DeepEqual(got, again) {
				t.Errorf("%s: repairing twice changes %s to %s", tc.name, outline(got), outline(again))
			}
		})
	}
}

func TestOwnCommandsAreSentAsUserText(t *testing.T) {
	in := []protocol.Message{from(protocol.OriginDirect, userMessage("!ls")), from(protocol.OriginDirect, toolResult("d", "a.txt"))}
	got := Repair(in, protocol.ModelInfo{})
	if got[0].Role != protocol.RoleUser || got[0].Content.Text() != "[The person ran a command themself] !ls" || got[1].Role != protocol.RoleUser ||
		got[1].Content.Text() != "[What the person's own command returned]\na.txt" || got[1].Origin != protocol.OriginDirect {
		t.Errorf("got %+v; want the command and its result as messages of the person", got)
	}
	if in[0].Content.Text() != "!ls" {
		t.Error("the message itself was changed")
	}
}

func TestImagesBecomeWordsForAModelThatCannotSee(t *testing.T) {
	m := userMessage("look")
	m.Content = append(m.Content, protocol.Block{Type: protocol.BlockImage, Data: "aGk=", Filename: "a.png"}, protocol.Block{Type: protocol.BlockImage, Data: "aGk="})
	got := Repair([]protocol.Message{m}, protocol.ModelInfo{})[0].Content
	if got[1].Text != "[image a.png, which this model cannot see]" || got[2].Text != "[image, which this model cannot see]" || m.Content[1].Data == "" {
		t.Errorf(`got %+v; want got[1].Text "[image a.png, which this model cannot see]", got[2].Text "[image, which this model cannot see]" and some m.Content[1].Data`, got)
	}
	if got := Repair([]protocol.Message{m}, protocol.ModelInfo{Images: true})[0].Content; got[1].Data == "" {
		t.Errorf("got %+v; want some got[1].Data", got)
	}
}

func TestPriceUsesAllFourPricesAndNeverTheProvidersOwn(t *testing.T) {
	in, out, read, write := 3.0, 15.0, 0.3, 3.75
	u := protocol.Usage{Input: 1000, Output: 2000, CacheRead: 100_000, CacheWrite: 4000}
	Complete(protocol.ModelInfo{PriceIn: &in, PriceOut: &out, PriceRead: &read, PriceWrite: &write}, &u)
	if u.Cost == nil || math.Abs(*u.Cost-0.078) > 1e-9 {
		t.Errorf("got %v; want 0.078", u.Cost)
	}
	if u.Total != 107_000 {
		t.Errorf("total: got %d, want 107000", u.Total)
	}
	own := 0.5
	u.Cost = &own
	Complete(protocol.ModelInfo{PriceIn: &in, PriceOut: &out}, &u)
	if *u.Cost != 0.5 {
		t.Errorf("got %v, want %v", *u.Cost, 0.5)
	}
	u.Cost = nil
	Complete(protocol.ModelInfo{PriceIn: &in}, &u)
	if u.Cost != nil {
		t.Error("a price was made up")
	}
}

func TestEstimateCountsWhatIsSent(t *testing.T) {
	m := userMessage(strings.Repeat("x", 400))
	if n := EstimateTokens([]protocol.Message{m}); n < 100 || n > 120 {
		t.Errorf("got %v; want n at least 100 and n at most 120", n)
	}
	m.Content = append(m.Content, protocol.Block{Type: protocol.BlockImage})
	if n := EstimateTokens([]protocol.Message{m}); n < 1500 {
		t.Errorf("got %v; want n at least 1500", n)
	}
}
