package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
	"fairlead/gateway/skills"
)

// newMethods returns the method table. background runs a function until the server closes.
func newMethods(s Services, w *watches, background func(func(context.Context)) bool) methods {
	all := make(methods)
	for _, group := range []interface{ register(methods) }{
		sessionMethods{s.Chats, s.Sessions, s.Transcripts, s.Editor, s.Archives, s.Canonical},
		&toolMethods{
			tools: s.Tools, registry: s.Registry, nodes: s.Nodes, execEvent: s.ExecEvent, storeResult: s.Requested,
			background: background, activeRequests: make(map[protocol.CallID]bool),
		},
		deviceMethods{s.Devices, s.Nodes},
		approvalMethods{s.Approvals},
		ruleMethods{s.Rules, s.Approvals, s.Journal, s.Nodes},
		journalMethods{s.Journal, s.Canonical},
		auditMethods{s.Audit, s.Canonical},
		workspaceMethods{s.Files},
		configMethods{s.Config},
		modelMethods{s.Models},
		transferMethods{s.Transfers},
		channelMethods{s.Channels},
		browseMethods{s.Nodes, s.Tools, w},
		feedMethods{s},
	} {
		group.register(all)
	}
	registerSchedules(all, s.Schedules)
	registerSkills(all, s.Skills)
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

// keyed is plain for methods on a session: the key is required and made canonical.
func keyed[P, R any](canonical func(protocol.SessionKey) protocol.SessionKey, key func(*P) *protocol.SessionKey, f func(context.Context, P) (R, error)) func(context.Context, *request, P) (R, error) {
	return func(ctx context.Context, _ *request, p P) (R, error) {
		k := key(&p)
		if *k == "" {
			var zero R
			return zero, protocol.ErrBadRequest.With("sessionKey required")
		}
		if err := checkKey(*k); err != nil {
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
	if !ok || e.Code == protocol.CodeInternal {
		return err
	}
	text := err.Error()
	if len(text) <= maxMessageHead+maxMessageTail {
		return err
	}
	return e.With(strings.ToValidUTF8(text[:maxMessageHead], "") + " … " + strings.ToValidUTF8(text[len(text)-maxMessageTail:], ""))
}

// ok is the result of a method that returns nothing but an error.
func ok(err error) (protocol.OK, error) { return protocol.OK{OK: err == nil}, err }

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

// registerSkills registers the methods of the protocol for skills, and our extension.
func registerSkills(all methods, s *skills.Catalog) {
	handle(all, protocol.SkillsStatus, plain(s.Status))
	handle(all, protocol.SkillsUpdate, plain(s.Update))
	handle(all, protocol.SkillsEnable, plain(s.Enable))
}
