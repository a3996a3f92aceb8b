package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// invoke runs a tool as a direct action of the person (tool.invoke,
// docs/protocol.md#tools-and-calls).
func (s *Server) invoke(ctx context.Context, c *Conn, p protocol.ToolInvokeParams) (protocol.ToolInvokeResult, error) {
	if p.Tool == "" {
		return protocol.ToolInvokeResult{}, protocol.ErrBadRequest.With("tool required")
	}
	if args := bytes.TrimSpace(p.Args); len(args) > 0 && args[0] != '{' && string(args) != "null" {
		return protocol.ToolInvokeResult{}, protocol.ErrBadRequest.With("args must be an object")
	}
	if err := mayRun(c.who(), p.Tool, p.Args); err != nil {
		return protocol.ToolInvokeResult{}, err
	}
	raw, err := s.direct(ctx, c, tool.Call{Tool: p.Tool, Args: p.Args})
	return protocol.ToolInvokeResult{Result: raw}, err
}

// direct runs a call as a direct action of the person.
func (s *Server) direct(ctx context.Context, c *Conn, call tool.Call) (json.RawMessage, error) {
	return answerOf(s.s.Tools.Run(ctx, c.own(call)))
}

// own marks a call as a direct action of the person.
func (c *Conn) own(call tool.Call) tool.Call {
	call.Principal, call.Direct, call.AskedBy = c.who(), true, protocol.AskedBy{Kind: "client", Name: c.clientID()}
	return call
}

// answerOf converts the outcome of a direct call to a response.
func answerOf(res tool.Result, err error) (json.RawMessage, error) {
	var bad *toolkit.InputError
	switch {
	case errors.As(err, &bad):
		return nil, protocol.ErrBadRequest.With(bad.Error())
	case errors.Is(err, protocol.ErrTimeout):
		return nil, unknownOutcome(protocol.ErrTimeout.With(err.Error()))
	case err != nil:
		return nil, err
	case res.Info.State == protocol.CallDenied:
		return nil, protocol.ErrForbidden.With(res.Info.Error)
	case res.Info.Error != "" && res.Info.State == protocol.CallUnknown:
		return nil, unknownOutcome(protocol.ErrUnavailable.With(res.Info.Error))
	case res.Info.Error != "":
		return nil, protocol.ErrInternal.With(res.Info.Error)
	}
	return res.Raw, nil
}

// unknownOutcome marks the error of a call that may have run: repeating it blindly could run it
// twice.
func unknownOutcome(e *protocol.Error) error {
	e.Retryable = false
	return e
}

// request dispatches a call on behalf of a session and confirms that it was accepted
// (tool.request). The call is tied to the gateway, not to the connection; its result goes to the
// session. An ID that an earlier call had is refused: the session would get the result of that call
// instead.
func (s *Server) request(ctx context.Context, c *Conn, p protocol.ToolRequestParams) (protocol.ToolRequestResult, error) {
	if p.CallID == "" || p.Tool == "" || p.SessionKey == "" {
		return protocol.ToolRequestResult{}, protocol.ErrBadRequest.With("callId, tool, and sessionKey required")
	}
	if args := bytes.TrimSpace(p.Args); len(args) == 0 || args[0] != '{' {
		return protocol.ToolRequestResult{}, protocol.ErrBadRequest.With("args must be an object")
	}
	if err := checkKey(p.SessionKey); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	if err := checkID("callId", string(p.CallID)); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	if err := has(c.who(), protocol.ScopeChat, "the result would go to a chat, and this device may not write there"); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	if err := mayRun(c.who(), p.Tool, p.Args); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	if _, err := s.s.Registry.Lookup(p.Tool); err != nil {
		return protocol.ToolRequestResult{}, err
	}
	release, err := s.claim(ctx, p.CallID)
	if err != nil {
		return protocol.ToolRequestResult{}, err
	}
	key := c.spell(p.SessionKey)
	call := c.own(tool.Call{ID: p.CallID, ToolCallID: string(p.CallID), Tool: p.Tool, Args: p.Args, Session: key})
	started := s.background(func(ctx context.Context) {
		defer release()
		res, err := s.s.Tools.Run(ctx, call)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			slog.Warn("A requested call failed", "call", call.ID, "tool", call.Tool, "session", key, "err", err)
			res = failedCall(call, err)
		}
		if s.s.Requested == nil {
			return
		}
		if err := s.s.Requested(ctx, key, res); err != nil {
			slog.Error("A result could not be stored", "call", call.ID, "session", key, "err", err)
		}
	})
	if !started {
		release()
		return protocol.ToolRequestResult{}, protocol.ErrUnavailable.With("the gateway stops")
	}
	return protocol.ToolRequestResult{Status: "sent"}, nil
}

// claim reserves the ID of a requested call until release.
func (s *Server) claim(ctx context.Context, id protocol.CallID) (release func(), err error) {
	s.mu.Lock()
	taken := s.requested[id]
	if !taken {
		s.requested[id] = true
	}
	s.mu.Unlock()
	release = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.requested, id)
	}
	if !taken {
		if taken, err = s.s.Tools.IsKnown(ctx, id); err == nil && !taken {
			return release, nil
		}
		release()
	}
	if err == nil {
		err = protocol.ErrConflict.With(fmt.Sprintf("a call with the id %s exists already", id))
	}
	return nil, err
}

// result takes the result of a call from a node (tool.result). A result for which nobody waits any
// more may still settle a call with an unknown outcome.
func (s *Server) result(ctx context.Context, c *Conn, p protocol.ToolResultParams) (protocol.Ack, error) {
	ack, err := s.s.Nodes.Result(c.node(), p)
	if !ack.Dropped && !errors.Is(err, protocol.ErrNotFound) {
		return ack, err
	}
	late, lateErr := s.s.Tools.AcceptLateResult(ctx, c.node(), p)
	switch {
	case errors.Is(lateErr, protocol.ErrNotFound):
		return ack, err
	case lateErr != nil:
		return protocol.Ack{}, lateErr
	}
	if late.Info.SessionKey != "" && s.s.Requested != nil {
		if err := s.s.Requested(ctx, late.Info.SessionKey, *late); err != nil {
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
