package tool

import (
	"context"
	"strings"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// decide lets the policy decide. A denied call ends here.
func (a *activeCall) decide(ctx context.Context) error {
	d, err := a.decision(ctx)
	if err != nil {
		return err
	}
	if d.Verdict == policy.Ask && a.record.collects() {
		d = policy.Decision{Verdict: policy.Allow, Reason: "it only collects content: the question comes with the last part"}
	}
	a.record.Decision, a.record.DecidedBy = d, "default"
	switch {
	case a.call.Direct:
		a.record.DecidedBy = a.record.Principal
	case d.Rule != "":
		a.record.DecidedBy = "rule " + d.Rule
	}
	if d.Verdict != policy.Deny {
		return nil
	}
	return a.end(ctx, protocol.CallDenied, nil, denialText(d))
}

// collects reports whether the call only collects content, which takes effect by a later call.
func (r *Record) collects() bool {
	return r.Info.Preview != nil && r.Info.Preview.Collects && r.Info.Effect == protocol.EffectWrite
}

// denialText says that and why a call is denied.
func denialText(d policy.Decision) string {
	text := "Denied: "
	if d.Rule != "" {
		text = "Denied by a rule: "
	}
	return text + strings.TrimPrefix(d.Reason, "Your rule: ") + "."
}

// judge asks the policy about a request. Judging a call again does not count as a use of its rule.
func (a *activeCall) judge(ctx context.Context, r policy.Request) policy.Decision {
	if a.again {
		return a.Policy.Evaluate(r)
	}
	return a.Policy.Decide(ctx, r)
}

// decision returns the stricter of the decisions about the call and the files that it accesses.
func (a *activeCall) decision(ctx context.Context) (policy.Decision, error) {
	needs := a.target.Resources(a.call)
	name := a.call.Tool
	if needs.Bare != a.target.Spec.Name {
		name = protocol.NewToolName(a.target.Node, needs.Bare)
	}
	a.request = policy.Request{
		Tool: name, Node: a.target.Node, Bare: needs.Bare, Own: a.target.Spec.Name, Effect: a.target.Spec.Effect, Args: a.call.Args,
		Preview: a.record.Info.Preview, Session: a.call.grantee(), Direct: a.call.Direct, By: a.call.AskedBy,
		Server: a.target.Spec.Server, Risk: a.target.Spec.Risk, Host: needs.Host,
	}
	if a.call.FileOperation != nil {
		return a.decideFiles(ctx, policy.Decision{Verdict: policy.Allow, Reason: "You did this yourself"}, needs.Files), nil
	}
	if err := addChat(ctx, a.Permissions, &a.request); err != nil {
		return policy.Decision{}, err
	}
	d := a.judge(ctx, a.request)
	a.lifts, a.records, a.rules = d.Lifts, d.Records, d.Rules
	return a.decideFiles(ctx, d, needs.Files), nil
}

// addChat adds the chat's current approval mode and permissions to a request.
func addChat(ctx context.Context, p Permissions, r *policy.Request) error {
	if r.Session == "" || r.Direct {
		return nil
	}
	var err error
	r.Mode, r.Grants, err = p.Of(ctx, r.Session)
	return err
}

// decideFiles returns the strictest of d and the decisions about files.
func (a *activeCall) decideFiles(ctx context.Context, d policy.Decision, files []FileAccess) policy.Decision {
	for _, f := range files {
		if f.Node == protocol.Here {
			continue // the person's own window, which may offer any file
		}
		q := policy.Request{
			Tool: protocol.NewToolName(f.Node, f.Tool), Node: f.Node, Bare: f.Tool, Effect: f.Effect, Session: a.call.Session, Direct: true,
			Whole: f.IsWhole, By: a.call.AskedBy, Preview: &protocol.CallPreview{Path: f.Path},
		}
		if f.Path == "" {
			q.Preview.Path = "." // the workspace
		}
		if info, ok := a.Registry.machines.Node(f.Node); ok {
			q.Host = info.Host
		}
		var err error
		if q.Args, err = protocol.Marshal(map[string]string{"path": f.Path}); err != nil {
			return policy.Decision{Verdict: policy.Deny, Reason: "The path of a file cannot be checked"}
		}
		if own := a.judge(ctx, q); own.Verdict != policy.Allow {
			own.Verdict = policy.Deny // only a deny stops a direct action
			return own
		}
		if a.call.Direct || d.Verdict == policy.Deny {
			continue
		}
		q.Direct = false
		if own := a.Policy.Evaluate(q); own.Verdict == policy.Ask && (own.Rule != "" || own.Floor) {
			d = policy.Decision{Verdict: policy.Ask, Reason: own.Reason, Rule: own.Rule, Floor: d.Floor || own.Floor}
		}
	}
	return d
}
