package tool

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// activeCall is one call on its way through the stages.
type activeCall struct {
	*Pipeline
	call      Call
	target    resolved
	lookupErr error  // why the tool was not found
	record    Record // of an earlier start, until validate fills it
	stored    bool   // record is in the journal
	request   policy.Request
	version   string                  // of the rules under which the person was asked
	folders   []protocol.FolderAccess // the folders outside the workspace that the person opened
	lifts     []string                // the protected files that the command may change
	records   []string                // those that git may change in part
	rules     *protocol.CommandRules  // what the machine enforces against the command's code
	again     bool                    // it is judged once more, see [Pipeline.Continue]
	ended     bool                    // the record has its end
	result    Result                  // of a call that has ended
	release   func()                  // removes the call from those in progress
}

// reconnectLimit is the time that a call from before a restart waits for its node. It is longer
// than the longest pause between two connection attempts of a node.
const reconnectLimit = 45 * time.Second

// resolve finds the tool. After a restart, an approved call waits for its node to reconnect.
func (a *activeCall) resolve(ctx context.Context) error {
	if a.call.FileOperation != nil {
		a.target, a.lookupErr = a.Registry.fileOperation(a.call)
		return nil
	}
	isOffline := func() bool {
		a.target, a.lookupErr = a.Registry.Lookup(a.call.Tool)
		return errors.Is(a.lookupErr, protocol.ErrUnavailable)
	}
	if isOffline() && a.stored {
		a.waitForNodes(ctx, func() bool { return !isOffline() })
		return context.Cause(ctx)
	}
	return nil
}

// waitForNodes waits until ready, which depends on nodes, returns true, or reconnectLimit is over.
func (p *Pipeline) waitForNodes(ctx context.Context, ready func() bool) {
	sub := p.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	if ready() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reconnectLimit)
	defer cancel()
	for range sub.All(ctx) {
		if ready() {
			return
		}
	}
}

// validate checks the arguments against the tool's schema, and fills the record.
func (a *activeCall) validate(context.Context) error {
	c, spec := &a.call, &a.target.Spec
	var err error
	if c.Args, err = toolkit.Arguments(spec.InputSchema, c.Args); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		c.Args = jsonObject
	}
	if c.IdempotencyKey == "" {
		if c.IdempotencyKey, err = idempotencyKey(*c); err != nil {
			return err
		}
	}
	if spec.EffectOf != nil {
		spec.Effect = spec.EffectOf(c.Args)
	}
	a.record = Record{Entry: Entry{
		Info: protocol.CallInfo{
			CallID: c.ID, ToolCallID: c.ToolCallID, SessionKey: c.Session, RunID: c.Run, Node: a.target.Node, Tool: spec.Name,
			Args: c.Args, Effect: spec.Effect, State: protocol.CallWaiting, Direct: c.Direct, ApprovalID: a.record.Info.ApprovalID,
		},
		AskedBy: c.AskedBy, Principal: c.Principal.String(), App: c.Principal.App, IdempotencyKey: c.IdempotencyKey, Idempotent: spec.Idempotent,
		Attempt: a.record.Attempt + 1, CreatedAt: time.Now().UnixMilli(), Iteration: c.Iteration,
	}, Resumed: c.Resumed, Of: c.Of}
	return nil
}

// idempotencyKey returns a key that is stable over retries and restarts, and differs for other
// arguments. See docs/protocol.md#tools-and-calls.
func idempotencyKey(c Call) (string, error) {
	args, err := protocol.Canonical(c.Args)
	if err != nil {
		return "", err
	}
	id := c.ToolCallID
	if id == "" {
		id = string(c.ID)
	}
	hash := sha256.New()
	for _, part := range []string{"fairlead", string(c.Run), id, string(c.Tool), string(args)} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return "k1:" + base32.StdEncoding.EncodeToString(hash.Sum(nil))[:32], nil
}

// preview asks what the call would do. A call that cannot work needs no approval. One of the person
// has a preview too: it says which files a deny rule is compared with, and which folders to open.
func (a *activeCall) preview(ctx context.Context) error {
	problem, err := a.updatePreview(ctx)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return a.finishStopped(ctx, nil)
	case problem != "":
		return a.end(ctx, protocol.CallFailed, nil, problem)
	}
	return nil // the policy decides on a call without a preview, too
}

// updatePreview sets the preview of the call. problem says why the call cannot work.
func (a *activeCall) updatePreview(ctx context.Context) (problem string, err error) {
	preview, hasPreview, err := a.target.Preview(ctx, a.call)
	a.record.Info.Preview = nil
	var failed *Failure
	switch {
	case errors.As(err, &failed):
		a.record.Info.Fault = failed.Fault
		return failed.Text, nil
	case err != nil || !hasPreview:
		return "", err
	}
	a.record.Info.Preview = &preview
	// For credentials, the reason of a failure would reveal their contents: whether a text is
	// found, or a file exists.
	if preview.Secret == "" {
		problem, a.record.Info.Fault = preview.Problem, preview.Fault
	}
	return problem, nil
}
