package rpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// toolMethods are the methods for tool calls, of clients and of the nodes that run them.
type toolMethods struct {
	Calls
	nodes    *nodes.Hub
	messages Messages
	// background runs a function until the server closes.
	background func(func(context.Context)) bool

	mu             sync.Mutex               // guards activeRequests
	activeRequests map[protocol.CallID]bool // unfinished calls of tool.request
}

func (m *toolMethods) register(all methods) {
	handle(all, protocol.ToolsList, func(context.Context, *request, protocol.Empty) (protocol.ToolsListResult, error) {
		return protocol.ToolsListResult{Tools: list(m.Registry.Tools())}, nil
	})
	handle(all, protocol.InvokeTool, m.invoke)
	handle(all, protocol.RequestTool, m.request)
	handle(all, protocol.CallCancel, func(_ context.Context, _ *request, p protocol.CallCancelParams) (protocol.Ack, error) {
		return protocol.Ack{OK: true, Dropped: !m.Tools.Cancel(p.CallID)}, nil
	})
	handle(all, protocol.ReturnResult, m.result)
	handle(all, protocol.ReportProgress, func(_ context.Context, r *request, p protocol.ToolProgress) (protocol.Ack, error) {
		return m.nodes.Calls.Progress(r.conn.peer().node(), p)
	})
	handle(all, protocol.ReportExec, func(ctx context.Context, r *request, p protocol.NodeExecEvent) (protocol.Ack, error) {
		return m.ExecEvent(ctx, r.conn.peer().node(), p)
	})
	handle(all, protocol.GetLogs, m.logs)
	handle(all, protocol.ReturnLogs, func(_ context.Context, r *request, p protocol.LogsResultParams) (protocol.Ack, error) {
		return m.nodes.Calls.LogsResult(r.conn.peer().node(), p)
	})
}

// invoke runs a tool as a direct action of the person (tool.invoke,
// docs/protocol.md#tools-and-calls).
func (m *toolMethods) invoke(ctx context.Context, r *request, p protocol.ToolInvokeParams) (protocol.ToolInvokeResult, error) {
	if err := require("tool required", string(p.Tool)); err != nil {
		return protocol.ToolInvokeResult{}, err
	}
	if args := bytes.TrimSpace(p.Args); len(args) > 0 && args[0] != '{' && string(args) != "null" {
		return protocol.ToolInvokeResult{}, protocol.ErrBadRequest.With("args must be an object")
	}
	raw, err := runDirect(ctx, m.Tools, r, tool.Call{Tool: p.Tool, Args: p.Args})
	return protocol.ToolInvokeResult{Result: raw}, err
}

// runDirect runs a call as a direct action of the person.
func runDirect(ctx context.Context, t Tools, r *request, call tool.Call) (json.RawMessage, error) {
	return directResult(t.Run(ctx, r.direct(call)))
}

// direct marks a call as a direct action of the person.
func (r *request) direct(call tool.Call) tool.Call {
	call.Principal, call.Direct, call.AskedBy = r.conn.peer().principal, true, protocol.AskedBy{Kind: "client", Name: r.conn.peer().client.ID}
	return call
}

// directResult converts the outcome of a direct call to a response.
func directResult(res tool.Result, err error) (json.RawMessage, error) {
	var bad *toolkit.InputError
	switch {
	case errors.As(err, &bad):
		return nil, protocol.ErrBadRequest.With(bad.Error())
	case errors.Is(err, protocol.ErrTimeout):
		return nil, notRetryable(protocol.ErrTimeout.With(err.Error()))
	case err != nil:
		return nil, err
	case res.Info.State == protocol.CallDenied:
		return nil, protocol.ErrForbidden.With(res.Info.Error)
	case res.Info.Error != "" && res.Info.State == protocol.CallUnknown:
		return nil, notRetryable(protocol.ErrUnavailable.With(res.Info.Error))
	case res.Info.Error != "":
		return nil, protocol.ErrInternal.With(res.Info.Error)
	}
	return res.Raw, nil
}

// notRetryable marks the error of a call that may have run: repeating it blindly could run it
// twice.
func notRetryable(e *protocol.Error) error {
	e.Retryable = false
	return e
}

// request dispatches a call on behalf of a session and confirms that it was accepted and stored
// (tool.request). The call is tied to the gateway, not to the connection; its result goes to the
// session. An ID that an earlier call had is refused: the session would get the result of that call
// instead.
func (m *toolMethods) request(ctx context.Context, r *request, p protocol.ToolRequestParams) (protocol.ToolRequestResult, error) {
	who := r.conn.peer().principal
	if err := require("callId, tool, and sessionKey required", string(p.CallID), string(p.Tool), string(p.SessionKey)); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	if args := bytes.TrimSpace(p.Args); len(args) == 0 || args[0] != '{' {
		return protocol.ToolRequestResult{}, protocol.ErrBadRequest.With("args must be an object")
	}
	if err := cmp.Or(
		checkKey(p.SessionKey), checkID("callId", string(p.CallID)),
		requireScope(who, protocol.ScopeChat, "the result would go to a chat, and this device may not write there"),
		m.Tools.Check(tool.Call{Tool: p.Tool, Args: p.Args, Principal: who}),
	); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	release, err := m.claim(ctx, p.CallID)
	if err != nil {
		return protocol.ToolRequestResult{}, err
	}
	key := r.conn.feed.storeSpelling(p.SessionKey)
	call := r.direct(tool.Call{ID: p.CallID, ToolCallID: string(p.CallID), Tool: p.Tool, Args: p.Args, Session: key})
	stored := make(chan error, 2)
	call.OnStart = func() { stored <- nil }
	started := m.background(func(ctx context.Context) {
		defer release()
		res, err := m.Tools.Run(ctx, call)
		if isInternal(err) {
			stored <- err
			return
		}
		stored <- nil
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			slog.Warn("A requested call failed", "call", call.ID, "tool", call.Tool, "session", key, "err", err)
			res = failedCall(call, err)
		}
		if err := m.messages.StoreToolResult(ctx, key, res); err != nil {
			slog.Error("A result could not be stored", "call", call.ID, "session", key, "err", err)
		}
	})
	if !started {
		release()
		return protocol.ToolRequestResult{}, protocol.ErrUnavailable.With("the gateway stops")
	}
	select {
	case err := <-stored:
		if err != nil {
			return protocol.ToolRequestResult{}, err
		}
		return protocol.ToolRequestResult{Status: "sent"}, nil
	case <-ctx.Done():
		return protocol.ToolRequestResult{}, ctx.Err()
	}
}

// isInternal reports whether a call failed in the gateway, such as in its store, and not because of
// the call or its machine, which is a result.
func isInternal(err error) bool {
	_, isBadCall := errors.AsType[*toolkit.InputError](err)
	_, isKnown := errors.AsType[*protocol.Error](err)
	return err != nil && !isBadCall && (!isKnown || errors.Is(err, protocol.ErrStorage))
}

// claim reserves the ID of a requested call until release.
func (m *toolMethods) claim(ctx context.Context, id protocol.CallID) (release func(), err error) {
	m.mu.Lock()
	taken := m.activeRequests[id]
	if !taken {
		m.activeRequests[id] = true
	}
	m.mu.Unlock()
	release = func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.activeRequests, id)
	}
	if !taken {
		if taken, err = m.Tools.IsKnown(ctx, id); err == nil && !taken {
			return release, nil
		}
		release()
	}
	if err == nil {
		err = protocol.ErrConflict.With(fmt.Sprintf("a call with the id %s exists already", id))
	}
	return nil, err
}

// result takes the result of a call from a node (tool.result), and confirms it when the journal has
// the end of the call. A result for which nobody waits any more may still settle a call with an
// unknown outcome.
func (m *toolMethods) result(ctx context.Context, r *request, p protocol.ToolResultParams) (protocol.Ack, error) {
	await := m.Results.AwaitStored(p.CallID)
	ack, err := m.nodes.Calls.Result(r.conn.peer().node(), p)
	if !ack.Dropped && !errors.Is(err, protocol.ErrNotFound) {
		r.beforeResponse = await
		return ack, err
	}
	late, lateErr := m.Results.AcceptLateResult(ctx, r.conn.peer().node(), p)
	switch {
	case errors.Is(lateErr, protocol.ErrNotFound):
		return ack, err
	case lateErr != nil:
		return protocol.Ack{}, lateErr
	case late == nil:
		return protocol.Ack{OK: true}, nil
	}
	if late.Info.SessionKey != "" {
		if err := m.messages.StoreToolResult(ctx, late.Info.SessionKey, *late); err != nil {
			slog.Error("A result could not be stored", "call", p.CallID, "session", late.Info.SessionKey, "err", err)
		}
	}
	return protocol.Ack{OK: true, Dropped: true}, nil
}

// failedCall returns the result of a call that could not be made.
func failedCall(c tool.Call, err error) tool.Result {
	node, name, _ := c.Tool.Split()
	return tool.Result{
		IsError: true, Content: protocol.Content{protocol.Text(protocol.FailureText(node, err.Error()))},
		Info: protocol.CallInfo{
			CallID: c.ID, ToolCallID: c.ToolCallID, SessionKey: c.Session, Node: node, Tool: name, Args: c.Args,
			State: protocol.CallFailed, Error: err.Error(), Direct: c.Direct,
		},
	}
}

// logsLimit is the time in which a node must send its logs. GSV has a constant of 20 s too, but
// only its 60 s take effect.
const logsLimit = 60 * time.Second

func (m *toolMethods) logs(ctx context.Context, _ *request, p protocol.LogsGetParams) (protocol.LogsGetResult, error) {
	return m.nodes.Calls.Logs(ctx, p, logsLimit)
}
