//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/node"
)

// programs is a gateway with a node, and what programs need to use it.
type programs struct {
	*accessGateway
	base      string // address without a path
	workspace string // of the node
}

func openPrograms(t *testing.T) *programs {
	t.Helper()
	h := newAccessGateway(t)
	workspace := h.startMachine("box", h.home)
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "api.waitMs", Value: json.RawMessage(`1000`)})
	return &programs{h, strings.TrimSuffix(strings.Replace(h.gw.URL(), "ws:", "http:", 1), "/ws"), workspace}
}

// startMachine connects a machine and returns its workspace. home is its data folder.
func (h *accessGateway) startMachine(id protocol.NodeID, home string) (workspace string) {
	h.t.Helper()
	workspace = h.t.TempDir()
	n, err := node.New(node.Options{ID: id, Workspace: workspace, Home: home, Dial: h.gw.Dial, Version: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	h.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	h.until("the node is online", func() bool { return h.info(string(id)).Online })
	return workspace
}

// token makes a token of an app.
func (p *programs) token(name string, scopes ...protocol.Scope) string {
	p.t.Helper()
	return ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: name, Scopes: scopes}).Token
}

// withToken adds a token to every request.
type withToken string

func (b withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (p *programs) connect(token string, o *sdk.ClientOptions, legacy bool) *sdk.ClientSession {
	p.t.Helper()
	options := &sdk.ClientSessionOptions{}
	if legacy {
		options.ProtocolVersion = "2025-11-25"
	}
	transport := &sdk.StreamableClientTransport{Endpoint: p.base + "/mcp", HTTPClient: &http.Client{Transport: withToken(token)}}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(p.t.Context(), transport, options)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.Close() })
	return s
}

// call calls a tool and returns the text of its result.
func (p *programs) call(s *sdk.ClientSession, name string, args map[string]any) string {
	r, err := s.CallTool(p.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil || len(r.Content) == 0 {
		p.t.Errorf("%s: got %+v, %v; want no error and some Content", name, r, err)
		return ""
	}
	return r.Content[0].(*sdk.TextContent).Text
}

func (p *programs) pending() []protocol.Question {
	return ask(p.accessGateway, protocol.QuestionList, protocol.Empty{}).Questions
}

// allow answers the one question of the owner.
func (p *programs) allow() {
	p.t.Helper()
	p.until("a question", func() bool { return len(p.pending()) == 1 })
	q := p.pending()[0]
	ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: "allow"})
}

func start(command string) map[string]any {
	return map[string]any{"session": map[string]any{"node_name": "box", "command": command}}
}

func TestOnlyTheOwnerAllowsTheCallOfAnApp(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		p := openPrograms(t)
		accepted := make(chan struct{}, 10)
		s := p.connect(p.token("A", protocol.ScopeShell), &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			accepted <- struct{}{}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		}}, legacy)
		result := make(chan string, 1)
		go func() { result <- p.call(s, "command", start("echo done")) }()
		<-accepted
		if list := p.pending(); len(list) != 1 || list[0].State != protocol.QuestionPending || len(result) != 0 {
			t.Errorf("after the app accepted: %+v, result %d", list, len(result))
		}
		p.allow()
		if got := <-result; !strings.Contains(got, "done") {
			t.Errorf(`got %s, want "done" in it`, got)
		}
	}
}

func TestDeclinedWaitWithdrawsTheQuestion(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		p := openPrograms(t)
		s := p.connect(p.token("A", protocol.ScopeShell), &sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "decline"}, nil
		}}, legacy)
		if got := p.call(s, "command", start("echo done")); !strings.Contains(got, `"code":"canceled"`) {
			t.Errorf("got %s, want `\"code\":\"canceled\"` in it", got)
		}
		p.until("the question is withdrawn", func() bool { return len(p.pending()) == 0 })
	}
}

func TestCommandOfAnotherAppDoesNotExist(t *testing.T) {
	p := openPrograms(t)
	mine, other := p.connect(p.token("A", protocol.ScopeShell), nil, false), p.connect(p.token("B", protocol.ScopeShell), nil, true)
	result := make(chan string, 1)
	begin := start("cat")
	begin["idle_timeout"] = 0
	go func() { result <- p.call(mine, "command", begin) }()
	p.allow()
	var begun struct {
		CommandID string `json:"command_id"`
	}
	if got := <-result; json.Unmarshal([]byte(got), &begun) != nil || begun.CommandID == "" {
		t.Fatalf("got %s, want the ID of a command", got)
	}
	input := map[string]any{"command_id": begun.CommandID, "input": "secret\\n", "idle_timeout": 1}
	if got := p.call(other, "command", input); !strings.Contains(got, `"code":"not_found"`) {
		t.Errorf("another app: %s", got)
	}
	if list := p.pending(); len(list) != 0 {
		t.Errorf("got questions %+v, want none", list)
	}
	go func() { result <- p.call(mine, "command", input) }() // what a command is told can have any effect, too
	p.allow()
	got := <-result
	p.until("its own app gets the output", func() bool {
		if strings.Contains(got, "secret") {
			return true
		}
		got = p.call(mine, "command", map[string]any{"command_id": begun.CommandID, "idle_timeout": 1})
		return false
	})
}

func TestGlobAndGrepWorkOverMCP(t *testing.T) {
	p := openPrograms(t)
	folder := p.info("box").Host.Workspace
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("needle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, legacy := range []bool{false, true} {
		parts := make(chan string, 10)
		s := p.connect(p.token("A", protocol.ScopeFilesRead), &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			parts <- r.Params.Message
		}}, legacy)
		target := map[string]any{"node_name": "box"}
		if got := p.call(s, "fs_glob", map[string]any{"target": target, "path": folder, "pattern": "*.txt"}); !strings.Contains(got, "a.txt") {
			t.Errorf(`got %s, want "a.txt" in it`, got)
		}
		params := &sdk.CallToolParams{Name: "fs_grep", Arguments: map[string]any{"target": target, "path": folder, "pattern": "need"}}
		params.SetProgressToken("p")
		r, err := s.CallTool(t.Context(), params)
		if err != nil || r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, `"matches":[{`) {
			t.Fatalf("got %+v, %v; want no error, not IsError and `\"matches\":[{` in Content[0].Text", r, err)
		}
		if part := <-parts; !strings.Contains(part, `"matches":[{`) || !strings.Contains(part, `"text":"needle"`) {
			t.Errorf("the first part is %s, want the match of needle", part)
		}
	}
}

// send posts a body to /mcp as a program does that uses no library.
func (p *programs) send(token, body string, headers map[string]string) (status int, answer string, head http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+"/mcp", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	for k, v := range headers {
		if r.Header.Set(k, v); k == "Host" {
			r.Host = v
		}
	}
	resp, err := http.DefaultClient.Do(r)
	return readResponse(p.t, resp, err)
}

const openSession = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func TestWebPagesReachNoMCP(t *testing.T) {
	p := openPrograms(t)
	token := p.token("A", protocol.ScopeNetworkRead)
	if status, answer, _ := p.send(token, openSession, nil); status != http.StatusOK {
		t.Fatalf("an app: got %d %s, want 200", status, answer)
	}
	port := p.base[strings.LastIndex(p.base, ":"):]
	for name, headers := range map[string]map[string]string{
		"a rebound name":           {"Host": "attacker.example" + port},
		"a rebound name and page":  {"Host": "attacker.example" + port, "Origin": "http://attacker.example" + port},
		"a foreign page":           {"Origin": "https://attacker.example"},
		"a page without an origin": {"Origin": "null"},
		"a page of a file":         {"Origin": "file://"},
		"a similar name":           {"Origin": "http://localhost.attacker.example"},
		"a name with user":         {"Origin": "http://localhost@attacker.example"},
	} {
		if status, answer, head := p.send(token, openSession, headers); status != http.StatusForbidden || head.Get("Mcp-Session-Id") != "" {
			t.Errorf(`%s: got %d %s; want status StatusForbidden and an empty Get of "Mcp-Session-Id"`, name, status, answer)
		}
	}
}

// The scopes are checked before a request is understood in full, and again when the call is made:
// no way of writing a request avoids both.
func TestNoRequestAvoidsTheScopes(t *testing.T) {
	p := openPrograms(t)
	token := p.token("A", protocol.ScopeNetworkRead)
	_, _, head := p.send(token, openSession, nil)
	legacy := map[string]string{"Mcp-Session-Id": head.Get("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "command"}
	disguised := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "whoami"}
	const args = `"arguments":{"session":{"node_name":"box","command":"echo escalated"}}`
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command",` + args + `,` + meta + `}}`
	for name, headers := range map[string]map[string]string{"legacy": legacy, "modern": modern, "disguised": disguised} {
		body := call
		if name == "legacy" { // a body of another version than the header is refused anyway
			body = strings.Replace(call, ","+meta, "", 1)
		}
		status, answer, head := p.send(token, body, headers)
		if status != http.StatusForbidden || !strings.Contains(head.Get("WWW-Authenticate"), `error="insufficient_scope", scope="shell.exec"`) {
			t.Errorf("%s: got %d %s %s; want status StatusForbidden and `error=\"insufficient_scope\", scope=\"shell.exec\"` in WWW-Authenticate", name, status, answer, head.Get("WWW-Authenticate"))
		}
	}
	for name, body := range map[string]string{
		"a batch":          `[` + call + `]`,
		"a second method":  `{"jsonrpc":"2.0","id":2,"method":"tools/call","method":"ping","params":{"name":"command",` + args + `,` + meta + `}}`,
		"another case":     `{"jsonrpc":"2.0","id":2,"method":"tools/call","Method":"ping","params":{"name":"command",` + args + `,` + meta + `}}`,
		"a second name":    `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command","name":"whoami",` + args + `,` + meta + `}}`,
		"name in caps":     `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command","NAME":"whoami",` + args + `,` + meta + `}}`,
		"a foreign answer": `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command",` + args + `,"requestState":"x","inputResponses":{"owner_has_not_answered":{"action":"accept"}},` + meta + `}}`,
	} {
		for _, headers := range []map[string]string{legacy, modern, disguised} {
			if _, answer, _ := p.send(token, body, headers); strings.Contains(answer, "escalated") || strings.Contains(answer, "approval_required") {
				t.Errorf(`%s, %v: got %s; want no "escalated" and no "approval_required"`, name, headers, answer)
			}
		}
	}
	if list := p.pending(); len(list) != 0 {
		t.Errorf("got questions %+v, want none", list)
	}
}

func TestRevokedTokenEndsItsSession(t *testing.T) {
	p := openPrograms(t)
	made := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: []protocol.Scope{protocol.ScopeNetworkRead}})
	_, _, head := p.send(made.Token, openSession, nil)
	session := map[string]string{"Mcp-Session-Id": head.Get("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, answer, _ := p.send(made.Token, list, session); status != http.StatusOK || !strings.Contains(answer, "whoami") {
		t.Fatalf(`got %d %s; want status StatusOK and "whoami" in it`, status, answer)
	}
	if status, answer, _ := p.send(p.token("B", protocol.ScopeNetworkRead), list, session); status == http.StatusOK {
		t.Errorf("another token: %d %s", status, answer)
	}
	ask(p.accessGateway, protocol.AppRevoke, protocol.AppParams{ID: made.App.ID})
	if status, answer, _ := p.send(made.Token, list, session); status != http.StatusUnauthorized {
		t.Errorf("revoked: got %d %s, want 401", status, answer)
	}
}

func TestRevokedAppHasNoMoreQuestions(t *testing.T) {
	p := openPrograms(t)
	made := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: []protocol.Scope{protocol.ScopeShell}})
	if got := p.call(p.connect(made.Token, nil, false), "command", start("echo late")); !strings.Contains(got, "approval_required") || len(p.pending()) != 1 {
		t.Fatalf(`got %s; want "approval_required" in it and pending of length 1`, got)
	}
	ask(p.accessGateway, protocol.AppRevoke, protocol.AppParams{ID: made.App.ID})
	p.until("the question is withdrawn", func() bool { return len(p.pending()) == 0 })
}

func TestChangedFileNotifiesItsSubscriber(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		t.Run(fmt.Sprintf("legacy=%v", legacy), func(t *testing.T) {
			p := openPrograms(t)
			file := filepath.Join(p.workspace, "notes.txt")
			uri := "fairlead://box/file" + file
			write := func(text string) {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("1")
			updated := make(chan string, 10)
			s := p.connect(p.token("A", protocol.ScopeFilesRead), &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
			}, legacy)
			if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			for text := "22"; ; text += "2" { // a client of the newest version is not told when its subscription begins
				write(text)
				select {
				case got := <-updated:
					if got != uri {
						t.Errorf("got a notification of %s, want %s", got, uri)
					}
				case <-time.After(time.Second):
					if len(text) < 60 {
						continue
					}
					t.Error("no notification")
				}
				break
			}
			if calls := ask(p.accessGateway, protocol.JournalList, protocol.JournalListParams{}).Calls; len(calls) != 1 {
				t.Errorf("the journal has %d calls, want 1: looking again is no call", len(calls))
			}
		})
	}
}

func TestModelLearnsTheWorkspace(t *testing.T) {
	p := openPrograms(t)
	for _, legacy := range []bool{false, true} {
		s := p.connect(p.token("A", protocol.ScopeNetworkRead), nil, legacy)
		if got := s.InitializeResult().Instructions; !strings.Contains(got, "box: "+p.workspace) {
			t.Errorf("instructions: got %q, want the workspace of box", got)
		}
		if got := p.call(s, "network_directory", map[string]any{}); !strings.Contains(got, `"workspace":`+mustQuote(p.workspace)) {
			t.Errorf("network_directory: got %s, want the workspace", got)
		}
		s = p.connect(p.token("B", protocol.ScopeFilesRead), nil, legacy)
		if got := s.InitializeResult().Instructions; strings.Contains(got, p.workspace) {
			t.Errorf("a token without %s learns the machines: %q", protocol.ScopeNetworkRead, got)
		}
	}
}

// readResponse returns the parts of a response that had the error err.
func readResponse(t testing.TB, resp *http.Response, err error) (status int, body string, header http.Header) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw), resp.Header
}
