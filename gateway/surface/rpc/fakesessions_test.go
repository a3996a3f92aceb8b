package rpc

import (
	"context"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

type (
	fakeChats    struct{}
	fakeHistory  struct{}
	fakeRuns     struct{ f *fakes }
	fakeEditor   struct{}
	fakeTrash    struct{}
	fakeMessages struct{ f *fakes }
)

func (s fakeMessages) Send(_ context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if s.f.sent != nil {
		s.f.sent(in)
	}
	switch in.Message {
	case "/help":
		return protocol.ChatSendResult{Status: protocol.ChatCommand, Command: "help", Response: "text for " + p.String()}, nil
	case "what?":
		if in.Remind {
			return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: in.RunID, Response: "Reply yes or no.", ApprovalID: "a1"}, nil
		}
	case "yes":
		return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: in.RunID, Response: "approved", ApprovalID: "a1"}, nil
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, fails(in.Message)
}

func (fakeMessages) Resend(_ context.Context, p auth.Principal, in protocol.ChatResendParams) (protocol.ChatResendResult, error) {
	return protocol.ChatResendResult{RunID: in.RunID, ArchiveID: protocol.ArchiveID(p.Kind)}, fails(string(in.MessageID))
}

func (fakeEditor) DeleteMessage(_ context.Context, in protocol.MessageParams) (protocol.MessageDeleteResult, error) {
	return protocol.MessageDeleteResult{OK: true, ArchiveID: "a", Messages: 3, UndoUntil: 10}, fails(string(in.MessageID))
}

func (fakeChats) Fork(_ context.Context, in protocol.SessionForkParams) (protocol.SessionEntry, error) {
	return protocol.SessionEntry{SessionKey: in.SessionKey + ":fork", Label: string(in.MessageID)}, fails(string(in.MessageID))
}

func (fakeRuns) Cancel(_ context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
	return protocol.ChatCancelResult{OK: true, RunID: in.RunID, Cancelled: in.RunID != ""}, nil
}

func (fakeChats) List(_ context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	return protocol.SessionsListResult{Sessions: []protocol.SessionEntry{{SessionKey: protocol.MainSession, Label: in.Query}}, Count: in.Offset + in.Limit}, nil
}

func (fakeHistory) Search(_ context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
	if in.Query == "" {
		return protocol.SessionsSearchResult{}, protocol.ErrBadRequest.With("query required: at least one word or emoji")
	}
	return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{
		SessionKey: "agent:main:main", SessionID: "s1", Title: "t", Archived: true, MessageID: "m1",
		Seq: 1, Role: protocol.RoleUser, Snippet: []protocol.Snippet{{Text: "a "}, {Text: in.Query, Mark: true}},
	}}, Next: 7}, nil
}

func (fakeChats) Get(_ context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	if in.SessionKey == "panic" {
		panic("boom")
	}
	return protocol.SessionGetResult{SessionID: "s1", SessionKey: in.SessionKey}, fails(string(in.SessionKey))
}

func (fakeRuns) Stats(_ context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	return protocol.SessionStats{SessionKey: in.SessionKey, QueueSize: 2, IsProcessing: true}, nil
}

func (fakeChats) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	return protocol.OK{OK: in.Label != nil}, nil
}

func (fakeEditor) Reset(_ context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	return protocol.SessionResetResult{OK: true, SessionKey: in.SessionKey, OldSessionID: "s1", NewSessionID: "s2", ArchivedMessages: 3}, nil
}

func (fakeEditor) Compact(_ context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	if in.KeepMessages == nil {
		return protocol.SessionCompactResult{OK: true, KeptMessages: 20}, nil
	}
	if *in.KeepMessages < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	return protocol.SessionCompactResult{OK: true, TrimmedMessages: 9, KeptMessages: *in.KeepMessages, ArchivedTo: "archive/" + in.Focus}, nil
}

func (fakeEditor) Uncompact(context.Context, protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	return protocol.SessionUncompactResult{OK: true, Messages: 9}, nil
}

func (fakeHistory) Archives(_ context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	return protocol.SessionArchivesResult{SessionKey: in.SessionKey, Archives: []protocol.ArchiveInfo{{ID: "a", SessionID: "s1", Kind: protocol.ArchiveReset, Messages: 1, ArchivedTo: "archive/a"}}}, nil
}

func (fakeEditor) RestoreArchive(_ context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	out := protocol.SessionArchiveRestoreResult{OK: true, SessionKey: in.SessionKey, SessionID: "s1", Messages: 3}
	switch in.ID {
	case "":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrBadRequest.With("id required")
	case "none":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrNotFound.With("The chat has no archive none")
	case "busy", "part", "damaged":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrConflict.With("It is " + string(in.ID) + ".")
	case "a":
		out.Archived = &protocol.ArchiveInfo{ID: "s2", SessionID: "s2", Kind: protocol.ArchiveReset, Messages: 1, ArchivedTo: "archive/s2"}
	}
	return out, nil
}

func (fakeHistory) ReadArchive(_ context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	if in.ID == "" {
		return protocol.SessionArchiveReadResult{}, protocol.ErrBadRequest.With("id required")
	}
	return protocol.SessionArchiveReadResult{Archive: protocol.ArchiveInfo{ID: in.ID, Kind: protocol.ArchiveCompact}, Messages: []protocol.Message{}}, nil
}

func (fakeHistory) SessionIDs(_ context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	return protocol.SessionHistoryResult{SessionKey: in.SessionKey, CurrentSessionID: "s2", PreviousSessionIDs: []protocol.SessionID{"s1"}}, nil
}

func (fakeHistory) Preview(_ context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	text := "hello"
	if in.SessionKey == "huge" {
		text = strings.Repeat("x", in.Limit)
	}
	return protocol.SessionPreviewResult{
		SessionKey: in.SessionKey, SessionID: "s1", MessageCount: 1,
		Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}},
	}, nil
}

func (fakeChats) Create(_ context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	return protocol.SessionEntry{SessionKey: in.SessionKey, Label: in.Label}, nil
}

func (fakeTrash) Delete(context.Context, protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	return protocol.SessionDeleteResult{OK: true, UndoUntil: 10}, nil
}

func (fakeTrash) Restore(context.Context, protocol.SessionParams) (protocol.OK, error) {
	return protocol.OK{OK: true}, nil
}

func (fakeMessages) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return protocol.MediaGetResult{MimeType: "image/png", Data: "AA=="}, fails(in.Key)
}

func (fakeRuns) Active() []protocol.RunInfo { return nil }

func (r fakeRuns) Pause(_ context.Context, paused bool) error {
	r.f.paused.Store(paused)
	return nil
}

func (s fakeMessages) StoreToolResult(_ context.Context, key protocol.SessionKey, r tool.Result) error {
	s.f.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &protocol.Message{
		Role: protocol.RoleToolResult, ToolCallID: r.Info.ToolCallID, IsError: r.IsError, Content: r.Content,
	}})
	return nil
}
