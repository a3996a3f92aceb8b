package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Export returns the rules as a file, with the permissions of chats.
func (r *Rules) Export(ctx context.Context) (protocol.RulesExport, error) {
	file := policy.File{Default: defaultVerdict(r.config().ToolApproval), Rules: []policy.Rule{}}
	for _, rule := range r.List().Rules {
		var p policy.Rule
		if rule.Origin == protocol.RuleFromConfig || json.Unmarshal(rule.Policy, &p) != nil {
			continue
		}
		p.ID = rule.ID
		file.Rules = append(file.Rules, p)
	}
	grants, err := r.grants.List(ctx, "")
	if err != nil {
		return protocol.RulesExport{}, err
	}
	for _, g := range grants {
		if out, ok := exportGrant(g); ok {
			file.Grants = append(file.Grants, out)
		}
	}
	raw, err := json.MarshalIndent(file, "", "  ")
	return protocol.RulesExport{File: raw}, err
}

// defaultVerdict returns the verdict for calls that no rule names.
func defaultVerdict(c config.ToolApproval) policy.Verdict {
	return cmp.Or(policy.Verdict(c.DefaultDecision), policy.Ask)
}

// Import adds the rules and the permissions of chats from a file, unless they exist already. A rule
// that is turned off because its own examples fail is added and reported.
func (r *Rules) Import(ctx context.Context, by string, in protocol.RulesImportParams) (protocol.RulesImportResult, error) {
	var res protocol.RulesImportResult
	set, problems, err := policy.Parse(in.File)
	if err != nil {
		return res, protocol.ErrBadRequest.With(format.Capital(err.Error()))
	}
	for _, p := range problems {
		res.Problems = append(res.Problems, strings.TrimPrefix(p.Rule+": "+p.Reason, ": "))
	}
	var file struct {
		Default policy.Verdict    `json:"default"`
		Rules   []json.RawMessage `json:"rules"`
	}
	if err := json.Unmarshal(in.File, &file); err != nil {
		return res, protocol.ErrBadRequest.With(format.Capital(protocol.Problem(err)))
	}
	if d := defaultVerdict(r.config().ToolApproval); file.Default != "" && file.Default != d {
		res.Problems = append(res.Problems, fmt.Sprintf("The file's default (%s) was not imported: the setting toolApproval decides about calls that no rule names (%s).", file.Default, d))
	}
	defer r.publish()
	if err := r.importGrants(ctx, by, set.Grants(), &res); err != nil {
		return res, err
	}
	r.change.Lock()
	defer r.change.Unlock()
	have := map[string]bool{}
	for _, rule := range r.List().Rules {
		have[string(rule.Policy)] = true
	}
	var add []protocol.Rule
	for i, one := range file.Rules {
		var p policy.Rule
		if policy.UnknownFields(one) != "" {
			continue // without the unknown field it would be a different rule; the problems list it
		}
		if err := json.Unmarshal(one, &p); err != nil {
			return res, protocol.ErrBadRequest.With(format.Capital(protocol.Problem(err)))
		}
		p.ID, p.Source = "", ""
		raw, err := protocol.Marshal(p)
		if err != nil {
			return res, err
		}
		if have[string(raw)] {
			res.Skipped++
			continue
		}
		have[string(raw)] = true
		add = append(add, protocol.Rule{
			ID: protocol.NewID(), Policy: raw, Words: r.describe(p), Origin: protocol.RuleFromImport, CreatedBy: by,
			CreatedAt: time.Now().UnixMilli() - int64(i),
		})
	}
	if len(add) == 0 {
		return res, nil
	}
	res.Added += len(add)
	return res, r.save(putRules(ctx, r.store), by, protocol.AuditRuleMade, add...)
}

// importGrants adds the permissions of chats from a file.
func (r *Rules) importGrants(ctx context.Context, by string, grants []policy.Grant, res *protocol.RulesImportResult) error {
	if len(grants) == 0 {
		return nil
	}
	now, err := r.grants.List(ctx, "")
	if err != nil {
		return err
	}
	left := 0
	for _, in := range grants {
		g, ok := importGrant(in)
		isSame := func(have store.Grant) bool {
			return have.Session == g.Session && have.Node == g.Node && have.Tool == g.Tool && have.Match == g.Match
		}
		switch {
		case !ok:
			left++
		case slices.ContainsFunc(now, isSame):
			res.Skipped++
		default:
			now = append(now, g)
			line := protocol.AuditEntry{
				At: g.CreatedAt, Kind: protocol.AuditRuleMade, By: by, Rule: protocol.GrantPrefix + g.ID, Node: g.Node, SessionKey: g.Session, Tool: g.Tool,
				What: "Allow " + g.Words + ", in one chat",
			}
			if err := r.grants.Put(ctx, g, line); err != nil {
				return err
			}
			res.Added++
		}
	}
	if left > 0 {
		res.Problems = append(res.Problems, fmt.Sprintf("%d grants were not imported: only grants for a whole call, in one chat on one machine, can be imported.", left))
	}
	return nil
}

// Try returns which of the calls the rule would decide differently from the current rules. host
// returns a machine's facts, or nil if unknown; they resolve the relative paths of a rule.
func (r *Rules) Try(calls []protocol.JournalEntry, host func(protocol.NodeID) *protocol.HostInfo, in protocol.RuleTryParams) (protocol.RuleTryResult, error) {
	rule := protocol.Rule{ID: "tried", Policy: in.Policy}
	if err := r.check(&rule); err != nil {
		return protocol.RuleTryResult{}, err
	}
	if in.Limit <= 0 {
		in.Limit = 20
	}
	var file policy.File
	for _, have := range append(r.List().Rules, rule) {
		if have.Origin == protocol.RuleFromConfig || have.Problem != "" {
			continue
		}
		if p, problem := prepare(have); problem == "" {
			file.Rules = append(file.Rules, p)
		}
	}
	with, _, err := policy.New(file)
	if err != nil {
		return protocol.RuleTryResult{}, protocol.ErrBadRequest.With("This rule cannot be used: " + err.Error())
	}
	res := protocol.RuleTryResult{Words: rule.Words, Changed: []protocol.RuleChange{}, Matched: []protocol.JournalEntry{}, Unmatched: []protocol.JournalEntry{}}
	covers, err := coverage(rule)
	if err != nil {
		return res, err
	}
	seen := make(map[string]bool)
	for _, call := range calls {
		c := policy.Request{
			Node: call.Node, Bare: call.Tool, Effect: call.Effect, Args: call.Input, Session: call.SessionKey, Preview: call.Preview,
			Host: host(call.Node),
		}.Call()
		was, now := r.current().Rules.Decide(c), with.Decide(c)
		res.Looked++
		if was.Verdict != now.Verdict && len(res.Changed) < in.Limit {
			res.Changed = append(res.Changed, protocol.RuleChange{Call: call, Was: string(was.Verdict), Now: string(now.Verdict)})
		}
		text := fmt.Sprint(call.Node, " ", call.Tool, " ", string(call.Input))
		if seen[text] {
			continue
		}
		seen[text] = true
		switch covered, similar := covers(c); {
		case covered && len(res.Matched) < in.Limit:
			res.Matched = append(res.Matched, call)
		case !covered && similar && len(res.Unmatched) < maxUnmatched:
			res.Unmatched = append(res.Unmatched, call)
		}
	}
	return res, nil
}

// maxUnmatched is the maximum number of [protocol.RuleTryResult.Unmatched].
const maxUnmatched = 3

// coverage returns a function that reports whether a rule alone decides a call, and whether the
// call is at least similar to those that it decides: of the same tool and program.
func coverage(rule protocol.Rule) (func(policy.Call) (covered, similar bool), error) {
	p, problem := prepare(rule)
	if problem != "" {
		return nil, protocol.ErrBadRequest.With("This rule cannot be used: " + problem)
	}
	alone, _, err := policy.New(policy.File{Default: policy.Ask, Rules: []policy.Rule{p}})
	if err != nil {
		return nil, protocol.ErrBadRequest.With("This rule cannot be used: " + err.Error())
	}
	byRule := func(part policy.Part) bool { return part.Rule == p.ID }
	return func(c policy.Call) (covered, similar bool) {
		d := alone.Decide(c)
		if p.Verdict == policy.Allow {
			covered = d.Verdict == policy.Allow
		} else {
			covered = d.Rule == p.ID || slices.ContainsFunc(d.Parts, byRule)
		}
		similar = c.Tool == p.Tool || strings.Contains(p.Tool, "*")
		if len(p.Argv) > 0 {
			similar = similar && strings.Contains(c.Command, p.Argv[0])
		}
		return covered, similar
	}, nil
}

// exportGrant converts a chat's permission for an exported file; ok is false for unreadable ones.
func exportGrant(g store.Grant) (out policy.Grant, ok bool) {
	out = policy.Grant{Scope: protocol.ScopeSession, Tool: g.Tool, Node: string(g.Node), Session: string(g.Session)}
	if path, ok := strings.CutPrefix(g.Match, policy.PathMatch); ok {
		out.Path = path
		return out, true
	}
	rest, ok := strings.CutPrefix(g.Match, policy.CallMatch)
	if !ok {
		return out, false
	}
	args := json.RawMessage(rest)
	for !json.Valid(args) { // the name of the folder may contain a brace, too
		_, after, found := strings.Cut(string(args), " {")
		if !found {
			return out, false
		}
		args = json.RawMessage("{" + after)
	}
	out.Cwd = strings.TrimSuffix(strings.TrimSuffix(rest, string(args)), " ")
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return out, false
	}
	if json.Unmarshal(all["command"], &out.Command) != nil || len(all) > 1 {
		out.Args = args
	}
	return out, true
}

// importGrant is the inverse of exportGrant. ok is false for a permission that is not for a chat on one
// machine, or does not name a whole call: a chat's permissions are compared with whole calls only.
func importGrant(g policy.Grant) (out store.Grant, ok bool) {
	if g.Scope == protocol.ScopeOnce || g.Node == "" || g.Node == "*" || g.Session == "" || g.Session == "*" || g.Shell != "" || !g.Expires.IsZero() {
		return out, false
	}
	out = store.Grant{
		ID: protocol.NewID(), Session: protocol.SessionKey(g.Session), Node: protocol.NodeID(g.Node), Tool: g.Tool, CreatedAt: time.Now().UnixMilli(),
	}
	switch {
	case g.Path != "":
		out.Match, out.Words = policy.PathMatch+g.Path, policy.AnyAccess(g.Tool, g.Path)
		return out, true
	case g.Command == "" && len(g.Args) == 0:
		return out, false
	case len(g.Args) == 0:
		var err error
		if g.Args, err = protocol.Marshal(map[string]string{"command": g.Command}); err != nil {
			return out, false
		}
	}
	args, err := protocol.Canonical(g.Args)
	if err != nil {
		return out, false
	}
	out.Match, out.Words = policy.CallMatch+g.Cwd+" "+string(args), policy.ExactCommand
	return out, true
}
