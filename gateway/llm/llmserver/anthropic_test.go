package llmserver

import (
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/anthropic"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestAnthropicModelThinksCallsAndAnswers(t *testing.T) {
	s := Start(t)
	m := anthropic.New(llm.Options{BaseURL: s.URL, Model: Model})
	for prompt, want := range map[string]struct {
		text, args string
		calls      int
	}{
		"run uname -a":      {"I will run it.", `{"command":"uname -a"}`, 1},
		"do two things":     {"I will do both.", `{"command":"echo hello from the model"}`, 2},
		"say Ahoy, captain": {"Ahoy, captain", "", 0},
	} {
		t.Run(prompt, func(t *testing.T) {
			req := llm.Request{System: "You are a test.", Messages: []protocol.Message{user(prompt)}, Tools: tools}
			first := llmtest.Collect(t.Context(), m, req)
			if first.Err != nil || strings.TrimSpace(first.Text) != want.text || len(first.Calls) != want.calls {
				t.Fatalf("%s: got %+v; want no Err, Text %v and Calls of length %v", prompt, first, want.text, want.calls)
			}
			if first.Usage.Output == 0 || first.Usage.Total != first.Usage.Input+first.Usage.Output+first.Usage.CacheRead+first.Usage.CacheWrite {
				t.Errorf("%s: usage %+v; want Usage.Output other than 0 and Usage.Total %v", prompt, first.Usage, first.Usage.Input+first.Usage.Output+first.Usage.CacheRead+first.Usage.CacheWrite)
			}
			if want.calls == 0 {
				if first.Stop != llm.StopEnd {
					t.Errorf("%s: got stop %q, want %q", prompt, first.Stop, llm.StopEnd)
				}
				return
			}
			if first.Stop != llm.StopToolUse || first.Thinking == "" || strings.ReplaceAll(string(first.Calls[0].Arguments), `": "`, `":"`) != want.args {
				t.Fatalf("%s: got %+v; want Stop StopToolUse, some Thinking and Calls[0].Arguments without spaces %v", prompt, first, want.args)
			}
			req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: first.Content})
			for i, c := range first.Calls {
				if c.ID == "" || i > 0 && c.ID == first.Calls[0].ID {
					t.Errorf("%s: ids %+v; want some c.ID and either i at most 0 or c.ID other than %v", prompt, first.Calls, first.Calls[0].ID)
				}
				req.Messages = append(req.Messages, result(c.ID, "the result"))
			}
			second := llmtest.Collect(t.Context(), m, req)
			if second.Err != nil || second.Stop != llm.StopEnd || second.Text != "The tool answered: the result" {
				t.Errorf("%s: after the results: got %+v, want the tool's answer", prompt, second)
			}
		})
	}
}
