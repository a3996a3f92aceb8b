package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// bench is a workspace with all tools.
type bench struct {
	t     testing.TB
	ws    *workspace.Root
	jobs  *Jobs
	tools map[string]toolkit.Tool
}

// TestMain lets the test program be the sandbox's helper.
func TestMain(m *testing.M) {
	// This is for the helpers; otherwise each takes a second to end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	sandbox.Main()
	os.Exit(run(m))
}

// personHome is the home folder in which the person's tools store their data.
var personHome = os.Getenv("HOME")

// run gives commands, which login shells run, a home without the person's profile, which might wait
// for a lock that a killed shell has left.
func run(m *testing.M) int {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("HOME", home)
	os.Setenv("LC_ALL", "C") // a shell warns of a locale that is not installed
	return m.Run()
}

// newBench makes a bench whose commands are plain children.
func newBench(t testing.TB) *bench {
	t.Helper()
	ws, err := workspace.Open(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	return benchOf(t, ws, JobOptions{})
}

// newBenchWith makes a bench whose commands run in a box.
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
	b := &bench{t: t, ws: ws, jobs: NewJobs(o), tools: map[string]toolkit.Tool{}}
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

// soon fails unless f, which is cancelled while it runs, returns an error within the limit. Other
// programs may delay it: one success is enough.
func soon(t *testing.T, limit time.Duration, f func() error) {
	t.Helper()
	var took time.Duration
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		begun := time.Now()
		err := f()
		if took = time.Since(begun); err == nil {
			t.Fatalf("it was not cancelled, after %v", took)
		}
		if took <= limit {
			return
		}
	}
	t.Errorf("it took %v", took)
}
