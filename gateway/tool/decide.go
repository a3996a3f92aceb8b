package tool

import (
	"context"
	"strings"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// ReasonDirect is the reason of a decision about what the person does themselves.
const ReasonDirect = "You did this yourself"

// judge decides about calls by the rules and permissions of now.
type judge struct {
	policy      Policy
	permissions Permissions
	machines    Machines
}

// judgement is a decision about a call, with what led to it.
type judgement struct {
	policy.Decision                // the strictest, also about the files that the call accesses
	request         policy.Request // that was judged
	code            codeLimits
}

// codeLimits are the restrictions that a machine enforces against the code of a command.
type codeLimits struct {
	lifts   []string               // the protected files that the command may change
	records []string               // those that git may change in part
	rules   *protocol.CommandRules // the rules about files
}

// decide judges a call, which is a use of the rule that decides it.
func (j judge) decide(ctx context.Context, s subject) (judgement, error) {
	return j.judge(ctx, s, func(r policy.Request) policy.Decision { return j.policy.Decide(ctx, r) })
}

// evaluate judges a call that is judged otherwise too: that is no further use of its rule.
func (j judge) evaluate(ctx context.Context, s subject) (judgement, error) {
	return j.judge(ctx, s, j.policy.Evaluate)
}

// judge returns the stricter of the decisions about a call and the files that it accesses. apply
// applies the rules to a request.
func (j judge) judge(ctx context.Context, s subject, apply func(policy.Request) policy.Decision) (out judgement, err error) {
	needs := s.target.Resources(s.call)
	out.request = s.request(needs)
	if s.call.FileOperation != nil {
		out.Decision = j.judgeFiles(s.call, policy.Decision{Verdict: policy.Allow, Reason: ReasonDirect}, needs.Files, apply)
		return out, nil
	}
	if err := addChat(ctx, j.permissions, &out.request); err != nil {
		return out, err
	}
	d := apply(out.request)
	out.code = codeLimits{d.Lifts, d.Records, d.Rules}
	out.Decision = j.judgeFiles(s.call, d, needs.Files, apply)
	if out.Verdict == policy.Ask && s.collects() {
		out.Decision = policy.Decision{Verdict: policy.Allow, Reason: "it only collects content: the question comes with the last part"}
	}
	return out, nil
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

// judgeFiles returns the strictest of d and the decisions about the files of a call.
func (j judge) judgeFiles(c Call, d policy.Decision, files []FileAccess, apply func(policy.Request) policy.Decision) policy.Decision {
	for _, f := range files {
		if f.Node == protocol.Here {
			continue // the person's own window, which may offer any file
		}
		q := policy.Request{
			Tool: protocol.NewToolName(f.Node, f.Tool), Node: f.Node, Bare: f.Tool, Effect: f.Effect, Session: c.Session, Direct: true,
			Whole: f.IsWhole, By: c.AskedBy, Preview: &protocol.CallPreview{Path: f.Path},
		}
		if f.Path == "" {
			q.Preview.Path = "." // the workspace
		}
		if info, ok := j.machines.Node(f.Node); ok {
			q.Host = info.Host
		}
		var err error
		if q.Args, err = protocol.Marshal(map[string]string{"path": f.Path}); err != nil {
			return policy.Decision{Verdict: policy.Deny, Reason: "The path of a file cannot be checked"}
		}
		if own := apply(q); own.Verdict != policy.Allow {
			own.Verdict = policy.Deny // only a deny stops a direct action
			return own
		}
		if c.Direct || d.Verdict == policy.Deny {
			continue
		}
		q.Direct = false
		if own := j.policy.Evaluate(q); own.Verdict == policy.Ask && (own.Rule != "" || own.Floor) {
			d = policy.Decision{Verdict: policy.Ask, Reason: own.Reason, Rule: own.Rule, Floor: d.Floor || own.Floor}
		}
	}
	return d
}

// denialText says that and why a call is denied.
func denialText(d policy.Decision) string {
	text := "Denied: "
	if d.Rule != "" {
		text = "Denied by a rule: "
	}
	return text + strings.TrimPrefix(d.Reason, "Your rule: ") + "."
}
