package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// answered continues with the closed approval. done means that the call ends with it.
func (t *task) answered(ctx context.Context, end protocol.Approval, grant *store.Grant, limit time.Duration) (res Result, done bool, err error) {
	t.by = end.AnsweredBy
	t.verdict = policy.Decision{Verdict: policy.Deny, Reason: "the question was " + end.State}
	switch end.State {
	case protocol.ApprovalAllowed, protocol.ApprovalEdited:
		t.verdict = policy.Decision{Verdict: policy.Allow, Reason: end.State + " " + end.Scope}
	case protocol.ApprovalDenied:
		text := "The person denied this call."
		if end.Reason != "" {
			text += " Their reason: " + end.Reason
		}
		res, err = t.end(ctx, protocol.CallDenied, nil, text)
		return res, true, err
	case protocol.ApprovalExpired:
		text := fmt.Sprintf(protocol.NobodyAnswered+" the question within %s, so the call was not run.", limit)
		if end.Reason != "" {
			text = protocol.NobodyAnswered + " the question before, so this one was not put and the call was not run."
		}
		if approval.Unattended(t.call.AskedBy) {
			text += " Probably nobody is there: do not ask for it again now. Go on without it, or end, and say what was not done."
		} else {
			text += " That is no denial: it may be asked again."
		}
		res, err = t.end(ctx, protocol.CallDenied, nil, text)
		return res, true, err
	default:
		res, err = t.stopped(ctx, nil)
		return res, true, err
	}
	// The approved call must be the one that is about to run.
	if end.Hash != t.row.Hash {
		res, err = t.end(ctx, protocol.CallDenied, nil, "The question that was answered was about something else. Nothing was run.")
		return res, true, err
	}
	t.opened = chosen(end)
	if end.State == protocol.ApprovalEdited {
		return t.edited(ctx, end.Edited)
	}
	// A rule may have been saved at the moment of the answer.
	if now, _, err := t.decide(ctx); err != nil || now.Verdict == policy.Deny {
		if err == nil {
			t.credit(now)
			res, err = t.refused(ctx, now)
		}
		return res, true, err
	}
	err = t.keep(ctx, end, grant)
	return res, err != nil, err
}

// keep saves the rule that the person chose with the answer.
func (t *task) keep(ctx context.Context, end protocol.Approval, grant *store.Grant) error {
	switch end.Scope {
	case protocol.ScopeSession:
		if grant == nil {
			return nil
		}
		grant.CreatedAt = time.Now().UnixMilli()
		if err := t.journal.PutGrant(ctx, *grant); err != nil {
			return err
		}
		t.bus.Publish(protocol.Change{Kind: protocol.ChangeRules})
	case protocol.ScopeFolder, protocol.ScopeMachine, protocol.ScopeAlways:
		// The person has seen this very call: it runs even if the rule for later calls cannot be
		// saved.
		if err := t.rules.Grant(ctx, end.AnsweredBy, end); err != nil {
			slog.Error("A rule could not be made", "approval", end.ID, "err", err)
			t.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
				Level: "warning", At: time.Now().UnixMilli(),
				Text: "The rule could not be saved, so the next call will be asked about too: " + err.Error(),
			}})
		}
	}
	return nil
}

// edited replaces the arguments with those of the person. The call becomes a direct action of the
// person: it is validated and stopped by a deny, but needs no further approval.
func (t *task) edited(ctx context.Context, args json.RawMessage) (res Result, done bool, err error) {
	refuse := func(text string) (Result, bool, error) {
		res, err := t.end(ctx, protocol.CallFailed, nil, "The person changed the call, and that could not be run: "+text)
		return res, true, err
	}
	if err := toolkit.Validate(t.spec.InputSchema, args); err != nil {
		return refuse(err.Error())
	}
	t.call.Args, t.row.Info.Args, t.changed = args, args, true
	t.row.InputSHA256, t.row.InputBytes = digest(args)
	if t.spec.EffectOf != nil {
		t.spec.Effect = t.spec.EffectOf(args)
		t.row.Info.Effect = t.spec.Effect
	}
	preview, ok, err := t.nodes.Preview(ctx, t.row.Info.Node, t.look(args))
	var failed *nodes.ToolError
	switch {
	case errors.As(err, &failed):
		return refuse(failed.Text)
	case err != nil:
		return res, true, err
	case ok && preview.Problem != "":
		return refuse(preview.Problem)
	}
	t.row.Info.Preview = nil
	if ok {
		t.row.Info.Preview = &preview
	}
	d, _, err := t.decide(ctx)
	if err != nil {
		return res, true, err
	}
	if d.Verdict == policy.Deny {
		return refuse(d.Reason)
	}
	t.row.Hash, err = protocol.CallHash(protocol.AskCall, t.row.Info.Node, t.spec.Name, args, t.row.Info.Preview, t.policy)
	return res, err != nil, err
}
