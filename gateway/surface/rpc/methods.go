package rpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/channel"
	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
)

// newMethods returns the method table. background runs a function until the server closes.
func newMethods(s Services, w *watches, background func(func(context.Context)) bool) methods {
	all := make(methods)
	registerSessions(all, s)
	(&toolMethods{
		tools: s.Tools, registry: s.Registry, nodes: s.Nodes, execEvent: s.ExecEvent, storeResult: s.Requested,
		background: background, activeRequests: make(map[protocol.CallID]bool),
	}).register(all)
	deviceMethods{s.Devices, s.Nodes}.register(all)
	registerApprovals(all, s)
	registerRules(all, s)
	registerJournal(all, s)
	registerSettings(all, s)
	registerWorkspaces(all, s.Files)
	registerTransfers(all, s.Transfers)
	registerChannels(all, s.Channels)
	browseMethods{s.Nodes, s.Tools, w}.register(all)
	feedMethods{s}.register(all)
	registerSchedules(all, s.Schedules)
	handle(all, protocol.SkillsStatus, plain(s.Skills.Status))
	handle(all, protocol.SkillsUpdate, plain(s.Skills.Status))
	handle(all, protocol.SkillsEnable, plain(s.Skills.Enable))
	return all
}

// A handler implements one method.
type handler func(ctx context.Context, r *request, params json.RawMessage) (any, error)

// methods are the handlers by the name of their method.
type methods map[string]handler

// handle registers a method with its parameter and result types.
func handle[P, R any](all methods, m protocol.Method[P, R], f func(context.Context, *request, P) (R, error)) {
	all[m.Name] = func(ctx context.Context, r *request, raw json.RawMessage) (any, error) {
		var p P
		if len(raw) > 0 && string(raw) != "null" {
			if err := protocol.Unmarshal(raw, &p); err != nil {
				return nil, protocol.ErrBadRequest.With(fmt.Sprintf("params of %s: %s", m.Name, protocol.Problem(err)))
			}
		}
		out, err := f(ctx, r, p)
		return out, brief(err)
	}
}

// plain adapts a service method that does not need the connection.
func plain[P, R any](f func(context.Context, P) (R, error)) func(context.Context, *request, P) (R, error) {
	return func(ctx context.Context, _ *request, p P) (R, error) { return f(ctx, p) }
}

// query adapts a service method without parameters.
func query[R any](f func(context.Context) (R, error)) func(context.Context, *request, protocol.Empty) (R, error) {
	return func(ctx context.Context, _ *request, _ protocol.Empty) (R, error) { return f(ctx) }
}

// withCaller adapts a service method that records who called it.
func withCaller[P, R any](f func(context.Context, string, P) (R, error)) func(context.Context, *request, P) (R, error) {
	return func(ctx context.Context, r *request, p P) (R, error) { return f(ctx, r.by(), p) }
}

// withAck adapts a service method that returns nothing but an error.
func withAck[P any](f func(context.Context, string, P) error) func(context.Context, *request, P) (protocol.OK, error) {
	return func(ctx context.Context, r *request, p P) (protocol.OK, error) {
		err := f(ctx, r.by(), p)
		return protocol.OK{OK: err == nil}, err
	}
}

// bySession is plain for methods on a session: the key is required and made canonical.
func bySession[P, R any](canonical func(protocol.SessionKey) protocol.SessionKey, key func(*P) *protocol.SessionKey, f func(context.Context, P) (R, error)) func(context.Context, *request, P) (R, error) {
	return func(ctx context.Context, _ *request, p P) (R, error) {
		k := key(&p)
		if err := cmp.Or(require("sessionKey required", string(*k)), checkKey(*k)); err != nil {
			var zero R
			return zero, err
		}
		*k = canonical(*k)
		return f(ctx, p)
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
	text := err.Error()
	if len(text) <= maxMessageHead+maxMessageTail {
		return err
	}
	return e.With(strings.ToValidUTF8(text[:maxMessageHead], "") + " … " + strings.ToValidUTF8(text[len(text)-maxMessageTail:], ""))
}

// require refuses a request when one of its values is empty.
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

// registerSchedules registers the methods of the protocol for schedules and the heartbeat.
func registerSchedules(all methods, s *cron.Scheduler) {
	handle(all, protocol.CronStatusGet, plain(s.Status))
	handle(all, protocol.CronList, plain(s.List))
	handle(all, protocol.CronAdd, plain(s.Add))
	handle(all, protocol.CronUpdate, plain(s.Update))
	handle(all, protocol.CronRemove, plain(s.Remove))
	handle(all, protocol.CronRunNow, plain(s.RunNow))
	handle(all, protocol.CronRuns, plain(s.Runs))
	handle(all, protocol.HeartbeatStatus, plain(s.HeartbeatStatus))
	handle(all, protocol.HeartbeatStart, plain(s.HeartbeatStart))
	handle(all, protocol.HeartbeatTrigger, plain(s.HeartbeatTrigger))
}

// registerChannels registers the methods for channels and the pairing of people on them.
func registerChannels(all methods, hub *channel.Hub) {
	handle(all, protocol.ChannelInbound, func(ctx context.Context, r *request, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
		// Unlike in the original system, a channel may speak only for its own account.
		name, account := r.conn.account()
		same := protocol.ConnectParams{Client: protocol.ClientInfo{Channel: in.Channel, AccountID: in.AccountID}}
		if in.Channel != "" && in.AccountID != "" && (channel.Name(&same) != nil || same.Client.Channel != name || same.Client.AccountID != account) {
			return protocol.ChannelInboundResult{}, protocol.ErrForbidden.With("This connection speaks for " + name + ":" + account + " only.")
		}
		return hub.Inbound(context.WithoutCancel(ctx), in)
	})
	handle(all, protocol.ReportDelivery, func(_ context.Context, r *request, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
		name, account := r.conn.account()
		return hub.Delivered(name, account, in)
	})
	handle(all, protocol.ChannelsList, plain(hub.List))
	handle(all, protocol.ChannelStart, plain(hub.Start))
	handle(all, protocol.ChannelStop, plain(hub.Stop))
	handle(all, protocol.ChannelStatus, plain(hub.Status))
	handle(all, protocol.ChannelLogin, plain(hub.Login))
	handle(all, protocol.ChannelLogout, plain(hub.Logout))
	handle(all, protocol.PairList, plain(hub.Pairs))
	handle(all, protocol.PairApprove, withCaller(hub.Approve))
	handle(all, protocol.PairReject, withCaller(hub.Reject))
}
