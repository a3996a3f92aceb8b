package tool

import (
	"context"
	"errors"
	"strings"

	"fairlead/gateway/approval"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// credit records what decided the call.
func (t *task) credit(d policy.Decision) {
	t.verdict, t.by = d, "default"
	switch {
	case t.call.Direct:
		t.by = t.row.Principal
	case d.Rule != "":
		t.by = "rule " + d.Rule
	}
}

// refused ends a call that the policy denies.
func (t *task) refused(ctx context.Context, d policy.Decision) (Result, error) {
	text := "Denied: "
	if d.Rule != "" {
		text = "Denied by a rule: "
	}
	return t.end(ctx, protocol.CallDenied, nil, text+strings.TrimPrefix(d.Reason, "Your rule: ")+".")
}

// asked returns what the decision depends on, except for the chat's mode and permissions.
func (t *task) asked() policy.Request {
	r := policy.Request{
		Tool: t.call.Tool, Node: t.row.Info.Node, Bare: t.spec.Name, Effect: t.spec.Effect, Args: t.call.Args,
		Preview: t.row.Info.Preview, Session: t.call.Session, Direct: t.call.Direct, By: t.call.AskedBy,
	}
	if info, ok := t.nodes.Node(r.Node); ok {
		r.Host = info.Host
	}
	return r
}

func (t *task) decide(ctx context.Context) (policy.Decision, policy.Request, error) {
	r := t.asked()
	if a := t.call.Act; a != nil {
		return t.judge(ctx, a, r), r, nil
	}
	if err := t.refresh(ctx, &r); err != nil {
		return policy.Decision{}, r, err
	}
	return t.through(t.rules.Decide(ctx, r), r), r, nil
}

// refresh fills in the chat's current mode and permissions.
func (d *Pipeline) refresh(ctx context.Context, r *policy.Request) error {
	if r.Session == "" || r.Direct {
		return nil
	}
	grants, err := d.journal.Grants(ctx, r.Session)
	if err != nil {
		return err
	}
	r.Grants = approval.SessionGrants(grants)
	s, err := d.journal.Session(ctx, r.Session)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	r.Mode = protocol.ApprovalMode{}
	if s.Prefs.Approvals != nil {
		r.Mode = *s.Prefs.Approvals
	}
	return nil
}
