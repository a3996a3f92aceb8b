package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// checker returns a checker and what it logs.
func checker() (Checker, *strings.Builder) {
	var log strings.Builder
	return Checker{Logf: func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) }}, &log
}

// describe returns what the SDK gets of a message.
func describe(msg jsonrpc.Message) string {
	switch msg := msg.(type) {
	case *jsonrpc.Request:
		return "request " + msg.Method
	case *jsonrpc.Response:
		if failed, ok := errors.AsType[*jsonrpc.Error](msg.Error); ok {
			return fmt.Sprintf("%v fails %d", msg.ID.Raw(), failed.Code)
		}
		return fmt.Sprintf("%v %s", msg.ID.Raw(), msg.Result)
	}
	return "nothing"
}

func TestMessagesAreSeparatedFromOtherLines(t *testing.T) {
	long := strings.Repeat("x", MaxBytes)
	for _, c := range []struct{ in, want, other string }{
		{`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "1 {}", ""},
		{"hello\n" + `{"jsonrpc":"2.0","method":"notifications/message"}` + "\r\n", "request notifications/message", "hello\n"},
		{`{"level":"info","msg":"started"}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n", "1 {}", ""},
		{"{\n\"a\": 1\n}\n", "", "\"a\": 1\n}\n"},
		{`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te` + "\n", "7 fails -32091", ""},
		{`{"jsonrpc":"2.0","id":7,"result":"text"}` + "\n", "7 fails -32091", ""},
		{`{"jsonrpc":"2.0","id":7}` + "\n", "7 fails -32091", ""},
		{`{"id":7,"result":{}}` + "\n", "7 fails -32091", ""},
		{`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te`, "", `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"te` + "\n"},
		{`{"jsonrpc":"2.0","id":3,"result":{"a":"` + long + "\"}}\n" + `{"jsonrpc":"2.0","id":4,"result":{}}` + "\n", "3 fails -32090, 4 {}", ""},
		{`{"result":{"a":"` + long + `"},"jsonrpc":"2.0","id":3}` + "\n", "3 fails -32090", ""},
		{`{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"a":"` + long + "\"}}\n", "", ""},
		{long + "\n" + `{"jsonrpc":"2.0","id":4,"result":{}}` + "\n", "4 {}", long[:maxOther] + "\n"},
		{"\n\n", "", "\n\n"},
	} {
		for _, size := range []int{1 << 30, 64 << 10, 7} {
			if size == 7 && len(c.in) > 1<<20 {
				continue
			}
			var other strings.Builder
			log, _ := checker()
			l := Lines{Checker: log, Other: func(line []byte) { other.Write(line) }}
			var got []string
			for in := []byte(c.in); len(in) > 0; in = in[min(size, len(in)):] {
				for _, msg := range l.Add(in[:min(size, len(in))]) {
					got = append(got, describe(msg))
				}
			}
			l.Close()
			if strings.Join(got, ", ") != c.want || other.String() != c.other {
				t.Errorf("%.80q in parts of %d: got %q and other lines %.80q, want %q and %.80q", c.in, size, got, other.String(), c.want, c.other)
			}
		}
	}
}

func TestOneBadToolIsLeftOut(t *testing.T) {
	check, log := checker()
	msg, changed := check.Check([]byte(`{"jsonrpc":"2.0","id":1,"result":{"nextCursor":8,"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","description":7,"inputSchema":{}},null,{"name":5},"text"]}}`))
	var list mcp.ListToolsResult
	if err := json.Unmarshal(msg.(*jsonrpc.Response).Result, &list); err != nil || !changed || len(list.Tools) != 1 || list.Tools[0].Name != "good" || list.NextCursor != "" {
		t.Errorf("got %s (%v), want the good tool alone", describe(msg), err)
	}
	for _, want := range []string{`"bad", is left out: description must be a string, not number`, "Number 3 of the tools", "invalid cursor"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("got the log:\n%s\nwant %q in it", log, want)
		}
	}
}

func TestOneBadPartOfAnAnswerIsNamed(t *testing.T) {
	for content, want := range map[string]string{
		`[{"type":"text","text":"a"},{"type":"image","data":"no base64!","mimeType":"image/png"}]`: "a|[picture, image/png, left out: it cannot be read]",
		`[{"type":"video","data":"x"},{"type":"text","text":"b"}]`:                                 `[part of the kind "video", left out: it cannot be read]|b`,
		`"just text"`:                            "just text",
		`{"type":"text","text":"one"}`:           "one",
		`["a", null, {"type":"audio","data":5}]`: "a|[part of the kind \"\", left out: it cannot be read]|[sound, left out: it cannot be read]",
	} {
		check, _ := checker()
		msg, _ := check.Check([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":` + content + `}}`))
		var result mcp.CallToolResult
		if err := json.Unmarshal(msg.(*jsonrpc.Response).Result, &result); err != nil {
			t.Errorf("%s: %v", content, err)
			continue
		}
		var got []string
		for _, c := range result.Content {
			got = append(got, c.(*mcp.TextContent).Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: got %q, want %q", content, got, want)
		}
	}
}

func TestFieldsOfAnswersAreReadOrNamed(t *testing.T) {
	for result, want := range map[string]string{
		`{"isError":"true"}`:            `1 {"isError":true}`,
		`{"isError":"False"}`:           `1 {"isError":false}`,
		`{"isError":1}`:                 `1 {"isError":true}`,
		`{"_meta":[]}`:                  `1 {"_meta":{}}`,
		`{"capabilities":[]}`:           `1 {"capabilities":{}}`,
		`{"capabilities":{"tools":[]}}`: `1 {"capabilities":{"tools":{}}}`,
		`{"tools":null}`:                `1 {"tools":null}`,
		`{"tools":{"a":1}}`:             "tools must be a list, not object",
		`{"contents":"x"}`:              "contents must be a list, not string",
		`{"contents":[{"uri":5}]}`:      "contents.uri must be a string, not number",
		`{"messages":{}}`:               "messages must be a list, not object",
		`{"protocolVersion":5}`:         "protocolVersion must be a string, not number",
		`{"serverInfo":"x"}`:            "serverInfo must be an object, not string",
		`{"capabilities":"x"}`:          "capabilities must be an object, not string",
		`{"resultType":{}}`:             "resultType must be a string, not object",
		`{},"error":"boom"`:             "error must be an object, not string",
		`{},"error":{"code":"a"}`:       "error.code must be a whole number, not string",
		`{},"jsonrpc":"1.0"`:            `it needs "jsonrpc":"2.0", and a result or an error`,
	} {
		check, _ := checker()
		raw := `{"id":1,"jsonrpc":"2.0","result":` + result + `}`
		msg, _ := check.Check([]byte(raw))
		got := describe(msg)
		if failed, ok := errors.AsType[*jsonrpc.Error](msg.(*jsonrpc.Response).Error); ok {
			got = strings.TrimPrefix(failed.Message, "the answer of the server cannot be read: ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
	}
}

func TestEventsAreChecked(t *testing.T) {
	long := strings.Repeat("x", MaxBytes)
	good := "event: message\nid: 5\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	for _, c := range []struct{ in, want string }{
		{good, good},
		{strings.ReplaceAll(good, "\n", "\r\n"), "event: message\r\nid: 5\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"},
		{strings.TrimSuffix(good, "\n"), good},
		{"event: endpoint\ndata: /messages?x=1\n\n", "event: endpoint\ndata: /messages?x=1\n\n"},
		{": ping\n\n" + good, good},
		{"id: 1\nretry: 5\n\n", "id: 1\nretry: 5\n\n"},
		{"data: garbage\n\n" + good, good},
		{"data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n", "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n"},
		{"id: 4\ndata: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":\"" + long + "\"}}\n\n" + good, "3 fails -32090 " + good},
		{"data:{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":[}\n\n", "3 fails -32091 "},
	} {
		check, _ := checker()
		got, err := io.ReadAll(check.Events(io.NopCloser(strings.NewReader(c.in))))
		if err != nil {
			t.Fatal(err)
		}
		if failed, rest, ok := bytes.Cut(got, []byte("\n\n")); ok && bytes.Contains(failed, []byte(`"error"`)) {
			_, data, _ := bytes.Cut(failed, []byte("data: "))
			msg, err := jsonrpc.DecodeMessage(data)
			if err != nil {
				t.Fatalf("%s: %v", failed, err)
			}
			got = append([]byte(describe(msg)+" "), rest...)
		}
		if string(got) != c.want {
			t.Errorf("%.80q: got %.200q, want %.200q", c.in, got, c.want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[1]}}\n"), 3)
	f.Add([]byte("data: {\"id\":7,\n\nevent: x\n"), 5)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		check, _ := checker()
		count := func(parts ...[]byte) (n int) {
			l := Lines{Checker: check, Other: func([]byte) {}}
			for _, p := range parts {
				n += len(l.Add(p))
			}
			l.Close()
			return n
		}
		at = min(max(at, 0), len(in))
		if whole, cut := count(in), count(in[:at], in[at:]); whole != cut {
			t.Errorf("got %d messages in one part, %d in two, want the same", whole, cut)
		}
		if _, err := io.ReadAll(check.Events(io.NopCloser(bytes.NewReader(in)))); err != nil {
			t.Error(err)
		}
	})
}
