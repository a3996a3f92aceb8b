package llmserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestModelFileIsTheSameEachTime(t *testing.T) {
	var a, b bytes.Buffer
	if err := WriteScripted(&a); err != nil {
		t.Fatal(err)
	}
	if err := WriteScripted(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) || !bytes.HasPrefix(a.Bytes(), []byte("GGUF")) {
		t.Fatal("not the same bytes, or no GGUF")
	}
	if a.Len() > 1<<20 {
		t.Fatalf("the file has grown to %d bytes, want at most %d", a.Len(), 1<<20)
	}
}

type answer struct {
	Content   string
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
}

// ask sends one request that does not stream and returns the answer's message.
func ask(t *testing.T, s *Server, messages string) answer {
	t.Helper()
	body := `{"messages":[` + messages + `],` + toolsJSON + `}`
	resp, err := http.Post(s.URL+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Choices []struct{ Message answer }
	}
	if err := json.Unmarshal(raw, &reply); err != nil || len(reply.Choices) != 1 {
		t.Fatalf("%s: got %.2000s; want no error and Choices of length 1", resp.Status, raw)
	}
	return reply.Choices[0].Message
}

const toolsJSON = `"tools":[
 {"type":"function","function":{"name":"tower__Read","description":"d","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},
 {"type":"function","function":{"name":"laptop__Bash","description":"d","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}},
 {"type":"function","function":{"name":"laptop__Glob","description":"d","parameters":{"type":"object","properties":{"pattern":{"type":"string"}},"required":["pattern"]}}}]`

func userJSON(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"role":"user","content":` + string(raw) + `}`
}

func TestModelFollowsItsPlan(t *testing.T) {
	s := Start(t)
	const hello = `laptop__Bash {"command": "echo hello from the model"}`
	called := func(k, command, result string) string {
		return `,{"role":"assistant","content":"x","tool_calls":[{"id":"c` + k + `","type":"function","function":{"name":"laptop__Bash","arguments":"{\"command\": \"` + command +
			`\"}"}}]},{"role":"tool","tool_call_id":"c` + k + `","content":"` + result + `"}`
	}
	for _, tc := range []struct {
		messages, thought, content string
		calls                      []string
	}{
		{userJSON("hi"), "", "Hello from a scripted model in a real server.", nil},
		{userJSON("say grüße, äöü ✓"), "", "grüße, äöü ✓", nil},
		{userJSON("Today is Monday.\nthink about it"), "The user wants me to think.", "about it", nil},
		{userJSON("please list the files"), "The user wants a listing.", "I will look.", []string{hello}},
		{userJSON("do two things"), "The user wants two things.", "I will do both.", []string{hello, `laptop__Glob {"pattern": "*"}`}},
		{userJSON(`run printf 'a"b\n'`), "The user wants a command to run.", "I will run it.", []string{`laptop__Bash {"command": "printf 'a\"b\\n'"}`}},
		{userJSON(`call Read {"path": "a b"}`), "", "", []string{`tower__Read {"path": "a b"}`}},
		{userJSON("call Fly {}"), "", "No tool is called Fly.", nil},
		{userJSON("list") + called("1", "ls", "a.txt"), "", "The tool answered: a.txt", nil},
		{userJSON("steps 2"), "", "Step 1.", []string{`laptop__Bash {"command": "echo step 1"}`}},
		{userJSON("steps 2") + called("1", "echo step 1", "ok"), "", "Step 2.", []string{`laptop__Bash {"command": "echo step 2"}`}},
		{userJSON("steps 2") + called("1", "echo step 1", "ok") + called("2", "echo step 2", "ok"), "", "All 2 steps are done.", nil},
	} {
		got := ask(t, s, tc.messages)
		var calls []string
		for _, c := range got.Calls {
			calls = append(calls, c.Function.Name+" "+c.Function.Arguments)
		}
		if strings.TrimSpace(got.Reasoning) != tc.thought || strings.TrimSpace(got.Content) != tc.content || strings.Join(calls, "\n") != strings.Join(tc.calls, "\n") {
			t.Errorf("%s:\ngot  %q %q %q\nwant %q %q %q", tc.messages, got.Reasoning, got.Content, calls, tc.thought, tc.content, tc.calls)
		}
	}
}

// The same model behind the two other wires of the server.
func TestModelSpeaksEveryWire(t *testing.T) {
	s := Start(t)
	for path, tc := range map[string]struct{ body, want string }{
		"/v1/responses": {`{"input":"list","tools":[{"type":"function","name":"laptop__Bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}]}`, `"name":"laptop__Bash"`},
		"/v1/messages": {
			`{"max_tokens":500,"messages":[{"role":"user","content":"list"}],"tools":[{"name":"laptop__Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`,
			`"input":{"command":"echo hello from the model"}`,
		},
		"/v1/messages/count_tokens": {`{"messages":[{"role":"user","content":"hi"}]}`, `"input_tokens":`},
	} {
		t.Run(path, func(t *testing.T) {
			resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != 200 || !strings.Contains(string(raw), tc.want) {
				t.Errorf("%s: %s %.1500s (%v); want no error, resp.StatusCode 200 and %v in it", path, resp.Status, raw, err, tc.want)
			}
		})
	}
}

func TestModelTalksForeverUntilTheContextIsFull(t *testing.T) {
	s := Start(t, WithContext(2048))
	got := ask(t, s, userJSON("forever"))
	if !strings.HasPrefix(got.Content, "On and on and on and on") || len(got.Content) < 500 {
		t.Errorf(`%d bytes: %.100q; want a Content that begins with "On and on and on and on" and Content of length at least 500`, len(got.Content), got.Content)
	}
}
