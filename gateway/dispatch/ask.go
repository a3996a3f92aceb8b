package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/gateway/store"
)

// ask puts the question and waits. done means the call ends here, with res. When the rules change meanwhile and decide the call, that decision holds.
func (t *task) ask(ctx context.Context, d approval.Decision, r approval.Request) (res Result, done bool, err error) {
	for {
		end, res, done, err := t.question(ctx, d, r)
		if done || err != nil || end.State != protocol.ApprovalSuperseded {
			return res, done, err
		}
		t.row.Info.ApprovalID, t.row.Hash = "", ""
		if d, r, err = t.decide(ctx); err != nil {
			return Result{}, true, err
		}
		t.credit(d)
		switch d.Verdict {
		case approval.Allow:
			return Result{}, false, nil
		case approval.Deny:
			res, err := t.refused(ctx, d)
			return res, true, err
		}
	}
}

// question puts one question. It returns how that ended, unless the call ended with it.
func (t *task) question(ctx context.Context, d approval.Decision, r approval.Request) (end protocol.Approval, res Result, done bool, err error) {
	q := protocol.Approval{
		ID: t.row.Info.ApprovalID, Kind: protocol.AskCall, SessionKey: t.call.Session, RunID: t.call.Run, CallID: t.call.ID, Node: t.row.Info.Node,
		Tool: t.spec.Name, Args: t.call.Args, Effect: t.spec.Effect, Preview: t.row.Info.Preview, AskedBy: t.call.AskedBy, Why: d.Why,
		Choices: []string{protocol.ScopeOnce}, Parts: d.Parts, Offers: d.Offers, Floor: d.Floor, Files: d.Files(), Policy: t.rules.Version(),
	}
	if q.ID == "" {
		q.ID = protocol.ApprovalID(protocol.NewID())
	}
	if info, ok := t.nodes.Node(q.Node); ok && info.Host != nil {
		q.Host = info.Host
		q.Sandbox = info.Host.Sandbox
	}
	if q.Sandbox == "" && q.Effect != protocol.EffectRead && q.Node != protocol.NativePrefix {
		q.Sandbox = "not enforced on this machine"
	}
	match, words, narrow := approval.SessionGrant(r)
	narrow = narrow && !d.Floor
	if narrow && t.call.Session != "" {
		q.Choices = append(q.Choices, protocol.ScopeSession)
		q.SessionRule = words
	}
	if len(q.Offers) > 0 {
		if folderKnown(q) {
			q.Choices = append(q.Choices, protocol.ScopeFolder)
		}
		q.Choices = append(q.Choices, protocol.ScopeMachine, protocol.ScopeAlways)
		if err := approval.FillOffers(&q); err != nil {
			return end, res, true, err
		}
	}
	t.row.Info.ApprovalID, t.policy = q.ID, q.Policy
	if t.row.Hash, err = approval.Hash(q); err != nil {
		return end, res, true, err
	}
	if err := t.put(ctx); err != nil {
		return end, res, true, err
	}
	t.show(t.row.Info)
	put := func() { // whoever is told of the question can answer it from that moment on
		if t.call.OnAsk != nil {
			t.call.OnAsk(q)
		}
		if t.call.OnPut != nil {
			t.call.OnPut()
		}
	}
	limit := time.Duration(t.config().Approvals.Timeout) * time.Millisecond
	t.asking(&r)
	end, err = t.gate.Ask(ctx, q, limit, put)
	t.asking(nil)
	if err != nil {
		return end, res, true, err // suspended, or storage: the row stays as it is
	}
	if t.call.OnAsk != nil {
		t.call.OnAsk(end)
	}
	if end.State == protocol.ApprovalSuperseded {
		return end, res, false, nil
	}
	t.by = end.AnsweredBy
	t.verdict = approval.Decision{Verdict: approval.Deny, Why: "the question was " + end.State}
	switch end.State {
	case protocol.ApprovalAllowed, protocol.ApprovalEdited:
		t.verdict = approval.Decision{Verdict: approval.Allow, Why: end.State + " " + end.Scope}
	case protocol.ApprovalDenied:
		text := "The person denied this call."
		if end.Reason != "" {
			text += " Their reason: " + end.Reason
		}
		res, err = t.end(ctx, protocol.CallDenied, nil, text)
		return end, res, true, err
	case protocol.ApprovalExpired:
		res, err = t.end(ctx, protocol.CallDenied, nil, fmt.Sprintf("Nobody answered the question within %s, so the call was not run. That is no denial: it may be asked again.", limit))
		return end, res, true, err
	default:
		res, err = t.stopped(ctx, nil)
		return end, res, true, err
	}
	// What was answered must be what is about to run.
	if end.Hash != t.row.Hash {
		res, err = t.end(ctx, protocol.CallDenied, nil, "The question that was answered was about something else. Nothing was run.")
		return end, res, true, err
	}
	t.opened = chosen(end)
	if end.State == protocol.ApprovalEdited {
		res, done, err = t.edited(ctx, end.Edited)
		return end, res, done, err
	}
	// A rule may have been made in the moment of the answer.
	if now, _, err := t.decide(ctx); err != nil || now.Verdict == approval.Deny {
		if err == nil {
			t.credit(now)
			res, err = t.refused(ctx, now)
		}
		return end, res, true, err
	}
	if end.Scope == protocol.ScopeSession && narrow {
		grant := store.Grant{
			ID: protocol.NewID(), Session: t.call.Session, Node: q.Node, Tool: q.Tool, Match: match, Words: words,
			CreatedAt: time.Now().UnixMilli(), From: q.ID,
		}
		if err := t.journal.PutGrant(ctx, grant); err != nil {
			return end, res, true, err
		}
		t.bus.Publish(protocol.Change{Kind: protocol.ChangeRules})
	}
	if end.Scope == protocol.ScopeFolder || end.Scope == protocol.ScopeMachine || end.Scope == protocol.ScopeAlways {
		// The person has seen this very call: it runs, whether or not the rule for the next ones can be kept.
		if err := t.rules.Grant(ctx, end.AnsweredBy, end); err != nil {
			slog.Error("A rule could not be made", "approval", end.ID, "err", err)
			t.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
				Level: "warning", At: time.Now().UnixMilli(),
				Text: "The rule could not be saved, so the next call will be asked about too: " + err.Error(),
			}})
		}
	}
	return end, res, false, nil
}

// asking remembers what an open question was decided on, for Watch.
func (t *task) asking(r *approval.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if open := t.open[t.call.ID]; open != nil {
		open.asks = r
	}
}

func folderKnown(q protocol.Approval) bool {
	return q.Preview != nil && q.Preview.Folder != "" || q.Host != nil && q.Host.Workspace != ""
}

// edited takes the arguments that the person put in the place of the agent's. They are the person's own act: checked and stopped by a deny, not asked
// about again.
func (t *task) edited(ctx context.Context, args json.RawMessage) (res Result, done bool, err error) {
	refuse := func(text string) (Result, bool, error) {
		res, err := t.end(ctx, protocol.CallFailed, nil, "The person changed the call, and that could not be run: "+text)
		return res, true, err
	}
	if err := tool.Validate(t.spec.InputSchema, args); err != nil {
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
	if d.Verdict == approval.Deny {
		return refuse(d.Why)
	}
	t.row.Hash, err = protocol.CallHash(protocol.AskCall, t.row.Info.Node, t.spec.Name, args, t.row.Info.Preview, t.policy)
	return res, err != nil, err
}
