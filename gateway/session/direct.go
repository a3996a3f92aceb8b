package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// directPrincipal prefixes the principal of runs that are the person's own commands.
const directPrincipal = "direct "

func isDirect(r store.Run) bool {
	return len(r.Principal) > len(directPrincipal) && r.Principal[:len(directPrincipal)] == directPrincipal
}

// direct runs the person's own command at once, in parallel to other runs.
func (m *Manager) direct(ctx context.Context, p auth.Principal, in protocol.ChatSendParams, command string) (protocol.ChatSendResult, error) {
	node := in.Node
	if node == "" {
		node = defaultNode(m.opts.Nodes())
	}
	if node == "" {
		return protocol.ChatSendResult{}, protocol.ErrUnavailable.With("No machine is connected, so the command cannot run.")
	}
	if err := m.do(context.WithoutCancel(ctx), in.SessionKey, (*session).freshen); err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Node, in.Attachments = node, nil
	r := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunTools, Params: in, Principal: directPrincipal + p.String(), CreatedAt: m.now(), StartedAt: m.now()}
	msg := protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!" + command)}, Timestamp: m.now()}
	stored, err := m.store.Runs.Start(ctx, r, msg)
	if err != nil {
		return protocol.ChatSendResult{}, m.stored(err)
	}
	m.publishMessage(r.Session, stored)
	m.publishSession(r.Session)
	m.runDirect(r, p, command)
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: r.ID}, nil
}

// resumeDirect finishes a command of an earlier start with the result that the journal has. It
// never runs a command again, and does not start one that had not started, because nobody waits for
// it any more.
func (m *Manager) resumeDirect(r store.Run) {
	m.goDirect(r, func(ctx context.Context, l *live) error {
		msgs, err := m.store.Messages.OfRun(ctx, r.ID)
		if err != nil {
			return m.stored(err)
		}
		if slices.ContainsFunc(msgs, func(msg protocol.Message) bool { return msg.Role == protocol.RoleToolResult }) {
			return nil // only the end of the run was not stored
		}
		_, err = m.store.Call(ctx, directCall(r.ID))
		if errors.Is(err, protocol.ErrNotFound) {
			return l.directResult(protocol.CallInfo{State: protocol.CallCancelled, Error: "It was not run: Fairlead stopped first."})
		}
		if err != nil {
			return m.stored(err)
		}
		command := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.Params.Message), "!"))
		return l.command(ctx, auth.Owner(strings.TrimPrefix(r.Principal, directPrincipal)), command)
	})
}

// Requested stores the result of a call that a client requested on behalf of a session
// (tool.request, docs/protocol.md#tools-and-calls).
func (m *Manager) Requested(ctx context.Context, key protocol.SessionKey, r tool.Result) error {
	info := r.Info
	info.Tail = "" // it is part of the content
	k := &keeper{m: m}
	defer k.release()
	content := k.images(r.Content)
	stored, err := m.store.Messages.Append(ctx, m.Canonical(key), protocol.Message{
		Role: protocol.RoleToolResult, Origin: protocol.OriginDirect, ToolCallID: string(info.CallID),
		ToolName: protocol.NewToolName(info.Node, info.Tool), IsError: r.IsError, Call: &info, Content: content, Timestamp: m.now(),
	})
	if err != nil {
		return m.stored(err)
	}
	m.publishMessage(m.Canonical(key), stored[0])
	m.publishSession(m.Canonical(key))
	return nil
}

// directCall derives the ID of a command's call from its run, so that the call is found in the
// journal after a restart.
func directCall(run protocol.RunID) protocol.CallID { return protocol.CallID("direct-" + string(run)) }

// directResult stores the end of a command that no node answered.
func (l *live) directResult(info protocol.CallInfo) error {
	info.CallID = directCall(l.run.ID)
	info.ToolCallID, info.SessionKey, info.RunID, info.Node = string(info.CallID), l.run.Session, l.run.ID, l.run.Params.Node
	info.Tool, info.Direct, info.EndedAt = "Bash", true, l.m.now()
	_, err := l.Append(context.WithoutCancel(l.m.ctx), protocol.Message{
		RunID: l.run.ID, Role: protocol.RoleToolResult, Origin: protocol.OriginDirect,
		ToolCallID: info.ToolCallID, ToolName: protocol.NewToolName(info.Node, "Bash"), IsError: true, Call: &info, Timestamp: l.m.now(),
		Content: protocol.Content{protocol.Text("Error: " + info.Error)},
	})
	return err
}

func (m *Manager) runDirect(r store.Run, p auth.Principal, command string) {
	m.goDirect(r, func(ctx context.Context, l *live) error { return l.command(ctx, p, command) })
}

// goDirect shows a command as a run while f executes it, and publishes how it ended.
func (m *Manager) goDirect(r store.Run, f func(context.Context, *live) error) {
	l := m.track(r)
	ctx, cancel := context.WithCancelCause(m.ctx)
	l.mu.Lock()
	l.stop = cancel
	l.mu.Unlock()
	l.publish()
	m.wg.Go(func() {
		defer close(l.done)
		defer cancel(nil)
		err := f(ctx, l)
		cause := context.Cause(ctx)
		if errors.Is(err, approval.ErrSuspended) || errors.Is(cause, approval.ErrSuspended) {
			return
		}
		if cause != nil {
			err = cause
		}
		l.finish(err)
	})
}

// directOf lists the running commands of a session.
func (m *Manager) directOf(key protocol.SessionKey) []*live {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*live
	for _, l := range m.live {
		if l.run.Session == key && isDirect(l.run) {
			list = append(list, l)
		}
	}
	return list
}

func (l *live) cancelDirect() {
	l.mu.Lock()
	stop := l.stop
	l.mu.Unlock()
	if stop != nil {
		stop(errCancelled)
	}
}

func (l *live) command(ctx context.Context, p auth.Principal, command string) error {
	args, err := protocol.Marshal(map[string]any{"command": command})
	if err != nil {
		return err
	}
	id := directCall(l.run.ID)
	name := protocol.NewToolName(l.run.Params.Node, "Bash")
	res, err := l.m.opts.Tools.Call(ctx, p, tool.Call{
		ID: id, ToolCallID: string(id), Tool: name, Args: args, Session: l.run.Session, Run: l.run.ID,
		Direct: true, AskedBy: protocol.AskedBy{Kind: "chat"},
	})
	cause := context.Cause(ctx)
	if errors.Is(cause, approval.ErrSuspended) {
		return cause
	}
	if err != nil {
		info := protocol.CallInfo{Args: args, State: protocol.CallFailed, Error: err.Error(), StartedAt: l.run.StartedAt}
		if cause != nil {
			info.State, info.Error = protocol.CallCancelled, "Stopped."
		}
		return l.directResult(info)
	}
	info := res.Info
	info.Tail = "" // it is part of the content
	_, err = l.Append(context.WithoutCancel(ctx), protocol.Message{
		RunID: l.run.ID, Role: protocol.RoleToolResult, Origin: protocol.OriginDirect,
		ToolCallID: string(id), ToolName: name, IsError: res.IsError, Call: &info, Content: res.Content, Timestamp: l.m.now(),
	})
	return err
}
