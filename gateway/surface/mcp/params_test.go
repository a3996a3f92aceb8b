package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// libraryWords are those of the SDK and of Go, which a client should not see.
var libraryWords = regexp.MustCompile(`(?i)marshal|Go (value|struct)|\*?mcp\.\w|json:|handling '|invalid (params|request)\b|not handled|\bext?ract\b`)

// badParamsTexts are parameters with the text of the answer.
func badParamsTexts() [][3]string {
	return [][3]string{
		{"tools/call", `5`, "params of tools/call: the value must be an object, not number"},
		{"tools/call", `"x"`, "params of tools/call: the value must be an object, not string"},
		{"tools/call", `[]`, "params of tools/call: the value must be an object, not array"},
		{"tools/call", `null`, "params of tools/call: name is required, but missing"},
		{"tools/call", `{}`, "params of tools/call: name is required, but missing"},
		{"tools/call", `{"name":null}`, "params of tools/call: name is required, but missing"},
		{"tools/call", `{"name":5}`, "params of tools/call: name must be a string, not number"},
		{"tools/call", `{"name":"whoami","name":5}`, "params of tools/call: name must be a string, not number"},
		{"tools/call", `{"name":"whoami","_meta":"x"}`, "params of tools/call: _meta must be an object, not string"},
		{"tools/call", `{"name":"whoami","requestState":5}`, "params of tools/call: requestState must be a string, not number"},
		{"tools/list", `{"cursor":5}`, "params of tools/list: cursor must be a string, not number"},
		{"tools/list", `{"cursor":"nope"}`, "cursor is not one of this server: begin again without it"},
		{"resources/list", `{"cursor":{}}`, "params of resources/list: cursor must be a string, not object"},
		{"resources/read", `{}`, "params of resources/read: uri is required, but missing"},
		{"resources/read", `{"uri":[]}`, "params of resources/read: uri must be a string, not array"},
		{"resources/subscribe", `{"uri":1}`, "params of resources/subscribe: uri must be a string, not number"},
		{"prompts/get", `{"name":"x","arguments":5}`, "params of prompts/get: arguments must be an object, not number"},
		{"prompts/get", `{"name":"x","arguments":{"a":5}}`, "params of prompts/get: arguments must have strings as values, not number"},
		{"completion/complete", `{}`, "params of completion/complete: ref is required, but missing"},
		{"completion/complete", `{"ref":5,"argument":{"name":"a"}}`, `params of completion/complete: ref must have the type "ref/prompt" and a name, or the type "ref/resource" and a uri`},
		{"completion/complete", `{"ref":{"type":"zz"},"argument":{"name":"a"}}`, `params of completion/complete: ref must have the type "ref/prompt" and a name, or the type "ref/resource" and a uri`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a"},"argument":5}`, "params of completion/complete: argument must be an object, not number"},
		{"logging/setLevel", `{"level":5}`, "params of logging/setLevel: level must be a string, not number"},
		{"ping", `5`, "params of ping: the value must be an object, not number"},
		{"initialize", `{"protocolVersion":5}`, "params of initialize: protocolVersion must be a string, not number"},
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":"x"}`, "params of initialize: clientInfo must be an object, not string"},
	}
}

func checkText(t *testing.T, request, answer, want string) {
	t.Helper()
	var a struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(answer), &a); err != nil || a.Error.Message != want || codeOf(t, answer) != -32602 {
		t.Errorf("%s: got %s (%v), want %q with -32602", request, answer, err, want)
	}
}

func TestBadParamsAreNamedOverHTTP(t *testing.T) {
	b := serve(t)
	_, header, _ := b.post(t, handshake)
	session := header.Get("Mcp-Session-Id")
	for _, c := range badParamsTexts() {
		request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c[0], c[1])
		status, _, answer := b.post(t, request, "Mcp-Session-Id", session)
		if checkText(t, request, answer, c[2]); status != 200 {
			t.Errorf("%s: got status %d, want 200", request, status)
		}
	}
	for _, params := range []string{`"name":5,`, ``, `"name":"whoami","inputResponses":5,`} {
		status, _, answer := b.post(t, modern("tools/call", params, "2026-07-28"), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "whoami")
		if status != 400 || codeOf(t, answer) != -32602 || libraryWords.MatchString(answer) {
			t.Errorf("modern, %s: got status %d, %s, want 400 in our words", params, status, answer)
		}
	}
	for _, method := range []string{"nosuch", "tasks/get"} {
		_, _, answer := b.post(t, modern(method, "", "2026-07-28"), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)
		if want := fmt.Sprintf(`"method not found: \"%s\""`, method); !strings.Contains(answer, want) {
			t.Errorf("modern %s: got %s, want %s", method, answer, want)
		}
	}
	if _, _, answer := b.post(t, `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}]`, "Mcp-Session-Id", session); libraryWords.MatchString(answer) {
		t.Errorf("a batch: got %s, want our words", answer)
	}
	for _, body := range invalidMessages() {
		if _, _, answer := b.post(t, body, "Mcp-Session-Id", session); libraryWords.MatchString(answer) {
			t.Errorf("%.80s: got %s, want our words", body, answer)
		}
	}
}

func TestBadParamsAreNamedOverStdio(t *testing.T) {
	send, next := serve(t).pipe(t)
	send(handshake)
	next()
	for _, c := range badParamsTexts() {
		request := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c[0], c[1])
		send(request)
		checkText(t, request, next(), c[2])
	}
	for _, line := range invalidMessages() {
		send(line)
		if answer := next(); libraryWords.MatchString(answer) {
			t.Errorf("%.80s: got %s, want our words", line, answer)
		}
	}
}
