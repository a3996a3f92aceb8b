//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// An interface calls a tool with a token, and returns the status, the answer and its challenge.
type surface func(token, tool, args string) (status int, answer, challenge string)

// surfaces are the interfaces for programs.
func (p *programs) surfaces() map[string]surface {
	legacy := make(map[string]string) // the sessions of tokens
	return map[string]surface{
		"REST": func(token, tool, args string) (int, string, string) {
			status, answer, head := p.request("POST", "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+token)
			return status, answer, head.Get("WWW-Authenticate")
		},
		"MCP": func(token, tool, args string) (int, string, string) {
			body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args +
				`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
			headers := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
			status, answer, head := p.send(token, body, headers)
			return status, answer, head.Get("WWW-Authenticate")
		},
		"legacy MCP": func(token, tool, args string) (int, string, string) {
			if legacy[token] == "" {
				_, _, head := p.send(token, openSession, nil)
				legacy[token] = head.Get("Mcp-Session-Id")
			}
			body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
			status, answer, head := p.send(token, body, map[string]string{"Mcp-Session-Id": legacy[token], "MCP-Protocol-Version": "2025-11-25"})
			return status, answer, head.Get("WWW-Authenticate")
		},
	}
}

// code returns the code of the fault in an answer; empty for a success.
func code(answer string) string {
	_, rest, _ := strings.Cut(strings.ReplaceAll(answer, `\"`, `"`), `"code":"`)
	found, _, _ := strings.Cut(rest, `"`)
	return found
}

// Two apps with the same name are two apps: what the person allows one of them for good, the other
// one still has to ask for.
func TestPermissionOfOneAppDoesNotApplyToAnother(t *testing.T) {
	p := openPrograms(t)
	mine, other := p.token("Editor", protocol.ScopeShell), p.token("Editor", protocol.ScopeShell)
	const args = `{"session":{"node_name":"box","command":"echo allowed"}}`
	call := p.surfaces()["REST"]
	if _, answer, _ := call(mine, "command", args); code(answer) != "approval_required" {
		t.Fatalf("first call: got %s, want approval_required", answer)
	}
	q := p.pending()[0]
	ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: "allow", Scope: protocol.ScopeSession})
	for name, call := range p.surfaces() {
		for range 2 { // the first one may fetch the outcome of the call that waited
			if status, answer, _ := call(mine, "command", args); status != http.StatusOK || code(answer) != "" || !strings.Contains(answer, "allowed") {
				t.Errorf("%s, the app that may: got %d %s, want the output", name, status, answer)
			}
		}
		if list := p.pending(); len(list) != 0 {
			t.Errorf("%s, the app that may: got the questions %+v, want none", name, list)
		}
		if _, answer, _ := call(other, "command", args); code(answer) != "approval_required" {
			t.Errorf("%s, the other app: got %s, want approval_required", name, answer)
		}
		if list := p.pending(); len(list) != 1 {
			t.Fatalf("%s, the other app: got %d questions, want 1", name, len(list))
		}
		denied := p.pending()[0]
		ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: denied.ID, Hash: denied.Hash, Decision: "deny"})
		if _, answer, _ := call(other, "command", args); code(answer) != "permission_denied" {
			t.Errorf("%s, the other app after a denial: got %s, want permission_denied", name, answer)
		}
	}
}

func TestJournalListsTheCallsOfOneApp(t *testing.T) {
	p := openPrograms(t)
	call := p.surfaces()["REST"]
	made := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "Editor", Scopes: protocol.AppScopes})
	for _, token := range []string{made.Token, p.token("Editor", protocol.ScopeFilesRead)} {
		if status, answer, _ := call(token, "fs_list", `{"target":{"node_name":"box"},"path":`+mustQuote(p.workspace)+`}`); status != http.StatusOK {
			t.Fatalf("got %d %s, want 200", status, answer)
		}
	}
	list := ask(p.accessGateway, protocol.JournalList, protocol.JournalListParams{App: made.App.ID}).Calls
	if len(list) != 1 || list[0].App != made.App.ID || list[0].Tool != "fs_list" {
		t.Errorf("got %+v, want the call of %s", list, made.App.ID)
	}
}

func TestPermissionToWriteAFileDoesNotAllowToDeleteIt(t *testing.T) {
	p := openPrograms(t)
	token, call := p.token("Editor", protocol.ScopeFilesWrite), p.surfaces()["REST"]
	at := `{"target":{"node_name":"box"},"path":` + mustQuote(filepath.Join(p.workspace, "a.txt"))
	write := at + `,"chunk":"x","encoding":"utf8","done":true}`
	if _, answer, _ := call(token, "fs_write", write); code(answer) != "approval_required" {
		t.Fatalf("first call: got %s, want approval_required", answer)
	}
	q := p.pending()[0]
	ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: "allow", Scope: protocol.ScopeSession})
	for range 2 {
		if status, answer, _ := call(token, "fs_write", write); status != http.StatusOK {
			t.Errorf("write: got %d %s, want 200", status, answer)
		}
	}
	if _, answer, _ := call(token, "fs_delete", at+`}`); code(answer) != "approval_required" {
		t.Errorf("delete: got %s, want approval_required", answer)
	}
}

func TestTokenReachesItsMachinesOnly(t *testing.T) {
	p := openPrograms(t)
	p.startMachine("elsewhere", t.TempDir())
	token := func(node protocol.NodeID) string {
		return ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: protocol.AppScopes, Nodes: []protocol.NodeID{node}}).Token
	}
	here, elsewhere := token("box"), token("elsewhere")
	const on = `{"target":{"node_name":"box"},`
	path := mustQuote(p.workspace)
	for tool, args := range map[string]string{
		"fs_stat": on + `"path":` + path + `}`, "file": on + `"op":"list","path":` + path + `}`, "fs_list": on + `"path":` + path + `}`,
	} {
		for name, call := range p.surfaces() {
			if status, answer, _ := call(here, tool, args); status != http.StatusOK || code(answer) != "" {
				t.Errorf("%s %s on its machine: got %d %s, want success", name, tool, status, answer)
			}
			if _, answer, _ := call(elsewhere, tool, args); code(answer) != "target_not_found" {
				t.Errorf("%s %s on another machine: got %s, want target_not_found", name, tool, answer)
			}
		}
	}
	for name, call := range p.surfaces() {
		if _, answer, _ := call(here, "network_directory", `{}`); !strings.Contains(answer, "box") {
			t.Errorf("%s directory: got %s, want its machine", name, answer)
		}
		if status, answer, _ := call(elsewhere, "network_directory", `{}`); status != http.StatusOK || strings.Contains(answer, "box") {
			t.Errorf("%s directory: got %d %s, want no other machine", name, status, answer)
		}
	}
	if list := p.pending(); len(list) != 0 {
		t.Errorf("got the questions %+v, want none", list)
	}
}

func mustQuote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestExpiredTokenIsRefused(t *testing.T) {
	p := openPrograms(t)
	surfaces := p.surfaces()
	token := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: protocol.AppScopes, ExpiresIn: 2}).Token
	for name, call := range surfaces {
		if status, answer, _ := call(token, "whoami", `{}`); status != http.StatusOK {
			t.Errorf("%s before the end: got %d %s, want 200", name, status, answer)
		}
	}
	p.until("the token has expired", func() bool {
		status, _, _ := surfaces["REST"](token, "whoami", `{}`)
		return status != http.StatusOK
	})
	for name, call := range surfaces {
		status, answer, challenge := call(token, "whoami", `{}`)
		if status != http.StatusUnauthorized || !strings.Contains(challenge, `error="invalid_token"`) || strings.Contains(answer, "user_id") {
			t.Errorf("%s after the end: got %d %s, %s, want 401 invalid_token", name, status, challenge, answer)
		}
	}
}

func TestScopeOfFileFollowsItsOperation(t *testing.T) {
	p := openPrograms(t)
	readOnly, writeOnly := p.token("Reader", protocol.ScopeFilesRead), p.token("Writer", protocol.ScopeFilesWrite)
	file := mustQuote(filepath.Join(p.workspace, "a.txt"))
	one := func(op, more string) string {
		return fmt.Sprintf(`{"target":{"node_name":"box"},"op":%q,"path":%s%s}`, op, file, more)
	}
	batch := `{"target":{"node_name":"box"},"op":"batch","ops":[{"op":"stat","path":` + file + `},{"op":"delete","path":` + file + `}]}`
	for name, call := range p.surfaces() {
		refuse := func(what, token, args string, scopes string) {
			t.Helper()
			status, answer, challenge := call(token, "file", args)
			if status != http.StatusForbidden || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, `scope="`+scopes+`"`) {
				t.Errorf("%s %s: got %d %s, %s, want 403 for %s", name, what, status, challenge, answer, scopes)
			}
		}
		for _, op := range []string{"read", "list", "stat"} {
			if status, answer, _ := call(readOnly, "file", one(op, "")); status == http.StatusForbidden || code(answer) == "forbidden" || code(answer) == "" && op != "list" {
				t.Errorf("%s %s: got %d %s, want that the file does not exist", name, op, status, answer)
			}
			refuse(op+" with write access", writeOnly, one(op, ""), "fs.read")
		}
		for op, more := range map[string]string{
			"write": `,"chunk":"x","encoding":"utf8","done":true`, "edit": `,"old_string":"a","new_string":"b"`, "multi_edit": `,"edits":[{"old_string":"a","new_string":"b"}]`,
			"delete": "", "mkdir": "", "fetch_url": `,"url":"https://example.com/"`,
		} {
			refuse(op+" with read access", readOnly, one(op, more), "fs.write")
		}
		refuse("batch with read access", readOnly, batch, "fs.read fs.write")
		refuse("batch with write access", writeOnly, batch, "fs.read fs.write")
	}
	if list := p.pending(); len(list) != 0 {
		t.Errorf("got the questions %+v, want none", list)
	}
}
