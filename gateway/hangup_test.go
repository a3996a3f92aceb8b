//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/mcp"
)

const ownerToken = "gateway-token-of-the-test"

// callers are the ways to make a call and to hang up with ctx before its result comes.
var callers = map[string]func(ctx context.Context, p *programs, args string) error{
	"REST":          hangUpREST("application/json"),
	"REST, events":  hangUpREST("text/event-stream"),
	"MCP":           hangUpMCP(false),
	"MCP, sessions": hangUpMCP(true),
	"stdio": func(ctx context.Context, p *programs, args string) error {
		in, toServer := io.Pipe()
		defer toServer.Close()
		go fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command","arguments":%s}}
`, args)
		return mcp.Stdio{Endpoint: p.base + "/mcp", Token: ownerToken, Version: "1"}.Serve(ctx, in, io.Discard)
	},
}

func hangUpREST(accept string) func(ctx context.Context, p *programs, args string) error {
	return func(ctx context.Context, p *programs, args string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/api/v1/tools/command", strings.NewReader(args))
		if err != nil {
			return err
		}
		r.Header.Set("Accept", accept)
		resp, err := withToken(ownerToken).RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	}
}

// hangUpMCP hangs up as a client does that was killed: without cancelling its request or closing
// its session.
func hangUpMCP(legacy bool) func(ctx context.Context, p *programs, args string) error {
	return func(ctx context.Context, p *programs, args string) error {
		headers := map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "command", "MCP-Protocol-Version": "2026-07-28"}
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
		if legacy {
			_, _, head := p.send(ownerToken, openSession, nil)
			headers = map[string]string{"Mcp-Session-Id": head.Get("Mcp-Session-Id"), "MCP-Protocol-Version": "2025-11-25"}
			meta = `"_meta":{}`
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"command","arguments":%s,%s}}`, args, meta)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/mcp", strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		resp, err := withToken(ownerToken).RoundTrip(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err == nil {
			err = fmt.Errorf("it was answered: %d %s", resp.StatusCode, raw)
		}
		return err
	}
}

func TestCommandEndsWhenItsCallerHangsUp(t *testing.T) {
	p := openPrograms(t)
	for name, call := range callers {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(p.workspace, strings.ReplaceAll(name, " ", ""))
			args, err := json.Marshal(map[string]any{
				"session": map[string]any{"node_name": "box", "command": "echo $$ >'" + file + "'; exec sleep 299"}, "idle_timeout": 200,
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx, hangUp := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- call(ctx, p, string(args)) }()
			pid := 0
			p.until("the command runs", func() bool {
				text, _ := os.ReadFile(file) // not there yet
				pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
				return pid > 0
			})
			hangUp()
			if err := <-ended; err != nil && ctx.Err() == nil || err != nil && strings.Contains(err.Error(), "answered") {
				t.Fatalf(`got %v; want no error, or an error of the cancelled call without "answered"`, err)
			}
			p.until("the command has ended", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
			p.until("the command is not listed", func() bool {
				return len(ask(p.accessGateway, protocol.AppsList, protocol.Empty{}).Commands) == 0
			})
		})
	}
}

func TestCommandsEndWithTheRightsOfTheirApp(t *testing.T) {
	p := openPrograms(t)
	p.startMachine("other", p.home)
	for name, take := range map[string]func(id protocol.AppID){
		"revoked": func(id protocol.AppID) { ask(p.accessGateway, protocol.AppRevoke, protocol.AppParams{ID: id}) },
		"without the scope": func(id protocol.AppID) {
			ask(p.accessGateway, protocol.AppUpdate, protocol.AppUpdateParams{ID: id, Scopes: &[]protocol.Scope{protocol.ScopeFilesRead}})
		},
		"without the machine": func(id protocol.AppID) {
			ask(p.accessGateway, protocol.AppUpdate, protocol.AppUpdateParams{ID: id, Nodes: &[]protocol.NodeID{"other"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			made := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: name, Scopes: []protocol.Scope{protocol.ScopeShell, protocol.ScopeFilesRead}})
			called := make(chan string, 1)
			go func() {
				_, answer, _ := p.request(http.MethodPost, "/api/v1/tools/command", `{"session":{"node_name":"box","command":"sleep 299"},"idle_timeout":0}`, "Authorization", "Bearer "+made.Token)
				called <- answer
			}()
			p.allow()
			if answer := <-called; !strings.Contains(answer, `"running"`) || len(ask(p.accessGateway, protocol.AppsList, protocol.Empty{}).Commands) != 1 {
				t.Fatalf("got %s, want a running command", answer)
			}
			ask(p.accessGateway, protocol.AppUpdate, protocol.AppUpdateParams{ID: made.App.ID, Scopes: &[]protocol.Scope{protocol.ScopeShell}})
			if len(ask(p.accessGateway, protocol.AppsList, protocol.Empty{}).Commands) != 1 {
				t.Error("the command ended with a scope that it does not need")
			}
			take(made.App.ID)
			p.until("the command has ended", func() bool { return len(ask(p.accessGateway, protocol.AppsList, protocol.Empty{}).Commands) == 0 })
		})
	}
}

// 240 calls of one app at once: 16 become questions, the others fail and say when to try again.
func TestAnAppAsksAtMost16QuestionsAtATime(t *testing.T) {
	p := openPrograms(t)
	ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "api.waitMs", Value: json.RawMessage(`60000`)})
	token := p.token("A", protocol.ScopeShell)
	const most = 16
	refused := make(chan string, 240)
	var calls sync.WaitGroup
	ctx, hangUp := context.WithCancel(t.Context())
	for i := range cap(refused) {
		calls.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.base+"/api/v1/tools/command", strings.NewReader(fmt.Sprintf(`{"session":{"node_name":"box","command":"make %d"}}`, i)))
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := withToken(token).RoundTrip(r)
			if err != nil {
				return // it waited for an answer
			}
			defer resp.Body.Close()
			refused <- resp.Status + ", " + resp.Header.Get("Retry-After")
		})
	}
	for range cap(refused) - most {
		if got := <-refused; got != "429 Too Many Requests, 5" {
			t.Fatalf("got %q, want 429 and to wait for 5 s", got)
		}
	}
	p.until(fmt.Sprintf("the %d questions", most), func() bool { return len(p.pending()) == most })
	hangUp()
	calls.Wait()
	p.until("the questions are withdrawn", func() bool { return len(p.pending()) == 0 })
}
