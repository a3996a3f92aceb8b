package rpc

import (
	"context"

	"fairlead/gateway/protocol"
)

// sessionMethods are the methods for chats.
type sessionMethods struct {
	chats       Chats
	sessions    Sessions
	transcripts Transcripts
	editor      SessionEditor
	archives    Archives
	canonical   func(protocol.SessionKey) protocol.SessionKey
}

func (m sessionMethods) register(all methods) {
	session := func(p *protocol.SessionParams) *protocol.SessionKey { return &p.SessionKey }

	handle(all, protocol.ChatSend, m.send)
	handle(all, protocol.ChatCancel, keyed(m.canonical, func(p *protocol.ChatCancelParams) *protocol.SessionKey { return &p.SessionKey }, m.chats.Cancel))
	handle(all, protocol.SessionCreate, m.create)
	handle(all, protocol.SessionDelete, keyed(m.canonical, session, m.chats.Delete))
	handle(all, protocol.SessionRestore, keyed(m.canonical, session, m.chats.Restore))

	handle(all, protocol.SessionsList, plain(m.sessions.List))
	handle(all, protocol.SessionsSearch, plain(m.sessions.Search))
	handle(all, protocol.SessionGet, keyed(m.canonical, session, m.sessions.Get))
	handle(all, protocol.SessionGetStat, keyed(m.canonical, session, m.sessions.Stats))

	handle(all, protocol.SessionHistory, keyed(m.canonical, session, m.transcripts.History))
	handle(all, protocol.SessionPreview, keyed(m.canonical, func(p *protocol.SessionPreviewParams) *protocol.SessionKey { return &p.SessionKey }, m.transcripts.Preview))
	handle(all, protocol.MediaGet, plain(m.transcripts.Media))

	handle(all, protocol.SessionPatch, m.patch)
	handle(all, protocol.SessionReset, keyed(m.canonical, session, m.editor.Reset))
	handle(all, protocol.SessionCompact, keyed(m.canonical, func(p *protocol.SessionCompactParams) *protocol.SessionKey { return &p.SessionKey }, m.editor.Compact))
	handle(all, protocol.SessionUncompact, keyed(m.canonical, session, m.editor.Uncompact))

	handle(all, protocol.SessionArchives, keyed(m.canonical, session, m.archives.Archives))
	handle(all, protocol.SessionArchiveRead, keyed(m.canonical, func(p *protocol.SessionArchiveReadParams) *protocol.SessionKey { return &p.SessionKey }, m.archives.ReadArchive))
	handle(all, protocol.SessionArchiveRestore, keyed(m.canonical, func(p *protocol.SessionArchiveRestoreParams) *protocol.SessionKey { return &p.SessionKey }, m.archives.RestoreArchive))
}

func (m sessionMethods) send(ctx context.Context, r *request, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if p.SessionKey == "" || p.Message == "" && len(p.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := checkKey(p.SessionKey); err != nil {
		return protocol.ChatSendResult{}, err
	}
	if err := checkID("runId", string(p.RunID)); err != nil {
		return protocol.ChatSendResult{}, err
	}
	p.SessionKey = r.conn.feed.storeSpelling(p.SessionKey)
	p.Remind = !r.conn.feed.isSubscribed()
	return m.chats.Send(ctx, r.conn.principal(), p)
}

// create creates a chat; without a key, with a generated one (extension).
func (m sessionMethods) create(ctx context.Context, _ *request, p protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	if err := checkKey(p.SessionKey); err != nil {
		return protocol.SessionEntry{}, err
	}
	if err := checkLabel(p.Label); err != nil {
		return protocol.SessionEntry{}, err
	}
	return m.chats.Create(ctx, p)
}

// patch changes the settings of a chat (session.patch). A change of the approval setting answers
// future approvals, so it needs the scope to answer them.
func (m sessionMethods) patch(ctx context.Context, r *request, p protocol.SessionPatchParams) (protocol.OK, error) {
	if p.Settings != nil && p.Settings.Approvals != nil && !r.conn.principal().Has(protocol.ScopeApprove) {
		return protocol.OK{}, protocol.ErrForbidden.With("this device may not answer questions, and so not set what the chat asks about")
	}
	if p.Label != nil {
		if err := checkLabel(*p.Label); err != nil {
			return protocol.OK{}, err
		}
	}
	p.By = r.conn.principal().String()
	return keyed(m.canonical, func(p *protocol.SessionPatchParams) *protocol.SessionKey { return &p.SessionKey }, m.editor.Patch)(ctx, r, p)
}
