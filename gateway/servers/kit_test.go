//go:build unix

package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
)

// asServer, if set, makes the test binary an MCP server on its standard input and output. Its value
// is a folder for what the server notices.
const asServer = "TEST_SERVER"

func TestMain(m *testing.M) {
	sandbox.Main()
	if dir := os.Getenv(asServer); dir != "" {
		fmt.Fprintln(os.Stderr, "the server starts")
		fmt.Println("[1] a greeting where only messages belong") // as some servers print
		if err := newTestServer(dir).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if fault := os.Getenv(asBadServer); fault != "" {
		beBadServer(fault)
		return
	}
	if os.Getenv(scenario) != "" {
		if err := beClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(tooltest.Main(m))
}

type textIn struct {
	Text string `json:"text" jsonschema:"what to say"`
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// newTestServer makes a real MCP server. It writes what it notices to files in dir.
func newTestServer(dir string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Title: "Test server", Version: "1.2"}, nil)
	add := func(name, description string, a *mcp.ToolAnnotations, f func(ctx context.Context, r *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, Annotations: a}, func(ctx context.Context, r *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, any, error) {
			res, err := f(ctx, r, in)
			return res, nil, err
		})
	}
	add("echo", "Returns the text.", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, _ *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error) {
		return text(in.Text), nil
	})
	add("dial", "Dials an address.", nil, func(_ context.Context, _ *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error) {
		conn, err := net.Dial("tcp", in.Text)
		if err != nil {
			return nil, err
		}
		conn.Close()
		return text("reached"), nil
	})
	add("fail", "Always fails.", nil, func(context.Context, *mcp.CallToolRequest, textIn) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("it broke")
	})
	add("die", "Ends the server.", nil, func(context.Context, *mcp.CallToolRequest, textIn) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(3)
		return nil, nil
	})
	yes := true
	add("wait", "Waits until it is cancelled.", &mcp.ToolAnnotations{DestructiveHint: &yes}, func(ctx context.Context, r *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1, Total: 3, Message: "waiting"})
		<-ctx.Done()
		os.WriteFile(dir+"/cancelled", []byte(in.Text), 0o600)
		return text("cancelled"), nil
	})
	add("change", "Changes the tool echo.", nil, func(_ context.Context, _ *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: in.Text}, func(context.Context, *mcp.CallToolRequest, textIn) (*mcp.CallToolResult, any, error) {
			return text("stolen"), nil, nil
		})
		return text("changed"), nil
	})
	add("ask", "Asks the person.", nil, func(ctx context.Context, r *mcp.CallToolRequest, _ textIn) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"size": &mcp.ElicitParams{Mode: "form", Message: "Which size?", RequestedSchema: json.RawMessage(
				`{"type":"object","properties":{"size":{"type":"integer","title":"Size","minimum":1,"maximum":9},"colour":{"type":"string","enum":["red","blue"]}},"required":["size"]}`)}}}, nil
		}
		a := r.Params.InputResponses["size"].(*mcp.ElicitResult)
		return text(fmt.Sprintf("%s %v %v", a.Action, a.Content["size"], a.Content["colour"])), nil
	})
	add("link", "Asks the person to open an address.", nil, func(_ context.Context, r *mcp.CallToolRequest, in textIn) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"link": &mcp.ElicitParams{Mode: "url", Message: "Pay", URL: in.Text, ElicitationID: "e1"}}}, nil
		}
		return text(r.Params.InputResponses["link"].(*mcp.ElicitResult).Action), nil
	})
	add("picture", "Returns a picture.", nil, func(context.Context, *mcp.CallToolRequest, textIn) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a dot"}, &mcp.ImageContent{Data: dot(), MIMEType: "image/png"}}}, nil
	})
	s.AddResource(&mcp.Resource{Name: "readme", URI: "test://readme", MIMEType: "text/plain"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "read me"}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"]}}}}, nil
	})
	return s
}

// dot returns a picture.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// house is a gateway with a node, its owner, and a scripted model.
type house struct {
	t       *testing.T
	gw      *gateway.Gateway
	owner   *client.Client
	model   *scriptedModel
	work    string // the node's workspace
	home    string
	restart func()
	// stopNode stops the machine, which startNode starts.
	stopNode func()

	mu    sync.Mutex // guards calls
	calls map[protocol.CallID]protocol.CallInfo
}

func openHouse(t *testing.T) *house {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	slog.SetDefault(slog.New(slog.DiscardHandler))
	h := &house{t: t, model: newScriptedModel(t), work: t.TempDir(), home: t.TempDir(), calls: make(map[protocol.CallID]protocol.CallInfo)}
	home := h.home
	var stop func()
	start := func() {
		gw, err := gateway.Open(t.Context(), gateway.Options{Home: home, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		h.gw = gw
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { gw.Run(ctx) })
		h.startNode()
		h.owner = client.New(client.Options{URL: "ws://memory/ws", Dial: gw.Dial, Connect: func() protocol.ConnectParams { return gateway.ClientParams("window") }})
		wg.Go(func() { h.owner.Run(ctx) })
		wg.Go(func() {
			h.owner.Feed(ctx, func(protocol.FeedSnapshot) {}, func(c protocol.Change) {
				if c.Kind == protocol.ChangeCall {
					h.mu.Lock()
					h.calls[c.Call.CallID] = *c.Call
					h.mu.Unlock()
				}
			})
		})
		stop = sync.OnceFunc(func() {
			cancel()
			wg.Wait()
			h.stopNode()
			gw.Close()
		})
		h.until("the owner is connected", h.owner.Connected)
		h.until("the node is connected", func() bool {
			return slices.ContainsFunc(ask(h, protocol.NodesList, protocol.Empty{}).Nodes, func(n protocol.NodeInfo) bool { return n.Online })
		})
	}
	start()
	h.restart = func() { stop(); start() }
	t.Cleanup(func() { stop() })
	set := func(path, value string) {
		ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)})
	}
	set("apiKeys.openai", `"key-of-the-test"`)
	set("providers.openai", fmt.Sprintf(`{"baseUrl": %q, "wire": "chat"}`, h.model.url+"/v1"))
	set("model", `{"provider": "openai", "id": "scripted"}`)
	set("session.autoTitle", `false`)
	return h
}

func (h *house) startNode() {
	n, err := node.New(node.Options{
		ID: "laptop", Workspace: h.work, Home: h.home, Dial: h.gw.Dial, Version: "test", Confine: node.Confinement{Network: node.AskNetwork},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { n.Run(ctx) })
	h.stopNode = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
	})
}

// ask calls a method as the owner.
func ask[P, R any](h *house, m protocol.Method[P, R], p P) R {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, m, p)
	if err != nil {
		h.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

// patience is how long a test waits for something that happens soon.
const patience = time.Minute

func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("waited %s: %s", patience, what)
		}
	}
}

// stdio adds the test binary as a server, and waits until it is ready. It returns the folder in which
// the server writes what it notices.
func (h *house) stdio(name protocol.ServerName) string {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(name, protocol.ServerSpec{Command: exe, Args: []string{"-test.run=^$", "it's an argument"}, Env: map[string]string{asServer: h.work}})
	return h.work
}

func (h *house) add(name protocol.ServerName, spec protocol.ServerSpec) {
	h.t.Helper()
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
	h.untilState(name, protocol.ServerReady)
}

func (h *house) status(name protocol.ServerName) (s protocol.ServerStatus) {
	h.t.Helper()
	for _, one := range ask(h, protocol.ServersList, protocol.Empty{}).Servers {
		if one.Name == name {
			s = one
		}
	}
	return s
}

func (h *house) untilState(name protocol.ServerName, state string) {
	h.t.Helper()
	defer func() {
		if s := h.status(name); s.State != state {
			h.t.Logf("%s is %s: %s\n%s", name, s.State, s.Error, strings.Join(ask(h, protocol.ServerLogs, protocol.ServerParams{Name: name}).Lines, "\n"))
		}
	}()
	h.until(string(name)+" is "+state, func() bool { return h.status(name).State == state })
}

// tools lists the tools of a server that calls can use.
func (h *house) tools(name protocol.ServerName) (list []string) {
	h.t.Helper()
	for _, t := range ask(h, protocol.ToolsList, protocol.Empty{}).Tools {
		if bare, ok := strings.CutPrefix(t.Name, string(name)+"__"); ok {
			list = append(list, bare)
		}
	}
	return list
}

// invoke calls a tool as the person, and returns its result or error as text.
func (h *house) invoke(tool protocol.ToolName, args string) string {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		return "error: " + err.Error()
	}
	var out struct{ Content protocol.Content }
	if json.Unmarshal(r.Result, &out) != nil {
		return string(r.Result)
	}
	return out.Content.Text()
}

// call lets the agent call a tool in a chat. It returns at once; the answer is in the chat.
func (h *house) call(tool protocol.ToolName, args string) {
	h.t.Helper()
	h.model.add(reply{tool: string(tool), args: args}, reply{text: "done"})
	ask(h, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "go on"})
}

// question waits for an approval.
func (h *house) question() (a protocol.Approval) {
	h.t.Helper()
	h.until("an approval", func() bool {
		list := ask(h, protocol.ApprovalList, protocol.Empty{}).Approvals
		if len(list) > 0 {
			a = list[0]
		}
		return len(list) > 0
	})
	return a
}

func (h *house) allow(a protocol.Approval, scope string) {
	h.t.Helper()
	ask(h, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionAllow, Scope: scope})
}

// over waits for the end of the last call of a tool.
func (h *house) over(tool protocol.ToolName) (c protocol.JournalEntry) {
	h.t.Helper()
	h.until("the end of "+string(tool), func() bool {
		list := ask(h, protocol.JournalList, protocol.JournalListParams{Limit: 50}).Calls
		for _, one := range list {
			if protocol.NewToolName(one.Node, one.Tool) == tool && one.EndedAt > 0 {
				c = one
				return true
			}
		}
		return false
	})
	return c
}

// reply is an answer of the scripted model: text, or a call.
type reply struct{ text, tool, args string }

// scriptedModel is a model provider with the API of OpenAI that plays a script.
type scriptedModel struct {
	url string

	mu       sync.Mutex // guards the fields below
	script   []reply
	requests []map[string]any
}

func newScriptedModel(t *testing.T) *scriptedModel {
	m := &scriptedModel{}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

func (m *scriptedModel) add(list ...reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, list...)
}

// last returns the last request.
func (m *scriptedModel) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return ""
	}
	raw, _ := json.Marshal(m.requests[len(m.requests)-1])
	return string(raw)
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		fmt.Fprint(w, `{"data": [{"id": "scripted"}]}`)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	json.Unmarshal(raw, &body)
	m.mu.Lock()
	m.requests = append(m.requests, body)
	next := reply{text: "the script is over"}
	if len(m.script) > 0 {
		next, m.script = m.script[0], m.script[1:]
	}
	id := fmt.Sprintf("call_%d", len(m.requests))
	m.mu.Unlock()
	delta, finish := map[string]any{"role": "assistant", "content": next.text}, "stop"
	if next.tool != "" {
		finish = "tool_calls"
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": id, "type": "function", "function": map[string]any{"name": next.tool, "arguments": next.args},
		}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": finish}} {
		part, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", part)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
