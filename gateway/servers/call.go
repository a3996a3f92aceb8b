package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

const maxTail = 4_000 // characters of a report on progress

// Call runs a tool of a server. inv.Tool is its bare name, as models see it. Its failure is a
// *nodes.ToolError; protocol.ErrUnavailable means that the connection was lost, and the outcome is
// unknown. When ctx ends, the server is told, and Call returns the cause.
func (b Toolbox) Call(ctx context.Context, server protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	t, _, err := b.lookup(protocol.NewToolName(server, inv.Tool))
	if err != nil {
		return nil, err
	}
	s, err := b.m.find(protocol.ServerName(server))
	if err != nil {
		return nil, err
	}
	session, err := s.connected()
	if err != nil {
		return nil, err
	}
	s.calls.begin(inv.CallID, progress)
	defer s.calls.end(inv.CallID)
	params := &mcp.CallToolParams{Name: t.name, Arguments: inv.Args}
	params.SetProgressToken(string(inv.CallID))
	res, err := session.CallTool(ctx, params)
	if err != nil {
		return nil, callError(ctx, s.name, err)
	}
	out := convert(res)
	if res.IsError {
		return nil, &nodes.ToolError{Text: tool.Shorten(strings.TrimSpace(out.Content.Text()))}
	}
	return protocol.Marshal(out)
}

// callError returns the error of a call that has no result.
func callError(ctx context.Context, server protocol.ServerName, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if refused, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &nodes.ToolError{Text: tool.Shorten(refused.Message)}
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("the connection to the MCP server %s was lost: %s", server, display.Line(err.Error(), maxProblem)))
}

// progressPause is the minimum time between two reports on a call that are passed on.
const progressPause = 100 * time.Millisecond

// calls are the calls in progress, with the receivers of their progress.
type calls struct {
	mu     sync.Mutex // guards the fields below
	active map[protocol.CallID]func(protocol.ToolProgress)
	last   map[protocol.CallID]time.Time // report
}

// begin makes a call known, so that its progress and its questions find it.
func (c *calls) begin(id protocol.CallID, progress func(protocol.ToolProgress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active == nil {
		c.active, c.last = make(map[protocol.CallID]func(protocol.ToolProgress)), make(map[protocol.CallID]time.Time)
	}
	c.active[id] = progress
}

func (c *calls) end(id protocol.CallID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.active, id)
	delete(c.last, id)
}

// receiver returns the receiver of a call's progress. It is nil for an unknown call, and shortly after
// another report.
func (c *calls) receiver(id protocol.CallID) func(protocol.ToolProgress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.active[id] == nil || now.Sub(c.last[id]) < progressPause {
		return nil
	}
	c.last[id] = now
	return c.active[id]
}

// only returns the call in progress if there is exactly one.
func (c *calls) only() (id protocol.CallID, progress func(protocol.ToolProgress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.active) == 1 {
		for id, progress = range c.active {
			return id, progress
		}
	}
	return "", nil
}

// progress passes on the progress of a call.
func (s *server) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	report := s.calls.receiver(protocol.CallID(token))
	if report == nil {
		return
	}
	text := fmt.Sprintf("%g", r.Params.Progress)
	if r.Params.Total > 0 {
		text = fmt.Sprintf("%g of %g", r.Params.Progress, r.Params.Total)
	}
	if r.Params.Message != "" {
		text += ": " + r.Params.Message
	}
	report(protocol.ToolProgress{CallID: protocol.CallID(token), Tail: display.Line(text, maxTail)})
}
