package session

import (
	"cmp"
	"context"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Resend replaces a message of the person and everything after it, and starts a run that answers it.
func (m *Messages) Resend(ctx context.Context, p auth.Principal, in protocol.ChatResendParams) (out protocol.ChatResendResult, err error) {
	if p.Kind != auth.KindOwner {
		return out, protocol.ErrForbidden.With("only the person can send a message again")
	}
	in.SessionKey = m.chats.Canonical(in.SessionKey)
	out.RunID = cmp.Or(in.RunID, protocol.RunID(protocol.NewID()))
	done, err := m.runs.reserve(ctx, out.RunID)
	if err != nil {
		return out, err
	}
	defer done()
	files := m.media.Upload()
	defer files.Close()
	old, err := m.history.question(ctx, in.SessionKey, in.MessageID)
	if err != nil {
		return out, err
	}
	row, err := resent(old, in)
	if err != nil {
		return out, err
	}
	if in.Attachments != nil {
		if row.Images, err = upload(ctx, m.workers.Context(), files, *in.Attachments); err != nil {
			return out, err
		}
	}
	row.ID, row.Params.RunID, row.Principal = out.RunID, out.RunID, p.String()
	if err := m.runs.stopRunAndBlock(ctx, in.SessionKey); err != nil {
		return out, err
	}
	defer m.runs.unblock(in.SessionKey)
	if doErr := m.runs.do(in.SessionKey, func(s *session) { out.ArchiveID, err = s.replace(old.ID, row) }); doErr != nil {
		return out, doErr
	}
	return out, m.pause.onStoreError(err)
}

// resent returns the run for a message that replaces another. A model for this message only becomes
// a setting in its text, so that a restart uses the same model.
func resent(old protocol.Message, in protocol.ChatResendParams) (store.Run, error) {
	text := old.Content.Text()
	if in.Message != nil {
		text = strings.TrimSpace(*in.Message)
	}
	row := store.Run{Session: in.SessionKey, Params: protocol.ChatSendParams{SessionKey: in.SessionKey, Node: in.Node}}
	for _, b := range old.Content {
		if b.Type != protocol.BlockText && in.Attachments == nil {
			row.Images = append(row.Images, b)
		}
	}
	switch isEmpty := text == "" && len(row.Images) == 0 && (in.Attachments == nil || len(*in.Attachments) == 0); {
	case isEmpty:
		return row, protocol.ErrBadRequest.With("message required")
	case in.Message != nil && (strings.HasPrefix(text, "!") || isCommand(text)):
		return row, protocol.ErrBadRequest.With("A command cannot replace a message. Send it as a new message.")
	}
	if in.Model != nil {
		if _, ok := parseModel(in.Model.String()); !ok {
			return row, protocol.ErrBadRequest.With("model must have a provider and an id")
		}
		text = strings.TrimSpace("/model:" + in.Model.String() + " " + text)
	}
	row.Params.Message = text
	return row, checkLength(text)
}

// isCommand reports whether a message is a slash command.
func isCommand(text string) bool {
	match := commandPattern.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	name := strings.ToLower(match[1] + match[3])
	return commands[cmp.Or(shortNames[name], name)] != nil
}

// replace stores a run in place of a message and everything after it. The run starts when the chat
// is unblocked.
func (s *session) replace(old protocol.MessageID, row store.Run) (protocol.ArchiveID, error) {
	if s.hasEarlierRuns && !s.x.resumed.Load() {
		return "", errStarting
	}
	if len(s.x.active.commandsOf(s.key)) > 0 {
		return "", errOwnCommand
	}
	at := now()
	row.CreatedAt = max(at, s.lastCreatedAt+1)
	row.State, row.StartedAt = protocol.RunThinking, at
	a, _, err := s.x.archives.Replace(context.WithoutCancel(s.x.workers.Context()), old, row, message(row), at)
	if err != nil {
		return "", err
	}
	s.lastCreatedAt = row.CreatedAt
	s.queue.add(row)
	s.x.track(row, nil).progress.publish()
	s.x.chats.publishHistory(s.key)
	return a.ID, nil
}
