package approval

import (
	"context"
	"encoding/json"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Verdict is the outcome of a decision: allow, ask or deny.
type Verdict = policy.Verdict

// The verdicts.
const (
	Allow = policy.Allow
	Ask   = policy.Ask
	Deny  = policy.Deny
)

// Request holds everything that a decision depends on.
type Request struct {
	Tool    protocol.ToolName
	Node    protocol.NodeID
	Bare    string // the tool's name without the node
	Effect  protocol.Effect
	Args    json.RawMessage
	Preview *protocol.CallPreview // nil if the node could not make one
	Host    *protocol.HostInfo    // of the node, if it reports them
	Session protocol.SessionKey
	Direct  bool          // a direct action of the person
	Whole   bool          // the paths of the preview, with everything below them
	Grants  []store.Grant // of the session
	Mode    protocol.ApprovalMode
	By      protocol.AskedBy // who caused the call
}

// foreign reports whether somebody other than the person started the run. The person has trusted a
// chat with their own messages; at the same time, strangers may write to the same chat on a
// channel, and so may jobs and the agents of other chats.
func (q Request) foreign() bool {
	switch q.By.Kind {
	case protocol.AskedByChannel, protocol.AskedBySchedule, protocol.AskedByAgent:
		return true
	}
	return false
}

// Decision is a verdict with its reason, one sentence for the person, and its sources.
type Decision struct {
	Verdict Verdict
	Why     string
	Rule    string // the deciding rule, or empty
	Floor   bool
	Parts   []protocol.ApprovalPart
	Offers  []protocol.RuleOffer

	wide        bool     // it allows calls that no rule names
	held, loose []string // see policy.Judgement
}

// Decide applies the person's rules, the chat's approval mode and its permissions, then the
// defaults. By default, reads inside the workspace are allowed, except of credentials, and, where
// others take part, of files for the person's own chats; everything else needs an approval. A deny
// always wins. Calls that the floor names (gateway/policy/floor.go) need an approval whatever else
// allows them. Only a deny stops a direct action of the person.
func (r *Rules) Decide(ctx context.Context, q Request) Decision {
	d, used := r.weigh(q)
	if used {
		r.used(ctx, d.Rule)
	}
	return d
}

// Weigh is Decide without counting the use of a rule.
func (r *Rules) Weigh(q Request) Decision {
	d, _ := r.weigh(q)
	return d
}

// weigh decides; used reports that a rule decided.
func (r *Rules) weigh(q Request) (d Decision, used bool) {
	cfg := r.o.Config()
	rule, found := firstRule(cfg.Rules, q)
	var configured Verdict
	if found {
		configured = Verdict(rule.Decision)
	}
	if configured == Deny {
		return Decision{Verdict: Deny, Why: ruleWhy(rule), Rule: rule.ID}, false
	}
	j := r.judge(callOf(q))
	d = decide(cfg, q, configured, rule, j)
	if d.wide {
		if why := r.hides(callOf(q)); why != "" {
			d = Decision{Verdict: Ask, Why: why}
		}
	}
	if why := r.doubt(); why != "" && d.Verdict == Allow && !q.Direct && q.Effect != protocol.EffectRead {
		d = Decision{Verdict: Ask, Why: why}
	}
	d.held, d.loose = j.Held, j.Loose
	if d.Verdict == Ask {
		d.Parts, d.Offers = parts(j), r.offers(j, q)
	}
	return d, d.Rule != "" && d.Rule == j.Rule
}

func decide(cfg config.ToolApproval, q Request, configured Verdict, rule config.ToolRule, j policy.Judgement) Decision {
	ruled := j.Rule != "" // not only the default
	switch {
	case j.Verdict == Deny && ruled:
		return Decision{Verdict: Deny, Why: j.Reason, Rule: j.Rule}
	case q.Direct:
		return Decision{Verdict: Allow, Why: "you did it yourself"}
	case q.Mode.Mode == protocol.ModeReadOnly && q.Effect != protocol.EffectRead:
		return Decision{Verdict: Deny, Why: "this chat may only read"}
	case q.Mode.Mode == protocol.ModePaused:
		return Decision{Verdict: Ask, Why: "this chat is paused, so every call is asked about"}
	case j.Floor:
		return Decision{Verdict: Ask, Why: j.Reason, Floor: true}
	case q.Preview != nil && q.Preview.Network:
		return Decision{Verdict: Ask, Why: "it wants the network, for this command"}
	case j.Verdict == Ask && ruled:
		return Decision{Verdict: Ask, Why: j.Reason, Rule: j.Rule}
	case configured == Ask:
		return Decision{Verdict: Ask, Why: ruleWhy(rule), Rule: rule.ID}
	case j.Verdict == Allow:
		return Decision{Verdict: Allow, Why: j.Reason, Rule: j.Rule}
	case configured == Allow:
		return Decision{Verdict: Allow, Why: ruleWhy(rule), Rule: rule.ID, wide: true}
	case granted(q):
		return Decision{Verdict: Allow, Why: "you allowed it for this chat"}
	case q.Effect == protocol.EffectRead && q.Preview != nil && !q.Preview.Outside && !q.Preview.Personal && q.Preview.Secret == "":
		return Decision{Verdict: Allow, Why: "it reads inside the workspace"}
	case q.Mode.Mode == protocol.ModeTrust && !q.foreign() && time.Now().UnixMilli() < q.Mode.Until:
		return Decision{Verdict: Allow, Why: "you trust this chat until " + time.UnixMilli(q.Mode.Until).Format("15:04"), wide: true}
	// The agent's own files are not a machine's workspace: SOUL.md or a skill directs everything
	// that the agent does later.
	case q.Mode.Mode == protocol.ModeAcceptEdits && !q.foreign() && q.Node != protocol.NativePrefix && q.Effect == protocol.EffectWrite &&
		q.Preview != nil && q.Preview.Path != "" && !q.Preview.Outside && q.Preview.Secret == "":
		return Decision{Verdict: Allow, Why: "this chat accepts changes of files in the workspace"}
	}
	switch Verdict(cfg.DefaultDecision) {
	case Allow:
		return Decision{Verdict: Allow, Why: "your configuration allows what no rule names", wide: true}
	case Deny:
		return Decision{Verdict: Deny, Why: "your configuration denies what no rule names"}
	}
	why := askWhy(q)
	for _, p := range j.Parts {
		if p.Verdict == Ask && p.Kind == "finding" {
			why += ": " + p.Reason
			break
		}
	}
	return Decision{Verdict: Ask, Why: why}
}

// callOf converts a request to the form that rules judge.
func callOf(q Request) policy.Call {
	c := policy.Call{Tool: q.Bare, Node: q.Node, Session: q.Session, Args: q.Args, Whole: q.Whole}
	if q.Host != nil {
		c.Root, c.Cwd, c.Home = q.Host.Workspace, q.Host.Workspace, q.Host.Home
		c.Aliases, c.Sandbox = q.Host.Aliases, sandboxOf(q.Host)
		if q.Host.Private != "" {
			c.Own = []string{q.Host.Private}
		}
	}
	if q.Preview != nil {
		if q.Preview.Folder != "" {
			c.Cwd = q.Preview.Folder
		}
		c.Shell = q.Preview.Shell
		if q.Preview.Path != "" {
			c.Paths = []string{q.Preview.Path}
		}
	}
	// A value of the wrong type must not hide the other one, so each is read separately.
	var command struct {
		Text string `json:"command"`
	}
	var file struct {
		Path string `json:"path"`
	}
	switch {
	case q.Effect == protocol.EffectExec && json.Unmarshal(q.Args, &command) == nil:
		c.Command = command.Text
	case q.Effect == protocol.EffectWrite && json.Unmarshal(q.Args, &file) == nil:
		c.Named = file.Path
	}
	return c
}

func parts(j policy.Judgement) []protocol.ApprovalPart {
	var out []protocol.ApprovalPart
	for _, p := range j.Parts {
		out = append(out, protocol.ApprovalPart{Kind: p.Kind, Text: p.Text, Argv: p.Argv, Verdict: string(p.Verdict), Reason: p.Reason, Floor: p.Floor})
	}
	return out
}

// offers returns the rules that the approval offers to save. There are none if the preview is cut,
// because then nobody has seen all of the call.
func (r *Rules) offers(j policy.Judgement, q Request) []protocol.RuleOffer {
	if j.Floor || q.Preview == nil || q.Preview.Truncated {
		return nil
	}
	var out []protocol.RuleOffer
	for _, o := range j.Offers {
		raw, err := protocol.Marshal(o.Rule)
		if err != nil {
			return nil
		}
		out = append(out, protocol.RuleOffer{Policy: raw, Words: r.words(o.Rule)})
	}
	return out
}
