//go:build desktop

package desktoptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// modelCall is a tool call of a fake model, with its arguments as JSON.
type modelCall struct{ tool, args string }

// fakeModel implements the OpenAI protocol: it makes calls, and answers when there are none left.
// calls gets the names of the tools, and the number of results since the person's message.
func fakeModel(t *testing.T, calls func(tools []string, done int) []modelCall, answer string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			w.Write([]byte(`{"data":[{"id":"paper-model","context_length":32768}]}`))
			return
		}
		var in struct {
			Messages []struct{ Role string } `json:"messages"`
			Tools    []struct {
				Function struct{ Name string } `json:"function"`
			} `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(v string) { fmt.Fprintf(w, "data: %s\n\n", v); w.(http.Flusher).Flush() }
		var names []string
		for _, x := range in.Tools {
			names = append(names, x.Function.Name)
		}
		done := 0
		for _, m := range in.Messages {
			switch m.Role {
			case "user":
				done = 0
			case "tool":
				done++
			}
		}
		var list []modelCall
		if len(names) > 0 {
			list = calls(names, done)
		}
		if len(list) > 0 {
			say(`{"choices":[{"delta":{"content":"I will do that."}}]}`)
			for i, c := range list {
				say(fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}}]}`, i, i, c.tool, c.args))
			}
			say(`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)
		} else {
			say(fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, answer))
			say(`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":7}}`)
		}
		say("[DONE]")
	}))
	t.Cleanup(s.Close)
	return s
}

// modelServer is a fake model that runs two commands.
func modelServer(t *testing.T) *httptest.Server {
	t.Helper()
	return fakeModel(t, func(tools []string, done int) (calls []modelCall) {
		for _, name := range tools {
			if done == 0 && strings.HasSuffix(name, "__Bash") {
				calls = []modelCall{{name, `{"command":"echo first-from-the-model"}`}, {name, `{"command":"echo second-from-the-model"}`}}
			}
		}
		return calls
	}, "The paper model has finished.")
}

// callOnce makes one call, and then answers.
func callOnce(c modelCall) func([]string, int) []modelCall {
	return func(_ []string, done int) []modelCall {
		if done > 0 {
			return nil
		}
		return []modelCall{c}
	}
}
