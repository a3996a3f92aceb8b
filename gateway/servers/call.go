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

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/message"
	"fairlead/gateway/servers/process"
	"fairlead/gateway/tool"
)

const maxTail = 4_000 // characters of a report on progress

// Call runs a tool of a server. inv.Tool is its bare name, as models see it. Its failure, and a call
// that the server did not get or refused, is a *tool.Failure; protocol.ErrUnavailable means that the
// outcome is unknown. When ctx ends, Call notifies the server and returns the cause.
//
// A call that the server did not get because it has forgotten the session, or because the connection was
// lost before, is sent once more over the next connection.
func (b Toolbox) Call(ctx context.Context, server protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error) {
	s, err := b.m.find(protocol.ServerName(server))
	if err != nil {
		return nil, err
	}
	var res *mcp.CallToolResult
	var old *link
	for {
		session, err := s.await(ctx, old)
		if err != nil {
			return nil, callError(ctx, s.name, fmt.Errorf("%w: %w", process.ErrNotSent, err))
		}
		t, _, err := b.lookup(protocol.NewToolName(server, inv.Tool))
		if errors.Is(err, protocol.ErrUnavailable) {
			err = callError(ctx, s.name, fmt.Errorf("%w: %w", process.ErrNotSent, err))
		}
		if err != nil {
			return nil, err
		}
		res, err = s.calls.run(ctx, session, t.name, inv, progress)
		if err == nil {
			break
		}
		if old != nil || context.Cause(ctx) != nil || !session.isLost(err) {
			return nil, callError(ctx, s.name, b.explainLoss(ctx, s, session, err))
		}
		old = session
	}
	out := convert(res)
	if res.IsError {
		return nil, &tool.Failure{Text: tool.Shorten(strings.TrimSpace(out.Content.Text()))}
	}
	return protocol.Marshal(out)
}

// lossLimit is how long a call whose connection was lost waits for the reason.
const lossLimit = 5 * time.Second

// explainLoss returns the error of a call whose connection was lost: why the command of the server
// ended. It returns other errors as they are.
func (b Toolbox) explainLoss(ctx context.Context, s *server, old *link, err error) error {
	_, isAnswer := errors.AsType[*jsonrpc.Error](err)
	if isAnswer || s.settings().URL != "" || errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, process.ErrNotSent) {
		return err
	}
	limit := time.NewTimer(lossLimit)
	defer limit.Stop()
	for {
		s.mu.Lock()
		problem, changed, isOld := s.problem, s.changed, s.session == old.ClientSession
		s.mu.Unlock()
		if !isOld && problem != "" {
			return errors.New(problem)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return err
		case <-limit.C:
			return err
		}
	}
}

// callError returns the error of a call that has no result: whether it was done, and why.
func callError(ctx context.Context, server protocol.ServerName, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	refused, isRefused := errors.AsType[*refusal](err)
	failed, isFailed := errors.AsType[*jsonrpc.Error](err)
	switch {
	case isRefused && refused.mayBeDone:
		return protocol.ErrUnavailable.With(refused.Error())
	case isRefused:
		return &tool.Failure{Text: "The server did not carry out the call: " + refused.Error()}
	case isFailed && (failed.Code == message.CodeBroken || failed.Code == message.CodeTooLong):
		return protocol.ErrUnavailable.With(failed.Message)
	case isFailed:
		return &tool.Failure{Text: tool.Shorten(failed.Message)}
	case errors.Is(err, mcp.ErrConnectionClosed), errors.Is(err, process.ErrNotSent):
		text := fmt.Sprintf("The call was not sent to the MCP server %s: %s", server, reasonOf(err))
		return &tool.Failure{Text: text, Fault: protocol.NewFault(protocol.FaultTargetUnreachable, text)}
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("the connection to the MCP server %s was lost: %s", server, format.Line(withoutCalling(err).Error(), maxProblem)))
}

// reasonOf returns the reason of a call that was not sent, for people.
func reasonOf(err error) string {
	if known, ok := errors.AsType[*protocol.Error](err); ok {
		return format.Line(known.Message, maxProblem)
	}
	return "its connection was lost"
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

// run sends a call over a connection, and waits for its answer.
func (c *calls) run(ctx context.Context, over *link, name string, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (*mcp.CallToolResult, error) {
	c.begin(inv.CallID, progress)
	defer c.end(inv.CallID)
	params := &mcp.CallToolParams{Name: name, Arguments: inv.Args}
	params.SetProgressToken(string(inv.CallID))
	return over.CallTool(ctx, params)
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
func (c *calls) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	report := c.receiver(protocol.CallID(token))
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
	report(protocol.ToolProgress{CallID: protocol.CallID(token), Tail: format.Line(text, maxTail)})
}
