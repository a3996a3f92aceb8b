package rpc

import (
	"cmp"
	"context"

	"fairlead/gateway/protocol"
)

func registerSessions(all methods, s Services) {
	session := func(p *protocol.SessionParams) *protocol.SessionKey { return &p.SessionKey }
	patch := bySession(s.Canonical, func(p *protocol.SessionPatchParams) *protocol.SessionKey { return &p.SessionKey }, s.Editor.Patch)
	handle(all, protocol.ChatSend, s.send)
	handle(all, protocol.ChatCancel,
		bySession(s.Canonical, func(p *protocol.ChatCancelParams) *protocol.SessionKey { return &p.SessionKey }, s.Chats.Cancel))
	handle(all, protocol.SessionCreate, plain(func(ctx context.Context, p protocol.SessionCreateParams) (protocol.SessionEntry, error) {
		if err := cmp.Or(checkKey(p.SessionKey), checkLabel(p.Label)); err != nil {
			return protocol.SessionEntry{}, err
		}
		return s.Chats.Create(ctx, p)
	}))
	handle(all, protocol.SessionDelete, bySession(s.Canonical, session, s.Chats.Delete))
	handle(all, protocol.SessionRestore, bySession(s.Canonical, session, s.Chats.Restore))
	handle(all, protocol.SessionsList, plain(s.Sessions.List))
	handle(all, protocol.SessionsSearch, plain(s.Sessions.Search))
	handle(all, protocol.SessionGet, bySession(s.Canonical, session, s.Sessions.Get))
	handle(all, protocol.SessionGetStat, bySession(s.Canonical, session, s.Sessions.Stats))
	handle(all, protocol.SessionHistory, bySession(s.Canonical, session, s.Transcripts.History))
	handle(all, protocol.SessionPreview,
		bySession(s.Canonical, func(p *protocol.SessionPreviewParams) *protocol.SessionKey { return &p.SessionKey }, s.Transcripts.Preview))
	handle(all, protocol.MediaGet, plain(s.Transcripts.Media))
	handle(all, protocol.SessionPatch, func(ctx context.Context, r *request, p protocol.SessionPatchParams) (protocol.OK, error) {
		// A change of the approval mode answers future approvals, so it needs the scope to answer
		// them.
		if p.Settings != nil && p.Settings.Approvals != nil && !r.conn.principal().Has(protocol.ScopeApprove) {
			return protocol.OK{}, protocol.ErrForbidden.With("this device may not answer questions, and so not set what the chat asks about")
		}
		if p.Label != nil {
			if err := checkLabel(*p.Label); err != nil {
				return protocol.OK{}, err
			}
		}
		p.By = r.by()
		return patch(ctx, r, p)
	})
	handle(all, protocol.SessionReset, bySession(s.Canonical, session, s.Editor.Reset))
	handle(all, protocol.SessionCompact,
		bySession(s.Canonical, func(p *protocol.SessionCompactParams) *protocol.SessionKey { return &p.SessionKey }, s.Editor.Compact))
	handle(all, protocol.SessionUncompact, bySession(s.Canonical, session, s.Editor.Uncompact))
	handle(all, protocol.SessionArchives, bySession(s.Canonical, session, s.Archives.Archives))
	handle(all, protocol.SessionArchiveRead,
		bySession(s.Canonical, func(p *protocol.SessionArchiveReadParams) *protocol.SessionKey { return &p.SessionKey }, s.Archives.ReadArchive))
	handle(all, protocol.SessionArchiveRestore,
		bySession(s.Canonical, func(p *protocol.SessionArchiveRestoreParams) *protocol.SessionKey { return &p.SessionKey }, s.Archives.RestoreArchive))
}

func (s Services) send(ctx context.Context, r *request, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if p.SessionKey == "" || p.Message == "" && len(p.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := cmp.Or(checkKey(p.SessionKey), checkID("runId", string(p.RunID))); err != nil {
		return protocol.ChatSendResult{}, err
	}
	p.SessionKey = r.conn.feed.storeSpelling(p.SessionKey)
	p.Remind = !r.conn.feed.isSubscribed()
	return s.Chats.Send(ctx, r.conn.principal(), p)
}
