//go:build unix

package rpc_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// schema is the part of a tool's JSON schema that the protocol specifies.
type schema struct {
	Type       string
	Enum       []string
	Items      *schema
	Properties map[string]*schema
	Required   []string
	AnyOf      []*schema
}

func TestNativeToolsTakeTheSpecifiedParameters(t *testing.T) {
	s, l := readList(t, "testdata/spec-tools.txt"), startLive(t)
	got, err := l.call(l.client, "tools.list", nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(got)
	var list protocol.ToolsListResult
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, spec := range list.Tools {
		name, own := strings.CutPrefix(spec.Name, "gsv__")
		if !own || name == tool.FindTools || strings.HasPrefix(name, "Service") || strings.HasPrefix(name, "Network") || strings.HasPrefix(name, "Node") { // an extension
			continue
		}
		names = append(names, name)
		b := s.tools[name]
		var in schema
		if err := json.Unmarshal(spec.InputSchema, &in); err != nil || b == nil || spec.Description == "" {
			t.Errorf("%s: got %v; want no error, a b and some Description", name, err)
			continue
		}
		for _, err := range s.checkParameters(name, b.params, &in) {
			t.Error(err)
		}
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(s.order))
	if !slices.Equal(names, want) || len(want) != 11 {
		t.Errorf("tools: %v, want %v", names, want)
	}
}

// checkParameters returns the parameters of a list that a schema lacks, and those that the schema
// requires although the protocol does not.
func (s spec) checkParameters(at string, list []field, in *schema) (faults []error) {
	for _, f := range list {
		where, p := at+" "+f.name, in.Properties[f.name]
		if p == nil {
			faults = append(faults, fmt.Errorf("%s is missing", where))
			continue
		}
		// A parameter may have other forms besides the specified object.
		if i := slices.IndexFunc(p.AnyOf, func(form *schema) bool { return form.Type == "object" }); i >= 0 {
			p = p.AnyOf[i]
		}
		if slices.Contains(in.Required, f.name) == f.optional {
			faults = append(faults, fmt.Errorf("%s: optional is %v", where, f.optional))
		}
		switch {
		case strings.Contains(f.kind, "|"):
			if p.Type != "string" || !slices.Equal(p.Enum, strings.Split(f.kind, "|")) {
				faults = append(faults, fmt.Errorf("%s: %s of %v", where, p.Type, p.Enum))
			}
		case s.types[f.kind] != nil:
			faults = append(faults, s.checkParameters(where, s.types[f.kind].fields, p)...)
		case p.Type != f.kind:
			faults = append(faults, fmt.Errorf("%s is %s", where, p.Type))
		}
	}
	for _, name := range in.Required {
		if !slices.ContainsFunc(list, func(f field) bool { return f.name == name }) {
			faults = append(faults, fmt.Errorf("%s requires %s, which the specification does not know", at, name))
		}
	}
	return faults
}

// toolSamples are calls that succeed in this order. want is a part of the result.
var toolSamples = []struct{ tool, args, want string }{
	{"WriteFile", `{"path":"notes/a.md","content":"costs 5 USD, 5 USD"}`, `"size":18,"written":true`},
	{"ReadFile", `{"path":"notes/a.md"}`, `"content":"costs 5 USD, 5 USD"`},
	{"EditFile", `{"path":"notes/a.md","oldString":"costs 5 USD","newString":"costs $1 $& $$ ${x}"}`, `"edited":true,"path":"notes/a.md","replacements":1`},
	{"ReadFile", `{"path":"notes/a.md"}`, `"content":"costs $1 $& $$ ${x}, 5 USD"`},
	{"EditFile", `{"path":"notes/a.md","oldString":"$","newString":"$$","replaceAll":true}`, `"replacements":5`},
	{"ReadFile", `{"path":"notes/"}`, `"files":["notes/a.md"]`},
	{"ReadFile", `{}`, `"directories":[`},
	{"ReadFile", `{"path":"/"}`, `"directories":[`},
	{"DeleteFile", `{"path":"notes/a.md"}`, `"deleted":true`},
	{"WriteFile", `{"path":"skills/own/SKILL.md","content":"---\nname: own\ndescription: d\n---\nx"}`, `"written":true`},
	{"ReadFile", `{"path":"skills/own/SKILL.md"}`, `"resolvedSource":"agent"`},
	{"EditFile", `{"path":"skills/own/SKILL.md","oldString":"x","newString":"y"}`, `"resolvedSource":"agent"`},
	{"ConfigGet", `{"path":"session.dmScope"}`, `"path":"session.dmScope","value":"main"`},
	{"ConfigGet", `{}`, `"config":{`},
	{"LogsGet", `{"lines":2}`, `"lines":["a","b"]`},
	{"Cron", `{"action":"add","job":{"name":"j","schedule":{"kind":"at","in":"in 30 minutes"},"spec":{"mode":"task","message":"m"}}}`, `"ok":true`},
	{"Cron", `{"action":"status"}`, `"count":1`},
	{"Cron", `{"action":"list","includeDisabled":true,"limit":5,"offset":0}`, `"count":1`},
	{"Cron", `{"action":"runs","limit":5}`, `"runs":[]`},
	{"SessionSend", `{"sessionKey":"main","message":"what can you do","waitSeconds":20}`, `"reply":"`},
	{"SessionsList", `{"limit":5,"offset":0,"messageLimit":2}`, `"messages":[`},
}

func TestNativeToolsAnswerAsTheSpecificationSays(t *testing.T) {
	s, l := readList(t, "testdata/spec-tools.txt"), startLive(t)
	// these need somebody on a channel, and a node with files
	tried := map[string]bool{"Message": true, "Transfer": true}
	for _, c := range toolSamples {
		tried[c.tool] = true
		got, err := l.call(l.client, "tool.invoke", map[string]any{"tool": "gsv__" + c.tool, "args": json.RawMessage(c.args)})
		if err != nil {
			t.Errorf("%s %s: got error %v, want none", c.tool, c.args, err)
			continue
		}
		shell, _ := got.(map[string]any)["result"].(map[string]any)
		if shell["ok"] != true {
			t.Errorf("%s %s: got %v, want ok", c.tool, c.args, shell)
			continue
		}
		raw, _ := protocol.Marshal(shell["result"])
		if !strings.Contains(string(raw), c.want) {
			t.Errorf("%s %s = %s, want %s", c.tool, c.args, raw, c.want)
		}
		if b := s.tools[c.tool]; !b.any {
			for _, err := range s.missingFields(c.tool, b.fields, shell["result"]) {
				t.Error(err)
			}
		}
	}
	for _, name := range s.order {
		if !tried[name] {
			t.Errorf("%s: got no call, want one", name)
		}
	}
	for tool, args := range map[string]string{
		"ReadFile": `{"path":"../secret"}`, "EditFile": `{"path":"AGENTS.md","oldString":"","newString":"x"}`,
		"DeleteFile": `{"path":"none.md"}`, "LogsGet": `{"nodeId":"none"}`, "Message": `{"text":"hello"}`, "Transfer": `{"source":"x","destination":"y"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			got, err := l.call(l.client, "tool.invoke", map[string]any{"tool": "gsv__" + tool, "args": json.RawMessage(args)})
			if err != nil {
				return // refused before it started
			}
			shell, _ := got.(map[string]any)["result"].(map[string]any)
			if text, _ := shell["error"].(string); shell["ok"] != false || text == "" {
				t.Errorf("%s %s: got %v, want an error", tool, args, got)
			}
		})
	}
}
