package tool

import (
	"encoding/json"
	"path"
	"strings"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// A transfer reads files on one machine and writes them on another. The person's rules about Read
// and Write there apply to the transfer too; otherwise it would be a way to files that they protect
// from the agent.

// end is one file or folder of a transfer, as the call that would read or write it.
type end struct {
	protocol.Endpoint
	write bool
}

// ends returns what a call of gsv__Transfer reads and writes; nothing for any other call.
func (t *task) ends() (list []end) {
	if t.row.Info.Node != protocol.NativePrefix || t.spec.Name != "Transfer" {
		return nil
	}
	var in struct {
		Source      string   `json:"source"`
		Sources     []string `json:"sources"`
		Destination string   `json:"destination"`
		Into        bool     `json:"into"`
	}
	if json.Unmarshal(t.call.Args, &in) != nil {
		return nil // the tool refuses it
	}
	into := in.Into || len(in.Sources) > 1 || strings.HasSuffix(in.Destination, "/")
	if len(in.Sources) == 0 {
		in.Sources = []string{in.Source}
	}
	to, err := protocol.ParseEndpoint(in.Destination, true)
	for _, s := range in.Sources {
		from, wrong := protocol.ParseEndpoint(s, true)
		if err != nil || wrong != nil {
			return nil
		}
		at := to
		if into {
			at.Path = path.Join(to.Path, path.Base(strings.ReplaceAll(from.Path, `\`, "/")))
		}
		list = append(list, end{from, false}, end{at, true})
	}
	return list
}

// through applies the rules to the files of a transfer, where they are stricter than d.
func (t *task) through(d policy.Decision, r policy.Request) policy.Decision {
	for _, e := range t.ends() {
		if e.Node == protocol.Here {
			continue // the person's own window, which may offer any file
		}
		q := policy.Request{
			Node: e.Node, Bare: "Read", Effect: protocol.EffectRead, Session: r.Session, Direct: true, Whole: true, By: r.By,
			Preview: &protocol.CallPreview{Path: e.Path},
		}
		if e.write {
			q.Bare, q.Effect = "Write", protocol.EffectWrite
		}
		if e.Node == protocol.NativePrefix {
			q.Bare += "File"
		}
		if e.Path == "" {
			q.Preview.Path = "." // the workspace
		}
		q.Tool = protocol.NewToolName(e.Node, q.Bare)
		if info, ok := t.nodes.Node(e.Node); ok {
			q.Host = info.Host
		}
		var err error
		if q.Args, err = protocol.Marshal(map[string]string{"path": e.Path}); err != nil {
			return policy.Decision{Verdict: policy.Deny, Reason: "its path cannot be judged"}
		}
		if own := t.rules.Evaluate(q); own.Verdict == policy.Deny {
			return own
		}
		if r.Direct || d.Verdict == policy.Deny {
			continue
		}
		q.Direct = false
		if own := t.rules.Evaluate(q); own.Verdict == policy.Ask && (own.Rule != "" || own.Floor) {
			d = policy.Decision{Verdict: policy.Ask, Reason: own.Reason, Rule: own.Rule, Floor: d.Floor || own.Floor}
		}
	}
	return d
}
