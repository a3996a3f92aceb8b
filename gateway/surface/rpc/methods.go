package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/cron"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// newMethods returns the method table. background runs a function until the server closes.
func newMethods(s Services, w *watches, background func(func(context.Context)) bool) methods {
	all := make(methods)
	s.Sessions.register(all)
	(&toolMethods{
		Calls: s.Calls, nodes: s.Nodes, messages: s.Sessions.Messages, background: background, activeRequests: make(map[protocol.CallID]bool),
	}).register(all)
	deviceMethods{s.Devices, s.Nodes}.register(all)
	registerApps(all, s.Programs.Apps, s.Programs.Commands)
	registerServers(all, s.Servers)
	s.Published.register(all)
	registerCatalog(all, s.Programs.Catalog)
	s.Questions.register(all)
	ruleMethods{s.Rules, s.Questions.Queue, s.Records.Journal, s.Nodes}.register(all)
	recordMethods{s.Records, s.Sessions.Canonical}.register(all)
	settingMethods{s.Config, s.Models, s.LocalModels, s.Nodes}.register(all)
	registerWorkspaces(all, s.Files)
	registerTransfers(all, s.Transfers, s.Calls.Transfers)
	registerChannels(all, s.Channels)
	browseMethods{s.Nodes, s.Calls.Tools, w}.register(all)
	feedMethods{s.Bus, s.Status, s.Sessions, s.Calls.Tools, s.Questions.Queue, s.Transfers, s.Nodes}.register(all)
	registerSchedules(all, s.Schedules)
	registerForwards(all, s.Forwards)
	registerTerminals(all, s.Terminals)
	registerProvisioning(all, s.Provisioning)
	handle(all, protocol.ExposureList, query(s.Exposures.All))
	handle(all, protocol.SkillsStatus, plain(s.Skills.Status))
	handle(all, protocol.SkillsUpdate, plain(s.Skills.Status))
	handle(all, protocol.SkillsEnable, plain(s.Skills.Enable))
	return all
}

type handler func(ctx context.Context, r *request, params json.RawMessage) (any, error)

type methods map[string]handler

func handle[P, R any](all methods, m protocol.Method[P, R], f method[P, R]) {
	all[m.Name] = func(ctx context.Context, r *request, raw json.RawMessage) (any, error) {
		var p P
		if decoded, ok := any(r.Result).(*P); ok && decoded != nil {
			p = *decoded
		} else if len(raw) > 0 && string(raw) != "null" {
			if err := protocol.Unmarshal(raw, &p); err != nil {
				return nil, protocol.ErrBadRequest.With(fmt.Sprintf("params of %s: %s", m.Name, protocol.Problem(err)))
			}
			if err := protocol.CheckIDs(raw, &p); err != nil {
				return nil, protocol.ErrBadRequest.With(fmt.Sprintf("params of %s: %s", m.Name, err))
			}
		}
		out, err := f(ctx, r, p)
		return out, brief(err)
	}
}

// method is a method with its parameter and result types.
type method[P, R any] func(context.Context, *request, P) (R, error)

// check returns f preceded by a check that may refuse the request.
func (f method[P, R]) check(refuse func(context.Context, *request, P) error) method[P, R] {
	return func(ctx context.Context, r *request, p P) (out R, err error) {
		if err := refuse(ctx, r, p); err != nil {
			return out, err
		}
		return f(ctx, r, p)
	}
}

// requires is check for a text that must not be empty.
func (f method[P, R]) requires(name string, text func(P) string) method[P, R] {
	return f.check(func(_ context.Context, _ *request, p P) error { return require(name+" required", text(p)) })
}

// plain adapts a service method that does not need the connection.
func plain[P, R any](f func(context.Context, P) (R, error)) method[P, R] {
	return func(ctx context.Context, _ *request, p P) (R, error) { return f(ctx, p) }
}

// query adapts a service method without parameters.
func query[R any](f func(context.Context) (R, error)) method[protocol.Empty, R] {
	return func(ctx context.Context, _ *request, _ protocol.Empty) (R, error) { return f(ctx) }
}

// withCaller adapts a service method that records who called it.
func withCaller[P, R any](f func(context.Context, string, P) (R, error)) method[P, R] {
	return func(ctx context.Context, r *request, p P) (R, error) { return f(ctx, r.by(), p) }
}

// withPrincipal adapts a service method that depends on who calls it.
func withPrincipal[P, R any](f func(context.Context, auth.Principal, P) (R, error)) method[P, R] {
	return func(ctx context.Context, r *request, p P) (R, error) { return f(ctx, r.conn.peer().principal, p) }
}

// withAck adapts a service method that returns nothing but an error.
func withAck[P any](f func(context.Context, string, P) error) method[P, protocol.OK] {
	return func(ctx context.Context, r *request, p P) (protocol.OK, error) {
		err := f(ctx, r.by(), p)
		return protocol.OK{OK: err == nil}, err
	}
}

// Limits of the parts of an error message: it may repeat megabytes of what the peer sent.
const (
	maxMessageHead = 300
	maxMessageTail = 200
)

// brief shortens the message of an error about a request. A tool's own error text is not cut.
func brief(err error) error {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok || errors.Is(e, protocol.ErrInternal) {
		return err
	}
	return e.With(format.CutMiddle(err.Error(), maxMessageHead, maxMessageTail, " … "))
}

func require(message string, values ...string) error {
	if slices.Contains(values, "") {
		return protocol.ErrBadRequest.With(message)
	}
	return nil
}

// list returns l, or an empty list in place of nil, which would be null in JSON.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func registerSchedules(all methods, s *cron.Scheduler) {
	handle(all, protocol.CronStatusGet, plain(s.Status))
	handle(all, protocol.CronList, plain(s.List))
	handle(all, protocol.CronAdd, plain(s.Add))
	handle(all, protocol.CronUpdate, plain(s.Update))
	handle(all, protocol.CronRemove, plain(s.Remove))
	handle(all, protocol.CronRunNow, plain(s.RunNow))
	handle(all, protocol.CronRuns, plain(s.Runs))
	handle(all, protocol.CronPreview, plain(s.Preview))
	handle(all, protocol.HeartbeatStatus, plain(s.HeartbeatStatus))
	handle(all, protocol.HeartbeatStart, plain(s.HeartbeatStart))
	handle(all, protocol.HeartbeatTrigger, plain(s.HeartbeatTrigger))
}

func registerChannels(all methods, hub *channel.Hub) {
	handle(all, protocol.ChannelInbound, func(ctx context.Context, r *request, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
		// Unlike in GSV, a channel may speak only for its own account.
		name, account := r.conn.peer().account()
		same := protocol.ConnectParams{Client: protocol.ClientInfo{Channel: in.Channel, AccountID: in.AccountID}}
		if in.Channel != "" && in.AccountID != "" && (channel.Name(&same) != nil || same.Client.Channel != name || same.Client.AccountID != account) {
			return protocol.ChannelInboundResult{}, protocol.ErrForbidden.With("This connection speaks for " + name + ":" + account + " only.")
		}
		return hub.Inbox.Inbound(context.WithoutCancel(ctx), in)
	})
	handle(all, protocol.ReportDelivery, func(_ context.Context, r *request, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
		name, account := r.conn.peer().account()
		return hub.Programs.Delivered(name, account, in)
	})
	handle(all, protocol.ChannelsList, plain(hub.Accounts.List))
	handle(all, protocol.ChannelStart, plain(hub.Accounts.Start))
	handle(all, protocol.ChannelStop, plain(hub.Accounts.Stop))
	handle(all, protocol.ChannelStatus, plain(hub.Accounts.Status))
	handle(all, protocol.ChannelLogin, plain(hub.Accounts.Login))
	handle(all, protocol.ChannelLogout, plain(hub.Accounts.Logout))
	handle(all, protocol.PairList, plain(hub.Senders.Pairs))
	handle(all, protocol.PairApprove, withPrincipal(hub.Senders.Approve))
	handle(all, protocol.PairReject, withPrincipal(hub.Senders.Reject))
}

func (s Sessions) register(all methods) {
	handle(all, protocol.ChatSend, s.send)
	handle(all, protocol.ChatCancel, bySession(s.Canonical, s.Runs.Cancel))
	handle(all, protocol.ChatResend, func(ctx context.Context, r *request, p protocol.ChatResendParams) (protocol.ChatResendResult, error) {
		if err := checkID("runId", string(p.RunID)); err != nil {
			return protocol.ChatResendResult{}, err
		}
		resend := func(ctx context.Context, p protocol.ChatResendParams) (protocol.ChatResendResult, error) {
			return s.Messages.Resend(ctx, r.conn.peer().principal, p)
		}
		return bySession(s.Canonical, resend)(ctx, r, p)
	})
	handle(all, protocol.MessageDelete, bySession(s.Canonical, s.Editor.DeleteMessage))
	handle(all, protocol.SessionFork, bySession(s.Canonical, s.Chats.Fork))
	handle(all, protocol.SessionCreate, plain(s.Chats.Create).check(func(_ context.Context, _ *request, p protocol.SessionCreateParams) error {
		return cmp.Or(checkKey(p.SessionKey), checkLabel(p.Label))
	}))
	handle(all, protocol.SessionDelete, bySession(s.Canonical, s.Trash.Delete))
	handle(all, protocol.SessionRestore, bySession(s.Canonical, s.Trash.Restore))
	handle(all, protocol.SessionsList, plain(s.Chats.List))
	handle(all, protocol.SessionsSearch, plain(s.History.Search))
	handle(all, protocol.SessionGet, bySession(s.Canonical, s.Chats.Get))
	handle(all, protocol.SessionGetStat, bySession(s.Canonical, s.Runs.Stats))
	handle(all, protocol.SessionHistory, bySession(s.Canonical, s.History.SessionIDs))
	handle(all, protocol.SessionPreview, bySession(s.Canonical, s.History.Preview))
	handle(all, protocol.MediaGet, plain(s.Messages.Media))
	handle(all, protocol.SessionPatch, s.patch)
	handle(all, protocol.SessionReset, bySession(s.Canonical, s.Editor.Reset))
	handle(all, protocol.SessionCompact, bySession(s.Canonical, s.Editor.Compact))
	handle(all, protocol.SessionUncompact, bySession(s.Canonical, s.Editor.Uncompact))
	handle(all, protocol.SessionArchives, bySession(s.Canonical, s.History.Archives))
	handle(all, protocol.SessionArchiveRead, bySession(s.Canonical, s.History.ReadArchive))
	handle(all, protocol.SessionArchiveRestore, bySession(s.Canonical, s.Editor.RestoreArchive))
}

// bySession is plain for methods whose parameters have a SessionKey: it is required and made
// canonical.
func bySession[P, R any](canonical func(protocol.SessionKey) protocol.SessionKey, f func(context.Context, P) (R, error)) method[P, R] {
	return func(ctx context.Context, _ *request, p P) (out R, err error) {
		key := reflect.ValueOf(&p).Elem().FieldByName("SessionKey").Addr().Interface().(*protocol.SessionKey)
		if err := cmp.Or(require("sessionKey required", string(*key)), checkKey(*key)); err != nil {
			return out, err
		}
		*key = canonical(*key)
		return f(ctx, p)
	}
}

func (s Sessions) patch(ctx context.Context, r *request, p protocol.SessionPatchParams) (protocol.OK, error) {
	// A change of the approval mode answers future approvals, so it needs the scope to answer them.
	if p.Settings != nil && p.Settings.Approvals != nil && !r.conn.peer().principal.Has(protocol.ScopeApprove) {
		return protocol.OK{}, protocol.ErrForbidden.With("this device may not answer questions, and so not set what the chat asks about")
	}
	if p.Label != nil {
		if err := checkLabel(*p.Label); err != nil {
			return protocol.OK{}, err
		}
	}
	if p.Tags != nil {
		if err := checkTags(*p.Tags); err != nil {
			return protocol.OK{}, err
		}
	}
	p.By = r.by()
	return bySession(s.Canonical, s.Chats.Patch)(ctx, r, p)
}

func (s Sessions) send(ctx context.Context, r *request, p protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if p.SessionKey == "" || p.Message == "" && len(p.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := cmp.Or(checkKey(p.SessionKey), checkID("runId", string(p.RunID))); err != nil {
		return protocol.ChatSendResult{}, err
	}
	p.SessionKey = r.conn.feed.storeSpelling(p.SessionKey)
	p.Remind = !r.conn.feed.isSubscribed()
	return s.Messages.Send(ctx, r.conn.peer().principal, p)
}
