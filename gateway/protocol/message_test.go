package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestContentIsAStringOrBlocks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Content{
		`"hello"`:                      {Text("hello")},
		`""`:                           {Text("")},
		`[]`:                           {},
		`[{"type":"text","text":"a"}]`: {Text("a")},
		`[{"type":"new","odd":1},{"type":"image","data":"AA","mimeType":"image/png"}]`: {{Type: "new"}, {Type: BlockImage, Data: "AA", MimeType: "image/png"}},
		`[{"type":"toolCall","id":"1","name":"n__Bash","arguments":{"command":"ls"}}]`: {{Type: BlockToolCall, ID: "1", Name: "n__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)}},
	} {
		var got Content
		if err := json.Unmarshal([]byte(in), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %+v, %v; want no error and %v", in, got, err, want)
		}
	}
	for _, bad := range []string{`1`, `{}`, `["a"]`, `[{"type":1}]`} {
		t.Run(bad, func(t *testing.T) {
			var got Content
			if err := json.Unmarshal([]byte(bad), &got); err == nil {
				t.Errorf("%s is accepted as %+v", bad, got)
			}
		})
	}
}

func TestUserTextIsWrittenAsAString(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]Message{
		`{"role":"user","timestamp":1,"content":"hi"}`:                               {Role: RoleUser, Content: Content{Text("hi")}, Timestamp: 1},
		`{"role":"assistant","content":[{"type":"text","text":"hi"}],"timestamp":1}`: {Role: RoleAssistant, Content: Content{Text("hi")}, Timestamp: 1},
		`{"role":"assistant","content":[],"timestamp":1}`:                            {Role: RoleAssistant, Timestamp: 1},
	} {
		got, err := Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var back Message
		if err := json.Unmarshal(got, &back); err != nil || back.Content.Text() != m.Content.Text() || back.Role != m.Role {
			t.Errorf("%s came back as %+v, %v; want it unchanged", got, back, err)
		}
	}
}

func FuzzContent(f *testing.F) {
	for _, s := range []string{`"x"`, `[]`, `null`, `[{"type":"text","text":"a"}]`, `[{"type":"thinking","thinking":"t","thinkingSignature":"s"}]`, `[{"type":"toolCall","arguments":[1]}]`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Content
		if json.Unmarshal(data, &c) != nil {
			return
		}
		c.Text()
		c.Calls()
		raw, err := Marshal(Message{Role: RoleUser, Content: c})
		if err != nil {
			t.Fatal(err)
		}
		var back Message
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if back.Content.Text() != c.Text() || len(back.Content) != len(c) {
			t.Fatalf("%s came back as %+v, want it unchanged", data, back.Content)
		}
	})
}

func TestAResultAlwaysSaysWhetherItIsAnError(t *testing.T) {
	t.Parallel()
	for _, isError := range []bool{false, true} {
		m := Message{Role: RoleToolResult, ToolCallID: "1", Content: Content{Text("x")}, IsError: isError}
		raw, err := Marshal(m)
		if want := fmt.Sprintf(`"isError":%v`, isError); err != nil || strings.Count(string(raw), want) != 1 {
			t.Errorf("got %s, %v, want %s once", raw, err, want)
		}
		var back Message
		if err := json.Unmarshal(raw, &back); err != nil || back.IsError != isError {
			t.Errorf("read back: got %+v, %v; want no error and IsError %v", back, err, isError)
		}
	}
}

func TestALabelMayBeANumber(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"sessionKey":"main","label":2026}`: "2026", `{"label":"a"}`: "a", `{"label":-1.5}`: "-1.5", `{"label":""}`: "", `{"label":null}`: "unset", `{}`: "unset",
		`{"label":{}}`: "label must be a string, not object", `{"label":true}`: "label must be a string, not bool", `{"settings":{"maxTokens":"x"}}`: "settings.maxTokens must be a whole number, not string",
	} {
		t.Run(raw, func(t *testing.T) {
			var p SessionPatchParams
			got := "unset"
			if err := json.Unmarshal([]byte(raw), &p); err != nil {
				got = Problem(err)
			} else if p.Label != nil {
				got = *p.Label
			}
			if got != want {
				t.Errorf("%s: got %q, want %q", raw, got, want)
			}
		})
	}
}

func TestErrorsKeepTheirCodeAndText(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("open chat: %w", ErrStorage.With("disk full"))
	for err, want := range map[error]Error{
		wrapped:                  {Code: 507, Message: "open chat: disk full"},
		context.Canceled:         {Code: 499, Message: "context canceled"},
		context.DeadlineExceeded: {Code: 504, Message: "context deadline exceeded", Retryable: true},
		errors.New("odd"):        {Code: 500, Message: "odd"},
		ErrUnavailable:           {Code: 503, Message: "Unavailable", Retryable: true},
	} {
		if got := AsError(err); !reflect.DeepEqual(*got, want) {
			t.Errorf("%v = %+v, want got %v", err, got, want)
		}
	}
	if AsError(nil) != nil {
		t.Error("no error became one")
	}
	if !errors.Is(wrapped, ErrStorage) || errors.Is(wrapped, ErrNotFound) {
		t.Error("errors.Is does not compare codes")
	}
	ErrNotFound.With("x")
	if ErrNotFound.Message != "Not found" {
		t.Error("With changed the sentinel")
	}
}

func TestEveryMethodIsListedOnceWithScopeAndModes(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, m := range Methods {
		if seen[m.Name] || len(m.Modes) == 0 || m.Scope == ScopeNone && m.Name != Connect.Name && m.Name != DeviceLeave.Name {
			t.Errorf("got %+v; want a name of its own, modes, and a scope", m)
		}
		seen[m.Name] = true
		if got, ok := MethodByName(m.Name); !ok || got.Name != m.Name {
			t.Errorf("MethodByName(%s) = %+v; want ok and got.Name %v", m.Name, got, m.Name)
		}
		// Besides its own methods, a node may only list the tools, as a sign of life, and end its
		// own pairing.
		for _, mode := range m.Modes {
			if mode == ModeNode && m.Scope != ScopeNode && m.Name != Connect.Name && m.Name != ToolsList.Name && m.Name != DeviceLeave.Name {
				t.Errorf("a node may call %s", m.Name)
			}
		}
	}
	if _, ok := MethodByName("no.such"); ok {
		t.Error("an unknown method was found")
	}
}

func TestOnlyProgressMayBeDropped(t *testing.T) {
	t.Parallel()
	for want, list := range map[bool][]Change{
		true: {{Kind: ChangeDelta, Delta: &Delta{}}, {Kind: ChangeCall, Call: &CallInfo{State: CallRunning, Tail: "x"}}, {Kind: ChangeChat, Chat: &ChatEvent{State: ChatDelta}}},
		false: {
			{Kind: ChangeMessage},
			{Kind: ChangeCall, Call: &CallInfo{State: CallDone, Tail: "x"}},
			{Kind: ChangeCall, Call: &CallInfo{State: CallRunning}},
			{Kind: ChangeChat, Chat: &ChatEvent{State: ChatFinal}},
			{Kind: ChangeQuestion},
			{Kind: ChangeResync},
		},
	} {
		for _, c := range list {
			if c.MayDrop() != want {
				t.Errorf("%+v: MayDrop = %v, want MayDrop %v", c, !want, want)
			}
		}
	}
}
