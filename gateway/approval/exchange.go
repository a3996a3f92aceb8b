package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/approval/policy"
	"fairlead/gateway/protocol"
)

// Export gives the rules as a file.
func (r *Rules) Export() (protocol.RulesExport, error) {
	file := policy.File{Default: policy.Ask, Rules: []policy.Rule{}}
	for _, rule := range r.List().Rules {
		var p policy.Rule
		if rule.Origin == protocol.RuleFromConfig || json.Unmarshal(rule.Policy, &p) != nil {
			continue
		}
		p.ID = rule.ID
		file.Rules = append(file.Rules, p)
	}
	raw, err := json.MarshalIndent(file, "", "  ")
	return protocol.RulesExport{File: raw}, err
}

// Import adds the rules of a file that are not there yet. A rule that is switched off, because its own examples fail, is added and says so.
func (r *Rules) Import(ctx context.Context, by string, in protocol.RulesImportParams) (protocol.RulesImportResult, error) {
	var res protocol.RulesImportResult
	_, problems, err := policy.Parse(in.File)
	if err != nil {
		return res, protocol.ErrBadRequest.With("The file cannot be imported: " + err.Error())
	}
	for _, p := range problems {
		res.Problems = append(res.Problems, strings.TrimPrefix(p.Rule+": "+p.Reason, ": "))
	}
	var file struct {
		Default policy.Verdict    `json:"default"`
		Rules   []json.RawMessage `json:"rules"`
		Grants  []json.RawMessage `json:"grants"`
	}
	if err := json.Unmarshal(in.File, &file); err != nil {
		return res, protocol.ErrBadRequest.With("The file cannot be imported: " + protocol.Problem(err))
	}
	if d := cmp.Or(policy.Verdict(r.config().DefaultDecision), policy.Ask); file.Default != "" && file.Default != d {
		res.Problems = append(res.Problems, fmt.Sprintf("The file's default, %s, was not taken over: toolApproval says what happens with what no rule names (%s).", file.Default, d))
	}
	if len(file.Grants) > 0 {
		res.Problems = append(res.Problems, "Its grants were not taken over: they are for single commands of other chats.")
	}
	defer r.changed()
	r.change.Lock()
	defer r.change.Unlock()
	have := map[string]bool{}
	for _, rule := range r.List().Rules {
		have[string(rule.Policy)] = true
	}
	var add []protocol.Rule
	for i, one := range file.Rules {
		var p policy.Rule
		if policy.Misspelt(one) != "" {
			continue // without the field it would be another rule; the problems say so
		}
		if err := json.Unmarshal(one, &p); err != nil {
			return res, protocol.ErrBadRequest.With("The file cannot be imported: " + protocol.Problem(err))
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
			ID: protocol.NewID(), Policy: raw, Words: Words(p), Origin: protocol.RuleFromImport, CreatedBy: by,
			CreatedAt: time.Now().UnixMilli() - int64(i),
		})
	}
	if len(add) == 0 {
		return res, nil
	}
	res.Added = len(add)
	return res, r.save(ctx, by, protocol.AuditRuleMade, add...)
}

// Try says which of the calls the rule would decide in another way than the rules that hold now. host gives a machine's facts, nil where they are not
// known: they say where a relative path of a rule lies.
func (r *Rules) Try(calls []protocol.JournalEntry, host func(protocol.NodeID) *protocol.HostInfo, in protocol.RuleTryParams) (protocol.RuleTryResult, error) {
	rule := protocol.Rule{ID: "tried", Policy: in.Policy}
	if err := check(&rule); err != nil {
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
	res := protocol.RuleTryResult{Words: rule.Words, Changed: []protocol.RuleChange{}}
	for _, call := range calls {
		c := callOf(Request{
			Node: call.Node, Bare: call.Tool, Effect: call.Effect, Args: call.Input, Session: call.SessionKey, Preview: call.Preview,
			Host: host(call.Node),
		})
		was, now := r.judge(c), with.Judge(c)
		res.Looked++
		if was.Verdict != now.Verdict && len(res.Changed) < in.Limit {
			res.Changed = append(res.Changed, protocol.RuleChange{Call: call, Was: string(was.Verdict), Now: string(now.Verdict)})
		}
	}
	return res, nil
}
