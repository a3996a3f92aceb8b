package tools

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func TestToolsAreThoseOfTheProtocol(t *testing.T) {
	b := newBench(t)
	want := []struct {
		name       string
		effect     protocol.Effect
		idempotent bool
		caps       []string
		required   []string
	}{
		{"Bash", protocol.EffectExec, false, []string{protocol.CapExec}, []string{"command"}},
		{"Process", protocol.EffectExec, false, []string{protocol.CapExec}, []string{"action"}},
		{"Read", protocol.EffectRead, true, []string{protocol.CapRead}, []string{"path"}},
		{"Write", protocol.EffectWrite, false, []string{protocol.CapWrite}, []string{"path", "content"}},
		{"Edit", protocol.EffectWrite, false, []string{protocol.CapEdit, protocol.CapRead, protocol.CapWrite}, []string{"path", "oldString", "newString"}},
		{"Glob", protocol.EffectRead, true, []string{protocol.CapList}, []string{"pattern"}},
		{"Grep", protocol.EffectRead, true, []string{protocol.CapRead, protocol.CapSearch}, []string{"pattern"}},
	}
	list := makeAll(b.WS)
	if len(list) < len(want) {
		t.Fatalf("got %d tools, want at least %d", len(list), len(want))
	}
	for _, tool := range list[len(want):] {
		if !protocol.ForPrograms(tool.Spec.Name) || tool.Spec.Description == "" {
			t.Errorf("%s: got a tool for the agent, want one for programs", tool.Spec.Name)
		}
	}
	for i, w := range want {
		t.Run(w.name, func(t *testing.T) {
			got := list[i]
			if got.Spec.Name != w.name || got.Spec.Effect != w.effect || got.Spec.Idempotent != w.idempotent || !slices.Equal(got.Caps, w.caps) {
				t.Errorf("tool %d: got %s %s %v %v, want %+v", i, got.Spec.Name, got.Spec.Effect, got.Spec.Idempotent, got.Caps, w)
			}
			var schema struct {
				Type       string
				Required   []string
				Properties map[string]struct{ Type, Description string }
			}
			if err := json.Unmarshal(got.Spec.InputSchema, &schema); err != nil || schema.Type != "object" || !slices.Equal(schema.Required, w.required) {
				t.Errorf("got schema %s, error %v, want an object that requires %v", got.Spec.InputSchema, err, w.required)
			}
			for name, p := range schema.Properties {
				if p.Type == "" || p.Description == "" {
					t.Errorf("%s: got type %q, description %q, want both", name, p.Type, p.Description)
				}
			}
			if len(got.Spec.Description) < 200 {
				t.Errorf("got %d bytes of a description, want at least 200", len(got.Spec.Description))
			}
		})
	}
}

func TestWrongArgumentsAreRefusedWithWords(t *testing.T) {
	b := newBench(t)
	b.File("f", "x")
	for _, c := range []struct {
		tool string
		args string
	}{
		{"Bash", `{}`},
		{"Bash", `[]`},
		{"Bash", `null`},
		{"Bash", ``},
		{"Bash", `{"command":1}`},
		{"Bash", `{"command":"x","timeout":"5 s"}`},
		{"Bash", `{"command":"x","timeout":-1}`},
		{"Bash", `{"command":"x","yieldMs":-1}`},
		{"Bash", `{"command":"x"} {}`},
		{"Process", `{}`},
		{"Read", `{"path":"f","offset":-1}`},
		{"Read", `{"path":"f","limit":1.5}`},
		{"Read", `{"path":["f"]}`},
		{"Write", `{"path":"f"}`},
		{"Write", `{"path":"f","content":null}`},
		{"Edit", `{"path":"f","oldString":"x"}`},
		{"Edit", `{"path":"f","oldString":"x","newString":"y","replaceAll":"yes"}`},
		{"Glob", `{}`},
		{"Grep", `{"pattern":{}}`},
	} {
		_, err := b.Tools[c.tool].Call(t.Context(), access.Call{}, json.RawMessage(c.args))
		var input *toolkit.InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), "Invalid arguments: ") {
			t.Errorf("%s(%s): got error %v, want invalid arguments", c.tool, c.args, err)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(b.WS.Dir(), "f")); string(data) != "x" {
		t.Errorf("got file %q, want x", data)
	}
}

func TestNullAndUnknownArgumentsCountAsOmitted(t *testing.T) {
	b := newBench(t)
	b.File("f", "a\nb\n")
	out := tooltest.Must[readText](b, "Read", tooltest.Args{"path": "f", "offset": nil, "limit": nil, "surprise": 1})
	if out.Lines != 2 {
		t.Errorf("got %+v, want 2 lines", out)
	}
}

func TestFileToolsStayInTheWorkspace(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(tooltest.Folder(t), "f")
	for tool, a := range map[string]tooltest.Args{
		"Read": {"path": outside}, "Write": {"path": outside, "content": "x"}, "Edit": {"path": outside, "oldString": "a", "newString": "b"},
		"Glob": {"pattern": "*", "path": filepath.Dir(outside)}, "Grep": {"pattern": "x", "path": filepath.Dir(outside)},
	} {
		t.Run(tool, func(t *testing.T) {
			words := tooltest.MustFail(b, tool, a)
			if !strings.Contains(words, filepath.Dir(outside)) || !strings.Contains(words, b.WS.Dir()) || !strings.Contains(words, "ask the person") {
				t.Errorf("got %q, want both folders and what to do", words)
			}
			if p := tooltest.Preview(b, tool, a); !p.Outside || p.Problem == "" && (len(p.Folders) != 1 || p.Folders[0].Path != filepath.Dir(outside)) {
				t.Errorf("got preview %+v, want the folder outside", p)
			}
		})
	}
	for _, pattern := range []string{"../*", "a/../../*", filepath.Dir(outside) + "/*"} {
		if words := tooltest.MustFail(b, "Glob", tooltest.Args{"pattern": pattern}); !strings.Contains(words, "outside the workspace") {
			t.Errorf("%s: got %q, want that it is outside", pattern, words)
		}
	}
	if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written outside: %v", err)
	}
}

func FuzzArguments(f *testing.F) {
	for _, s := range []string{
		`{"path":"a"}`, `{"pattern":"**/{a,b"}`, `{"pattern":"(?P<x"}`, `{"path":"a","oldString":"","newString":""}`, `{"action":"poll"}`,
		`{"path":"f","offset":1e300}`, `{"pattern":"x","include":"["}`, `{"path":"\u0000"}`, `{"pattern":"\\1"}`, `null`, `{"path":"f","limit":0}`,
	} {
		f.Add(s)
	}
	b := newBench(f)
	b.File("f", "some\ntext\n")
	f.Fuzz(func(t *testing.T, raw string) {
		// Bash and Write would carry out the call
		for _, name := range []string{"Process", "Read", "Edit", "Glob", "Grep"} {
			out, err := b.Tools[name].Call(t.Context(), access.Call{}, json.RawMessage(raw))
			if err == nil && !json.Valid(out) || err != nil && err.Error() == "" {
				t.Fatalf("%s(%s): got %s, error %v, want JSON or an error", name, raw, out, err)
			}
			b.Tools[name].Preview(t.Context(), access.Call{}, json.RawMessage(raw))
		}
		for _, name := range []string{"Bash", "Write"} {
			b.Tools[name].Preview(t.Context(), access.Call{}, json.RawMessage(raw))
		}
	})
}
