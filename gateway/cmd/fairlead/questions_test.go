package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestFieldsAreReadAsPeopleTypeThem(t *testing.T) {
	q := protocol.InputSubject{Fields: []protocol.Field{
		{Name: "name", Kind: "text", Required: true},
		{Name: "age", Kind: "integer", Default: 7.0},
		{Name: "sure", Kind: "boolean"},
		{Name: "color", Kind: "choice", Choices: []protocol.Choice{{Value: "r", Title: "Red"}, {Value: "g", Title: "Green"}}},
		{Name: "sizes", Kind: "choices", Choices: []protocol.Choice{{Value: "s", Title: "Small"}, {Value: "l", Title: "Large"}}, Default: []any{"s"}},
	}}
	for _, c := range []struct {
		name, words string
		want        map[string]any
		problem     string
	}{
		{"all", "name=Anna age=8 sure=yes color=Red sizes=small,l", map[string]any{"name": "Anna", "age": 8.0, "sure": true, "color": "r", "sizes": []any{"s", "l"}}, ""},
		{"defaults", "name=Anna", map[string]any{"name": "Anna", "age": 7.0, "sure": false, "sizes": []any{"s"}}, ""},
		{"value with =", "name=a=b", map[string]any{"name": "a=b", "age": 7.0, "sure": false, "sizes": []any{"s"}}, ""},
		{"missing", "age=8", nil, "name: Fill in this field."},
		{"unknown field", "nam=Anna", nil, "is not NAME=VALUE of a field"},
		{"no choice", "name=A color=blue", nil, "color: Enter one of the choices."},
		{"no boolean", "name=A sure=perhaps", nil, "sure: Enter yes or no."},
		{"fraction", "name=A age=1.5", nil, "age: Enter a whole number."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := fieldValues(q, strings.Fields(c.words))
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) || !strings.Contains(err.Error(), "color (optional) (r, g)") {
					t.Errorf("got %v, want %q and the list of fields", err, c.problem)
				}
			} else if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// askingServer starts an MCP server whose tool ask asks for a name and returns it.
func askingServer(t *testing.T) (url string) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "asking", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		a, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who is it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)})
		if err != nil {
			return nil, nil, err
		}
		text, _ := a.Content["name"].(string)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Action + " " + text}}}, nil, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

// lockedBuffer is a buffer that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// withAskingServer runs f with a gateway that has the server of asking, as door.
func withAskingServer(t *testing.T, f func(context.Context, *connection)) {
	t.Helper()
	url := askingServer(t)
	withLocal(t, func(ctx context.Context, c *connection) {
		if _, err := client.Call(ctx, c.Client, protocol.ServerSet, protocol.ServerSetParams{Name: "door", Spec: protocol.ServerSpec{URL: url}}); err != nil {
			t.Error(err)
			return
		}
		polltest.Until(t, "the server is ready", func() bool {
			r, err := client.Call(ctx, c.Client, protocol.ServersList, protocol.Empty{})
			return err == nil && len(r.Servers) == 1 && r.Servers[0].State == protocol.ServerReady
		})
		f(ctx, c)
	})
}

// callAsk calls the tool that asks, and returns its result.
func callAsk(ctx context.Context, t *testing.T, c *connection) string {
	r, err := client.Call(ctx, c.Client, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "door__ask", Args: json.RawMessage(`{}`)})
	if err != nil {
		t.Errorf("the call failed: %v", err)
	}
	return string(r.Result)
}

// opened waits for the question of the server, which is the only one.
func opened(ctx context.Context, t *testing.T, c *connection) (q protocol.Question) {
	polltest.Until(t, "the question is open", func() bool {
		r, err := client.Call(ctx, c.Client, protocol.QuestionList, protocol.Empty{})
		if err == nil && len(r.Questions) == 1 {
			q = r.Questions[0]
		}
		return q.ID != ""
	})
	return q
}

func TestQuestionsAreWatchedAndAnsweredByCommand(t *testing.T) {
	withAskingServer(t, func(ctx context.Context, c *connection) {
		var watched lockedBuffer
		watching, stop := context.WithCancel(ctx)
		var wg sync.WaitGroup
		wg.Go(func() {
			questionsOf(c).watch(watching, func(q protocol.Question) error { return openQuestionOf(q, nil).print(&watched) })
		})
		var result string
		wg.Go(func() {
			result = callAsk(ctx, t, c)
			stop()
		})
		polltest.Until(t, "the question is watched", func() bool { return strings.Contains(watched.String(), "fairlead questions answer ") })
		if got := watched.String(); !strings.HasPrefix(got, "“door” asks: Who is it?\n") {
			t.Errorf("watched %q, want the server and its question", got)
		}
		q, err := questionsOf(c).find(ctx, string(opened(ctx, t, c).ID[:6]))
		if err != nil {
			t.Error(err)
		}
		values, err := fieldValues(*q.Input, []string{"name=Anna"})
		if err != nil {
			t.Error(err)
		}
		if _, err := call(ctx, c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Values: values}); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if !strings.Contains(result, "accept Anna") {
			t.Errorf("the result of the call is %s, want the answer", result)
		}
		if _, err := questionsOf(c).find(ctx, string(q.ID)); err == nil {
			t.Error("an answered question is still open")
		}
	})
}
