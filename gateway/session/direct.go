package session

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/gateway/auth"
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
func (r *Runs) startDirect(ctx context.Context, p auth.Principal, in protocol.ChatSendParams, command string) (protocol.ChatSendResult, error) {
	in.Node, in.Attachments = cmp.Or(in.Node, defaultNode(r.x.prompts.nodes())), nil
	if in.Node == "" {
		return protocol.ChatSendResult{}, protocol.ErrUnavailable.With("No machine is connected, so the command cannot run.")
	}
	row := store.Run{ID: in.RunID, Session: in.SessionKey, State: protocol.RunTools, Params: in, Principal: directPrincipal + p.String(), CreatedAt: now(), StartedAt: now()}
	msg := protocol.Message{RunID: row.ID, Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!" + command)}, Timestamp: now()}
	if err := r.do(in.SessionKey, func(s *session) {
		if s.run == nil && s.blocks == 0 && len(s.queue) == 0 {
			s.resetWhenDue()
		}
	}); err != nil {
		return protocol.ChatSendResult{}, err
	}
	msg, err := r.x.runs.Start(ctx, row, msg)
	if err != nil {
		return protocol.ChatSendResult{}, r.x.pause.onStoreError(err)
	}
	r.x.chats.publishMessage(row.Session, msg)
	r.x.chats.publishSession(row.Session)
	r.x.execute(row, func(r *run, ctx context.Context) error { return r.runCommand(ctx, p) }, func() {})
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: row.ID}, nil
}

// resumeDirect finishes a command of an earlier start with the result in the journal. It runs no
// command again, and starts none that had not started, because nobody waits for it any more.
func (s *session) resumeDirect(row store.Run) {
	s.x.execute(row, func(r *run, ctx context.Context) error {
		msgs, err := s.x.messages.OfRun(ctx, row.ID)
		if err != nil {
			return s.x.pause.onStoreError(err)
		}
		if slices.ContainsFunc(msgs, func(msg protocol.Message) bool { return msg.Role == protocol.RoleToolResult }) {
			return nil // only the end of the run was not stored
		}
		_, err = s.x.calls.Get(ctx, directCallID(row.ID))
		if errors.Is(err, protocol.ErrNotFound) {
			return r.appendFailure(protocol.CallInfo{State: protocol.CallCancelled, Error: "The command was not run because Fairlead stopped first."})
		}
		if err != nil {
			return s.x.pause.onStoreError(err)
		}
		return r.runCommand(ctx, auth.Owner(strings.TrimPrefix(row.Principal, directPrincipal)))
	}, func() {})
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
	_, err := r.Append(context.WithoutCancel(r.x.workers.Context()), protocol.Message{
		RunID: r.row.ID, Role: protocol.RoleToolResult, Origin: protocol.OriginDirect, ToolCallID: string(directCallID(r.row.ID)),
		ToolName: protocol.NewToolName(r.row.Params.Node, "Bash"), IsError: isError, Call: &info, Timestamp: now(), Content: content,
	})
	return err
}

// runCommand runs a command on the run's node and stores its result.
func (r *run) runCommand(ctx context.Context, p auth.Principal) error {
	command := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(r.row.Params.Message), "!"))
	args, err := protocol.Marshal(map[string]any{"command": command})
	if err != nil {
		return err
	}
	id := directCallID(r.row.ID)
	res, err := r.x.tools.Run(ctx, tool.Call{
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
