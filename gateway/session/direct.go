package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// directPrincipal prefixes the principal of runs that are the person's own commands.
const directPrincipal = "direct "

func isDirect(r store.Run) bool {
	return strings.HasPrefix(r.Principal, directPrincipal)
}

// startDirect runs the person's own command at once, in parallel to other runs.
func (m *Manager) startDirect(ctx context.Context, p auth.Principal, in protocol.ChatSendParams, command string) (protocol.ChatSendResult, error) {
	in.Node, in.Attachments = cmp.Or(in.Node, defaultNode(m.opts.Nodes())), nil
	if in.Node == "" {
		return protocol.ChatSendResult{}, protocol.ErrUnavailable.With("No machine is connected, so the command cannot run.")
	}
	row := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunTools, Params: in, Principal: directPrincipal + p.String(), CreatedAt: now(), StartedAt: now()}
	msg := protocol.Message{RunID: row.ID, Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!" + command)}, Timestamp: now()}
	if err := m.do(in.SessionKey, func(s *session) {
		if s.run == nil && s.blocks == 0 && len(s.queue) == 0 {
			s.resetWhenDue()
		}
	}); err != nil {
		return protocol.ChatSendResult{}, err
	}
	msg, err := m.store.Runs.Start(ctx, row, msg)
	if err != nil {
		return protocol.ChatSendResult{}, m.pause.onStoreError(err)
	}
	m.publishMessage(row.Session, msg)
	m.publishSession(row.Session)
	m.runs.goDirect(row, func(ctx context.Context, r *run) error { return r.runCommand(ctx, p) })
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: row.ID}, nil
}

// resumeDirect finishes a command of an earlier start with the result in the journal. It runs no
// command again, and starts none that had not started, because nobody waits for it any more.
func (s *session) resumeDirect(row store.Run) {
	s.m.runs.goDirect(row, func(ctx context.Context, r *run) error {
		msgs, err := s.m.store.Messages.OfRun(ctx, row.ID)
		if err != nil {
			return s.m.pause.onStoreError(err)
		}
		if slices.ContainsFunc(msgs, func(msg protocol.Message) bool { return msg.Role == protocol.RoleToolResult }) {
			return nil // only the end of the run was not stored
		}
		_, err = s.m.store.Calls.Get(ctx, directCallID(row.ID))
		if errors.Is(err, protocol.ErrNotFound) {
			return r.appendFailure(protocol.CallInfo{State: protocol.CallCancelled, Error: "The command was not run because Fairlead stopped first."})
		}
		if err != nil {
			return s.m.pause.onStoreError(err)
		}
		return r.runCommand(ctx, auth.Owner(strings.TrimPrefix(row.Principal, directPrincipal)))
	})
}

// StoreToolResult stores the result of a call that a client requested for a session (tool.request,
// docs/protocol.md#tools-and-calls).
func (m *Manager) StoreToolResult(ctx context.Context, key protocol.SessionKey, r tool.Result) error {
	info := r.Info
	info.Tail = "" // it is part of the content
	files := m.media.Upload()
	defer files.Close()
	content := files.Images(r.Content)
	stored, err := m.store.Messages.Append(ctx, m.Canonical(key), protocol.Message{
		Role: protocol.RoleToolResult, Origin: protocol.OriginDirect, ToolCallID: string(info.CallID),
		ToolName: protocol.NewToolName(info.Node, info.Tool), IsError: r.IsError, Call: &info, Content: content, Timestamp: now(),
	})
	if err != nil {
		return m.pause.onStoreError(err)
	}
	m.publishMessage(m.Canonical(key), stored[0])
	m.publishSession(m.Canonical(key))
	return nil
}

// directCallID derives the ID of a command's call from its run, to find it after a restart.
func directCallID(run protocol.RunID) protocol.CallID {
	return protocol.CallID("direct-" + string(run))
}

// appendFailure stores the end of a command that no node answered.
func (r *run) appendFailure(info protocol.CallInfo) error {
	info.CallID = directCallID(r.row.ID)
	info.ToolCallID, info.SessionKey, info.RunID, info.Node = string(info.CallID), r.row.Session, r.row.ID, r.row.Params.Node
	info.Tool, info.Direct, info.EndedAt = "Bash", true, now()
	return r.appendResult(info, true, protocol.Content{protocol.Text("Error: " + info.Error)})
}

// appendResult stores the result of a command.
func (r *run) appendResult(info protocol.CallInfo, isError bool, content protocol.Content) error {
	info.Tail = "" // it is part of the content
	_, err := r.Append(context.WithoutCancel(r.m.ctx), protocol.Message{
		RunID: r.row.ID, Role: protocol.RoleToolResult, Origin: protocol.OriginDirect, ToolCallID: string(directCallID(r.row.ID)),
		ToolName: protocol.NewToolName(r.row.Params.Node, "Bash"), IsError: isError, Call: &info, Timestamp: now(), Content: content,
	})
	return err
}

// goDirect shows a command as a run while f executes it, and publishes how it ended.
func (a *runs) goDirect(row store.Run, f func(context.Context, *run) error) {
	r := a.track(row)
	ctx, cancel := context.WithCancelCause(a.m.ctx)
	r.update(func() { r.cancel = cancel })
	r.publish()
	a.m.wg.Go(func() {
		defer close(r.done)
		defer cancel(nil)
		r.finishUnlessSuspended(ctx, crash.Call("run", func() error { return f(ctx, r) }, "session", row.Session, "run", row.ID))
	})
}

// runCommand runs a command on the run's node and stores its result.
func (r *run) runCommand(ctx context.Context, p auth.Principal) error {
	command := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.row.Params.Message), "!"))
	args, err := protocol.Marshal(map[string]any{"command": command})
	if err != nil {
		return err
	}
	id := directCallID(r.row.ID)
	res, err := r.m.opts.Tools.Run(ctx, tool.Call{
		ID: id, ToolCallID: string(id), Tool: protocol.NewToolName(r.row.Params.Node, "Bash"), Args: args, Session: r.row.Session, Run: r.row.ID,
		Principal: p, Direct: true, AskedBy: protocol.AskedBy{Kind: "chat"},
	})
	cause := context.Cause(ctx)
	if errors.Is(cause, tool.ErrSuspended) {
		return cause
	}
	if err != nil {
		info := protocol.CallInfo{Args: args, State: protocol.CallFailed, Error: err.Error(), StartedAt: r.row.StartedAt}
		if cause != nil {
			info.State, info.Error = protocol.CallCancelled, "Stopped."
		}
		return r.appendFailure(info)
	}
	return r.appendResult(res.Info, res.IsError, res.Content)
}
