package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

const handshake = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// post sends a message over HTTP, and returns the status and the message of the answer.
func (b *bench) post(t *testing.T, body string, headers ...string) (status int, header http.Header, answer string) {
	t.Helper()
	resp, raw := post(t, b, "all", "", body, headers...)
	_, data, isEvent := strings.Cut(raw, "data: ")
	if !isEvent {
		data = raw
	}
	return resp.StatusCode, resp.Header, strings.TrimSpace(data)
}

// codeOf returns the code of an answer's error, and 1 if it has none.
func codeOf(t *testing.T, answer string) int {
	t.Helper()
	a := struct{ Error *struct{ Code *int } }{}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("got %q, want JSON: %v", answer, err)
	}
	if a.Error == nil || a.Error.Code == nil {
		return 1
	}
	return *a.Error.Code
}

// invalidMessages are messages that are answered with an error.
func invalidMessages() []string {
	list := []string{
		"{}", "5", "null", `"x"`, "[]", "hello", "\x00", "[", "{", strings.Repeat("[", 2000), `{"jsonrpc":"2.0","id":1,"method":"ping"`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`, `{"jsonrpc":2,"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","ID":1,"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":5}`, `{"jsonrpc":"2.0","id":1,"method":""}`, `{"jsonrpc":"2.0","id":1,"method":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"\u0000"}}`, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"\u0000"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","_meta":{"progressToken":1e400}}}`,
	}
	for _, id := range []string{"null", "{}", "[]", "true", "1.5", "9007199254740993", "1e400"} {
		list = append(list, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
	}
	for _, method := range []string{"nosuch", "initialize", "tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete"} {
		list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q}`, method))
		for _, params := range []string{"null", "[]", "5", `"x"`} {
			list = append(list, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
		}
	}
	return list
}

func TestOddMessagesAreRefusedOverHTTP(t *testing.T) {
	b := serve(t)
	_, header, _ := b.post(t, handshake)
	session := header.Get("Mcp-Session-Id")
	for _, body := range invalidMessages() {
		if body == "null" { // an empty batch for the SDK
			continue
		}
		_, _, answer := b.post(t, body, "Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-06-18")
		if code := codeOf(t, answer); code >= 0 {
			t.Errorf("%.80s: got code %d in %s, want an error", body, code, answer)
		}
	}
	if _, _, answer := b.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Session-Id", session); codeOf(t, answer) != 1 {
		t.Errorf("the session after them: got %s, want a result", answer)
	}
}

// pipe starts the relay, and returns functions that send a line and read the next one.
func (b *bench) pipe(t *testing.T) (send func(string), next func() string) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := (Stdio{Endpoint: b.URL + "/mcp", Token: "all"}).Serve(ctx, in, out); err != nil && ctx.Err() == nil {
			t.Errorf("serve: got %v, want no error or Err set", err)
		}
		out.Close()
	})
	t.Cleanup(func() {
		cancel()
		toServer.Close()
		fromServer.Close()
		serving.Wait()
	})
	lines := bufio.NewReader(fromServer)
	send = func(line string) {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatalf("send %.80s: %v", line, err)
		}
	}
	next = func() string {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("read an answer: %v", err)
			}
			if !strings.Contains(line, `"method":`) { // a notification
				return strings.TrimSpace(line)
			}
		}
	}
	return send, next
}

func TestOddMessagesAreRefusedOverStdio(t *testing.T) {
	send, next := serve(t).pipe(t)
	send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if answer := next(); codeOf(t, answer) >= 0 {
		t.Errorf("before initialize: got %s, want an error", answer)
	}
	send(handshake)
	if answer := next(); codeOf(t, answer) != 1 {
		t.Fatalf("initialize: got %s, want a result", answer)
	}
	for _, line := range invalidMessages() {
		send(line)
		if answer := next(); codeOf(t, answer) >= 0 {
			t.Errorf("%.80s: got %s, want an error", line, answer)
		}
	}
	send("")
	send(`[{"jsonrpc":"2.0","id":1.0,"method":"ping"},5]`)
	if a, b := next(), next(); codeOf(t, a)+codeOf(t, b) != 1-32600 {
		t.Errorf("a batch: got %s and %s, want a result and an error", a, b)
	}
}

func TestUnknownMethodHasItsCode(t *testing.T) {
	b := serve(t)
	_, header, _ := b.post(t, handshake)
	status, _, answer := b.post(t, `{"jsonrpc":"2.0","id":7,"method":"nosuch","params":{}}`, "Mcp-Session-Id", header.Get("Mcp-Session-Id"))
	if want := `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"method not found: \"nosuch\""}}`; status != http.StatusOK || !sameJSON(answer, want) {
		t.Errorf("got %d %s, want 200 %s", status, answer, want)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// modern is a request of the newest version.
func modern(method, params, version string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params, version)
}

func TestVersionsOfHeaderAndBodyMustAgree(t *testing.T) {
	b := serve(t)
	for _, c := range []struct{ header, body string }{{"2025-06-18", "2026-07-28"}, {"2026-07-28", "2025-11-25"}, {"2026-07-28", "2099-01-01"}, {"2025-06-18", "2025-11-25"}} {
		status, _, answer := b.post(t, modern("tools/list", "", c.body), "MCP-Protocol-Version", c.header, "Mcp-Method", "tools/list")
		if code := codeOf(t, answer); status != http.StatusBadRequest || code != -32020 {
			t.Errorf("header %s, body %s: got %d %s, want 400 with -32020", c.header, c.body, status, answer)
		}
	}
}

func TestSessionBeginsWithInitialize(t *testing.T) {
	b := serve(t)
	for range maxOpen + 1 {
		if status, _, answer := b.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != http.StatusBadRequest || codeOf(t, answer) != -32600 {
			t.Fatalf("got %d %s, want 400 with -32600", status, answer)
		}
	}
	if status, _, answer := b.post(t, handshake); status != http.StatusOK {
		t.Errorf("initialize: got status %d, %s, want 200", status, answer)
	}
}

func TestNameOfHeaderCanBeEncoded(t *testing.T) {
	b := serve(t)
	for name, want := range map[string]int{"whoami": 1, "=?base64?d2hvYW1p?=": 1, "=?base64?d2hvYW1?=": -32020, "=?base64?????=": -32020, "=?base64?bm9ib2R5?=": -32020, "=?base64?=": -32020} {
		_, _, answer := b.post(t, modern("tools/call", `"name":"whoami","arguments":{},`, firstModern), "MCP-Protocol-Version", firstModern, "Mcp-Method", "tools/call", "Mcp-Name", name)
		if code := codeOf(t, answer); code != want {
			t.Errorf("%s: got %s, want the code %d", name, answer, want)
		}
	}
	for _, uri := range []string{"fairlead://nas/file/é.txt", "fairlead://nas/file/a\nb", "fairlead://nas/file/=?base64?x?=", " ", "=?base64?x?="} {
		h := http.Header{}
		h.Set(nameHeader, uri)
		encodeName(h)
		for _, c := range h.Get(nameHeader) {
			if c < ' ' || c > '~' {
				t.Errorf("%q: got %q, want visible ASCII", uri, h.Get(nameHeader))
			}
		}
		if decodeName(h); h.Get(nameHeader) != uri {
			t.Errorf("got %q, want %q again", h.Get(nameHeader), uri)
		}
	}
}

func TestEndOfInputWaitsForIDsInAnyForm(t *testing.T) {
	p := newPending(strings.NewReader(`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","id":"\u0041","method":"ping"}`+"\n"), io.Discard, func() {})
	b := make([]byte, 1<<10)
	p.Read(b)
	p.Read(b)
	p.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	p.Write([]byte(`{"jsonrpc":"2.0","id":"A","result":{}}`))
	if len(p.open) > 0 {
		t.Errorf("got open requests %v, want none", p.open)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range invalidMessages() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, failure := decode(raw)
		if failure != nil && !json.Valid(encodeFailure(m.ID, failure)) {
			t.Errorf("%q: got %s, want JSON", raw, encodeFailure(m.ID, failure))
		}
		if correctError(raw); failure == nil && m.ID != nil && canonical(m.ID) == "" {
			t.Errorf("%q: got no ID, want one", raw)
		}
	})
}

func TestRemovedMethodsAreUnknown(t *testing.T) {
	b := serve(t)
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		status, _, answer := b.post(t, modern(method, "", "2026-07-28"), "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method)
		if code := codeOf(t, answer); status != http.StatusNotFound || code != -32601 {
			t.Errorf("%s: got %d %s, want 404 with -32601", method, status, answer)
		}
	}
}
