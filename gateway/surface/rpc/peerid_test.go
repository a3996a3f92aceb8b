//go:build unix

package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// addNode connects a node whose Echo returns the node's ID.
func (l *live) addNode(id string) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	l.t.Cleanup(func() { cancel(); wg.Wait() })
	var node *client.Client
	up := make(chan struct{}, 1)
	node = client.New(client.Options{
		URL: l.gw.URL(), Token: "fl_test",
		Connect: func() protocol.ConnectParams {
			p := gateway.ClientParams(id)
			p.Client.Mode = protocol.ModeNode
			p.Tools = []protocol.ToolSpec{{Name: "Echo", Description: "Echoes", Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)}}
			p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapRead}}}
			return p
		},
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
		OnEvent: func(e protocol.EventFrame) {
			var inv protocol.ToolInvoke
			if e.Event == protocol.EventToolInvoke && json.Unmarshal(e.Payload, &inv) == nil {
				result, _ := json.Marshal("echo of " + id)
				wg.Go(func() {
					client.Call(ctx, node, protocol.ReturnResult, protocol.ToolResultParams{CallID: inv.CallID, Result: result})
				})
			}
		},
	})
	wg.Go(func() { node.Run(ctx) })
	select {
	case <-up:
	case <-time.After(time.Minute):
		l.t.Fatalf("node %s: got no connection in time, want one", id)
	}
}

// echoModel is a model server that calls every tool named Echo once, and then answers "done". It
// records all tool names that it gets.
type echoModel struct {
	mu    sync.Mutex // guards names
	names []string
}

func (m *echoModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	type named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	var in struct {
		Tools    []named `json:"tools"`
		Messages []struct {
			Role  string  `json:"role"`
			Calls []named `json:"tool_calls"`
		} `json:"messages"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var calls []string
	m.mu.Lock()
	for _, t := range in.Tools {
		m.names = append(m.names, t.Function.Name)
		if strings.HasSuffix(t.Function.Name, "__Echo") {
			calls = append(calls, fmt.Sprintf(`{"index":%d,"id":"call%d","type":"function","function":{"name":%q,"arguments":"{}"}}`, len(calls), len(calls), t.Function.Name))
		}
	}
	for _, msg := range in.Messages {
		for _, c := range msg.Calls {
			m.names = append(m.names, c.Function.Name)
		}
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	answer, reason := `{"tool_calls":[`+strings.Join(calls, ",")+`]}`, "tool_calls"
	if in.Messages[len(in.Messages)-1].Role == "tool" {
		answer, reason = `{"content":"done"}`, "stop"
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", answer, reason)
}

func TestNodesWithDotsAndLongIDsWorkEverywhere(t *testing.T) {
	l := startLive(t)
	model := new(echoModel)
	server := httptest.NewServer(model)
	defer server.Close()
	ids := []string{"node-mac.local", "node-" + strings.Repeat("long-host.", 11) + "local"}
	if len(ids[1]) != 120 {
		t.Fatalf("the long id has %d characters, want 120", len(ids[1]))
	}
	for _, id := range ids {
		l.addNode(id)
	}
	ctx := t.Context()
	nodes, err := client.Call(ctx, l.client, protocol.NodesList, protocol.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	tools, err := client.Call(ctx, l.client, protocol.ToolsList, protocol.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(nodes.Nodes, func(n protocol.NodeInfo) bool { return string(n.ID) == id && n.Online }) {
			t.Errorf("got nodes %+v, want %s among them, online", nodes.Nodes, id)
		}
		full := protocol.NewToolName(protocol.NodeID(id), "Echo")
		if !slices.ContainsFunc(tools.Tools, func(t protocol.ToolSpec) bool { return t.Name == string(full) }) {
			t.Errorf("got tools %+v, want %s among them", tools.Tools, full)
		}
		for _, name := range []protocol.ToolName{full, full.ForModel()} {
			r, err := client.Call(ctx, l.client, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: name})
			if err != nil || string(r.Result) != `"echo of `+id+`"` {
				t.Errorf("calling %s: got %s and %v, want the echo of %s", name, r.Result, err, id)
			}
		}
	}

	for path, value := range map[string]string{
		"providers.compatible.baseUrl": `"` + server.URL + `/v1"`, "model": `{"provider":"compatible","id":"m"}`, "toolApproval.rules": `[{"id":"echo","tool":"*Echo","decision":"allow"}]`,
	} {
		if _, err := client.Call(ctx, l.client, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)}); err != nil {
			t.Fatalf("setting %s: %v", path, err)
		}
	}
	if _, err := client.Call(ctx, l.client, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "echo"}); err != nil {
		t.Fatal(err)
	}
	results := make(map[protocol.ToolName]string)
	for end := time.Now().Add(time.Minute); !slices.Contains(slices.Collect(maps.Values(results)), "done"); time.Sleep(20 * time.Millisecond) {
		p, err := client.Call(ctx, l.client, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession})
		if err != nil || time.Now().After(end) {
			t.Fatalf("got error %v, results %v, want the answer in time", err, results)
		}
		for _, m := range p.Messages {
			results[m.ToolName] = m.Content.Text()
		}
	}
	for _, id := range ids {
		full := protocol.NewToolName(protocol.NodeID(id), "Echo")
		if got := results[full]; got != "echo of "+id {
			t.Errorf("the model's call of %s: got %q, want the echo of that node", full, got)
		}
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, name := range model.names {
		if !legal.MatchString(name) {
			t.Errorf("the model sees a tool named %q, want 1 to 64 letters, digits, _ and -", name)
		}
	}
}
