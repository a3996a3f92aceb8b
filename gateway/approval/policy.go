package approval

import (
	"encoding/json"
	"fmt"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Decision of a policy.
type Decision string

const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Request is a call as the policy sees it.
type Request struct {
	Who    auth.Principal
	Name   protocol.ToolName // full
	Args   json.RawMessage
	Effect protocol.Effect
	// Preview is what the machine says the call would touch; nil when it cannot say.
	Preview *protocol.CallPreview
	// Problem is why the preview failed, nil when it did not.
	Problem error
}

// Verdict is what a policy says of a request. Reason is a sentence for the person.
type Verdict struct {
	Decision Decision
	Reason   string
	Rule     string // id of the rule that decided, if one did
}

// Decide applies the rules of the configuration (gsv interop notes 4.5: the first match wins) and then the defaults: reads inside the
// workspace are allowed, anything else asks. What the owner does directly is allowed unless a rule denies it. A rule or a
// default that makes no sense asks.
func Decide(cfg config.ToolApproval, r Request) Verdict {
	owner := r.Who.Kind == auth.KindOwner
	for _, rule := range cfg.Rules {
		if !matches(rule, r.Name, r.Args) {
			continue
		}
		v := Verdict{Decision: Decision(rule.Decision), Reason: rule.Reason, Rule: rule.ID}
		if v.Reason == "" {
			v.Reason = fmt.Sprintf("The rule %q says so.", rule.ID)
		}
		switch {
		case v.Decision == Deny:
			return v
		case owner:
			return Verdict{Decision: Allow, Reason: "You did it yourself."}
		case v.Decision == Allow || v.Decision == Ask:
			return v
		}
		return Verdict{Decision: Ask, Reason: fmt.Sprintf("The rule %q has the decision %q, which means nothing.", rule.ID, rule.Decision), Rule: rule.ID}
	}
	if owner {
		return Verdict{Decision: Allow, Reason: "You did it yourself."}
	}
	switch Decision(cfg.DefaultDecision) {
	case Allow:
		return Verdict{Decision: Allow, Reason: "The settings allow whatever no rule forbids."}
	case Deny:
		return Verdict{Decision: Deny, Reason: "The settings forbid whatever no rule allows."}
	}
	return classify(r)
}

// classify is the default policy.
func classify(r Request) Verdict {
	ask := func(reason string) Verdict { return Verdict{Decision: Ask, Reason: reason} }
	switch r.Effect {
	case protocol.EffectRead:
	case protocol.EffectWrite:
		if r.Preview != nil && r.Preview.Outside {
			return ask("It changes a file outside the workspace.")
		}
		return ask("It changes a file.")
	case protocol.EffectExec:
		return ask("It runs a command.")
	case protocol.EffectNetwork:
		return ask("It uses the network.")
	default:
		return ask("The machine does not say what this tool does.")
	}
	switch {
	case r.Problem != nil:
		return ask("It could not be found out what it would read: " + r.Problem.Error())
	case r.Preview == nil:
		return ask("The machine cannot say whether it stays inside the workspace.")
	case r.Preview.Outside:
		return ask("It reads outside the workspace.")
	}
	return Verdict{Decision: Allow, Reason: "It reads inside the workspace."}
}
