package store

import (
	"testing"

	"fairlead/gateway/protocol"
)

const result = `{"text":"first line\nsecond \"quoted\" <b>","exitCode":3,"ok":true,"files":["a.go","日本.go",{"name":"c.go"},[]],"empty":"","none":null}`

func toolResult(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleToolResult, ToolName: "tower__Bash", Content: protocol.Content{protocol.Text(text)}}
}

func TestResultsOfToolsAreFoundByTheTextsWithin(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, toolResult(result), toolResult("[1] not JSON, but output"), user(`{"output":"mine"}`), toolResult(`{"ok":true}`)))(t)
	for query, want := range map[string]string{
		"second":     "first line\n[second] \"quoted\" <b>\na.go\n日本.go\nc.go",
		"c.go":       "first line\nsecond \"quoted\" <b>\na.go\n日本.go\n[c.go]",
		"本":          "first line\nsecond \"quoted\" <b>\na.go\n日[本].go\nc.go",
		"nsecond":    "",
		"exitCode":   "",
		"output":     `{"[output]":"mine"} | [1] not JSON, but [output]`,
		"line quote": "first [line]\nsecond \"[quoted]\" <b>\na.go\n日本.go\nc.go",
	} {
		if got := snippets(t, s, query, "", 0, 0); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestSearchShowsCommandsAndTheirOutput(t *testing.T) {
	s := openTest(t)
	call := protocol.Block{Type: protocol.BlockToolCall, Name: "tower__Bash", Arguments: []byte(`{"command":"grep -n nut parts.txt","timeout":"soon","path":7}`)}
	must(s.Messages.Append(t.Context(), key,
		protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("I look."), call}},
		toolResult(`{"status":"completed","sessionId":"7cdc","output":"4: loose nut\n","tail":"loose nut","workdir":"/srv","startedAt":1795381429455}`),
		toolResult(`{"output":"a cut nut and then [… 9 bytes left out`)))(t)
	for query, want := range map[string]string{
		"nut":    "a cut [nut] and then [… 9 bytes left out | 4: loose [nut] | I look.\ngrep -n [nut] parts.txt",
		"7cdc":   "",
		"status": "",
		"soon":   "",
	} {
		if got := snippets(t, s, query, "", 0, 0); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
}

func TestTextsWithinJSONKeepTheirOrder(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":{"b":"1","c":["2",{"d":"3"}]},"e":"4","f":5}`: "1\n2\n3\n4",
		`["x",["y"],{"k":"z"}]`:                             "x\ny\nz",
		`{}`:                                                "",
	} {
		t.Run(raw, func(t *testing.T) {
			if got, ok := textValues(raw); !ok || got != want {
				t.Errorf("%s: got %q, %v, want %q", raw, got, ok, want)
			}
		})
	}
	for _, raw := range []string{`{"a":"b"`, `[1] x`, `{"a" "b"}`, `{a}`, ``, `[}`} {
		if got, ok := textValues(raw); ok && got != "" {
			t.Errorf("%s: got %q, want an error", raw, got)
		}
	}
}

func FuzzWithinTakesAnyText(f *testing.F) {
	for _, raw := range []string{result, `[[[`, `{"a":"b"}{"c":"d"}`, `]`, "\xff", `{"a":1,"b":"x"`} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) { textValues(raw) })
}
