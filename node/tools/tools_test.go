package tools

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// bench is a workspace with all tools.
type bench struct {
	t     testing.TB
	ws    *workspace.Root
	jobs  *Jobs
	tools map[string]tool.Tool
}

// TestMain lets the test program be the sandbox's helper.
func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// newBench has commands as plain children.
func newBench(t testing.TB) *bench {
	t.Helper()
	ws, err := workspace.Open(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, ws, JobOptions{})
}

// newBenchWith has commands in a box.
func newBenchWith(t testing.TB, o sandbox.Options, p sandbox.Profile) *bench {
	t.Helper()
	box, err := sandbox.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	ws, err := workspace.Open(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Workspace = ws.Dir()
	return benchOf(t, ws, JobOptions{Box: box, Profile: p})
}

func benchOf(t testing.TB, ws *workspace.Root, o JobOptions) *bench {
	b := &bench{t: t, ws: ws, jobs: NewJobs(o), tools: map[string]tool.Tool{}}
	for _, tl := range All(ws, b.jobs) {
		b.tools[tl.Spec.Name] = tl
	}
	t.Cleanup(func() {
		b.jobs.Close()
		ws.Close()
	})
	return b
}

func (b *bench) file(name, content string) string {
	b.t.Helper()
	path := filepath.Join(b.ws.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

type args map[string]any

func encode(t testing.TB, a any) json.RawMessage {
	t.Helper()
	raw, err := protocol.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// callCtx calls a tool and decodes its result.
func callCtx[T any](b *bench, ctx context.Context, name string, a args) (out T, err error) {
	b.t.Helper()
	raw, err := b.tools[name].Call(ctx, encode(b.t, a))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		b.t.Fatalf("%s returned %s: %v", name, raw, err)
	}
	return out, nil
}

func call[T any](b *bench, name string, a args) (T, error) {
	b.t.Helper()
	return callCtx[T](b, context.Background(), name, a)
}

func must[T any](b *bench, name string, a args) T {
	b.t.Helper()
	out, err := call[T](b, name, a)
	if err != nil {
		b.t.Fatalf("%s(%v): %v", name, a, err)
	}
	return out
}

// fails calls a tool that must fail and returns its words.
func fails(b *bench, name string, a args) string {
	b.t.Helper()
	raw, err := b.tools[name].Call(context.Background(), encode(b.t, a))
	if err == nil {
		b.t.Fatalf("%s(%v) gave %s, no error", name, a, raw)
	}
	if err.Error() == "" {
		b.t.Fatalf("%s(%v): an error without words", name, a)
	}
	return err.Error()
}

func preview(b *bench, name string, a args) protocol.CallPreview {
	b.t.Helper()
	p, ok, err := b.tools[name].Preview(context.Background(), encode(b.t, a))
	if err != nil || !ok {
		b.t.Fatalf("preview of %s(%v): %v, %v", name, a, ok, err)
	}
	return p
}

func TestToolsAreWhatTheSeedLists(t *testing.T) {
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
	list := All(b.ws, b.jobs)
	if len(list) != len(want) {
		t.Fatalf("%d tools", len(list))
	}
	for i, w := range want {
		got := list[i]
		if got.Spec.Name != w.name || got.Spec.Effect != w.effect || got.Spec.Idempotent != w.idempotent || !slices.Equal(got.Caps, w.caps) {
			t.Errorf("tool %d is %s %s %v %v", i, got.Spec.Name, got.Spec.Effect, got.Spec.Idempotent, got.Caps)
		}
		var schema struct {
			Type       string
			Required   []string
			Properties map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal(got.Spec.InputSchema, &schema); err != nil || schema.Type != "object" || !slices.Equal(schema.Required, w.required) {
			t.Errorf("%s: schema %s, %v", w.name, got.Spec.InputSchema, err)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s: %s has type %q, description %q", w.name, name, p.Type, p.Description)
			}
		}
		if len(got.Spec.Description) < 200 {
			t.Errorf("%s is hardly described", w.name)
		}
	}
}

func TestWrongArgumentsAreRefusedWithWords(t *testing.T) {
	b := newBench(t)
	b.file("f", "x")
	for _, c := range []struct {
		tool string
		args string
	}{
		{"Bash", `{}`},
		{"Bash", `[]`},
		{"Bash", `null`},
		{"Bash", ``},
		{"Bash", `{"command":1}`},
		{"Bash", `{"command":"x","timeout":"5"}`},
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
		_, err := b.tools[c.tool].Call(t.Context(), json.RawMessage(c.args))
		var input *tool.InputError
		if !errors.As(err, &input) || !strings.HasPrefix(err.Error(), "Invalid arguments: ") {
			t.Errorf("%s(%s): %v", c.tool, c.args, err)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(b.ws.Dir(), "f")); string(data) != "x" {
		t.Errorf("the file became %q", data)
	}
}

func TestNullAndUnknownArgumentsAreAsIfLeftOut(t *testing.T) {
	b := newBench(t)
	b.file("f", "a\nb\n")
	out := must[readText](b, "Read", args{"path": "f", "offset": nil, "limit": nil, "surprise": 1})
	if out.Lines != 2 {
		t.Errorf("%+v", out)
	}
}

func TestFileToolsStayInTheWorkspace(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(folder(t), "f")
	for tool, a := range map[string]args{
		"Read": {"path": outside}, "Write": {"path": outside, "content": "x"}, "Edit": {"path": outside, "oldString": "a", "newString": "b"},
		"Glob": {"pattern": "*", "path": filepath.Dir(outside)}, "Grep": {"pattern": "x", "path": filepath.Dir(outside)},
	} {
		words := fails(b, tool, a)
		if !strings.Contains(words, filepath.Dir(outside)) || !strings.Contains(words, b.ws.Dir()) || !strings.Contains(words, "ask the person") {
			t.Errorf("%s: %s", tool, words)
		}
		if p := preview(b, tool, a); !p.Outside || p.Problem == "" && (len(p.Folders) != 1 || p.Folders[0].Path != filepath.Dir(outside)) {
			t.Errorf("preview of %s: %+v", tool, p)
		}
	}
	for _, pattern := range []string{"../*", "a/../../*", filepath.Dir(outside) + "/*"} {
		if words := fails(b, "Glob", args{"pattern": pattern}); !strings.Contains(words, "outside the workspace") {
			t.Errorf("%s: %s", pattern, words)
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
	b.file("f", "some\ntext\n")
	f.Fuzz(func(t *testing.T, raw string) {
		for _, name := range []string{"Process", "Read", "Edit", "Glob", "Grep"} { // Bash and Write would do what they are told
			out, err := b.tools[name].Call(t.Context(), json.RawMessage(raw))
			if err == nil && !json.Valid(out) || err != nil && err.Error() == "" {
				t.Fatalf("%s(%s) = %s, %v", name, raw, out, err)
			}
			b.tools[name].Preview(t.Context(), json.RawMessage(raw))
		}
		for _, name := range []string{"Bash", "Write"} {
			b.tools[name].Preview(t.Context(), json.RawMessage(raw))
		}
	})
}
