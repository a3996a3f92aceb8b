package rpc

import (
	"cmp"
	"context"
	"reflect"

	"fairlead/gateway/protocol"
)

func registerSessions(all methods, s Services) {
	handle(all, protocol.ChatSend, s.send)
	handle(all, protocol.ChatCancel, bySession(s, s.Chats.Cancel))
	handle(all, protocol.SessionCreate, plain(s.Chats.Create).check(func(_ context.Context, _ *request, p protocol.SessionCreateParams) error {
		return cmp.Or(checkKey(p.SessionKey), checkLabel(p.Label))
	}))
	handle(all, protocol.SessionDelete, bySession(s, s.Chats.Delete))
	handle(all, protocol.SessionRestore, bySession(s, s.Chats.Restore))
	handle(all, protocol.SessionsList, plain(s.Sessions.List))
	handle(all, protocol.SessionsSearch, plain(s.Sessions.Search))
	handle(all, protocol.SessionGet, bySession(s, s.Sessions.Get))
	handle(all, protocol.SessionGetStat, bySession(s, s.Sessions.Stats))
	handle(all, protocol.SessionHistory, bySession(s, s.Transcripts.History))
	handle(all, protocol.SessionPreview, bySession(s, s.Transcripts.Preview))
	handle(all, protocol.MediaGet, plain(s.Transcripts.Media))
	handle(all, protocol.SessionPatch, s.patch)
	handle(all, protocol.SessionReset, bySession(s, s.Editor.Reset))
	handle(all, protocol.SessionCompact, bySession(s, s.Editor.Compact))
	handle(all, protocol.SessionUncompact, bySession(s, s.Editor.Uncompact))
	handle(all, protocol.SessionArchives, bySession(s, s.Archives.Archives))
	handle(all, protocol.SessionArchiveRead, bySession(s, s.Archives.ReadArchive))
	handle(all, protocol.SessionArchiveRestore, bySession(s, s.Archives.RestoreArchive))
}

// bySession is plain for methods whose parameters have a SessionKey: it is required and made
// canonical.
func bySession[P, R any](s Services, f func(context.Context, P) (R, error)) method[P, R] {
	return func(ctx context.Context, _ *request, p P) (out R, err error) {
		key := reflect.ValueOf(&p).Elem().FieldByName("SessionKey").Addr().Interface().(*protocol.SessionKey)
		if err := cmp.Or(require("sessionKey required", string(*key)), checkKey(*key)); err != nil {
			return out, err
		}
		*key = s.Canonical(*key)
		return f(ctx, p)
	}
}

func (s Services) patch(ctx context.Context, r *request, p protocol.SessionPatchParams) (protocol.OK, error) {
	// A change of the approval mode answers future approvals, so it needs the scope to answer them.
	if p.Settings != nil && p.Settings.Approvals != nil && !r.conn.principal().Has(protocol.ScopeApprove) {
		return protocol.OK{}, protocol.ErrForbidden.With("this device may not answer questions, and so not set what the chat asks about")
	}
	if p.Label != nil {
		if err := checkLabel(*p.Label); err != nil {
			return protocol.OK{}, err
		}
	}
	p.By = r.by()
	return bySession(s, s.Editor.Patch)(ctx, r, p)
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
