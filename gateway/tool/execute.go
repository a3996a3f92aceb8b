package tool

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// permit is what a call was allowed.
type permit struct {
	isAnswered bool                    // a person answered a question about the call
	hash       string                  // of what the person saw
	version    string                  // of the rules under which the person was asked
	folders    []protocol.FolderAccess // outside the workspace, which the person opened
	isEdited   bool                    // the person changed the call
	code       codeLimits
}

// invocation returns the message with which a call runs on a node. version is that of the rules of
// now, and key the call's idempotency key.
func (p permit) invocation(s subject, version, key string) (inv protocol.ToolInvoke, err error) {
	c, spec := s.call, s.target.Spec
	inv = protocol.ToolInvoke{
		CallID: c.ID, Tool: spec.Name, Args: c.Args, IdempotencyKey: key, SessionKey: c.Session, RunID: c.Run, Direct: c.Direct, Network: p.opensNetwork(s),
	}
	inv.Caller = callerOf(inv.Tool, c.Principal)
	if s.preview != nil && spec.Effect == protocol.EffectWrite && !c.Direct {
		inv.Expect = s.preview.FileSHA256
	}
	if p.isAnswered {
		inv.Approved, inv.Policy = p.hash, p.version
	}
	if spec.Effect == protocol.EffectExec {
		inv.Lifts, inv.Records, inv.Rules = p.code.lifts, p.code.records, p.code.rules
	}
	if s.preview == nil {
		return inv, nil
	}
	inv.Folders = p.openedFolders(s)
	// The node compares this hash with what it is about to do. So it refuses a read that the policy
	// allowed if its path leads elsewhere by now, to keys for example, because of a changed link.
	if len(inv.Folders) > 0 || inv.Approved == "" && s.preview.Path != "" && !c.Direct && spec.Effect == protocol.EffectRead {
		if inv.Approved == "" {
			inv.Policy = version
		}
		inv.Approved, err = s.hash(inv.Policy, inv.Folders...)
	}
	return inv, err
}

// callerOf returns the caller that a node must know, as what a program leaves there belongs to it; nil
// for a tool of agents, unless an app calls.
func callerOf(tool string, by auth.Principal) *protocol.ToolCaller {
	if by.App == "" && !protocol.ForPrograms(tool) {
		return nil
	}
	return &protocol.ToolCaller{ID: by.Caller(), Name: by.Name}
}

// openedFolders returns the folders outside the workspace that the call may use. The folder that a
// file tool needs is exactly what was allowed, so it opens with the allow; but if no person
// answered or made the call, a folder with a warning stays closed. A command gets the folders that
// the person chose.
func (p permit) openedFolders(s subject) (list []protocol.FolderAccess) {
	isApproved := p.isAnswered || s.call.Direct
	isFileTool := s.target.Spec.Effect == protocol.EffectRead || s.target.Spec.Effect == protocol.EffectWrite
	for _, f := range s.preview.Folders {
		if slices.Contains(p.folders, f) || isFileTool && (isApproved && !p.isEdited || f.Warning == "") {
			list = append(list, f)
		}
	}
	return list
}

// opensNetwork reports whether the person was asked about the network, or runs the call.
func (p permit) opensNetwork(s subject) bool {
	if !s.call.Direct {
		return s.preview != nil && s.preview.Network && p.isAnswered
	}
	var args struct {
		Network bool `json:"network"`
	}
	return json.Unmarshal(s.call.Args, &args) == nil && args.Network
}

// errTimeout is the cause of a call that took too long.
var errTimeout = protocol.ErrTimeout.With("Tool request timed out")

// usualLimit returns how long a call of a tool without a limit of its own may take.
func usualLimit(c config.Config) time.Duration {
	return time.Duration(c.Timeouts.Tool) * time.Millisecond
}

// start stores that the call runs.
func (a *activeCall) start(ctx context.Context) error {
	if context.Cause(ctx) != nil {
		return a.entry.stop(ctx, nil)
	}
	err := a.entry.begin(ctx)
	if err == nil && a.subject.call.OnStart != nil {
		a.subject.call.OnStart()
	}
	return err
}

// execute runs the call, and ends it with the outcome.
func (a *activeCall) execute(ctx context.Context) error {
	limit := a.subject.target.TimeLimit(a.subject.call.Args, usualLimit(a.config()))
	limited, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	inv, err := a.permit.invocation(a.subject, a.judge.policy.Version(), a.entry.record.IdempotencyKey)
	if err != nil {
		return a.entry.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	raw, err := a.subject.target.Execute(limited, a.subject.call, inv, a.entry.progress(a.subject.call.OnProgress))
	return a.entry.finish(ctx, raw, err, limit)
}
