// Package tooltest helps to test the tools of a node.
package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// Bench is a workspace with tools.
type Bench struct {
	T     testing.TB
	WS    *workspace.Root
	Tools map[string]toolkit.Tool[access.Call]
}

// PersonHome is the home folder in which the person's tools store their data.
var PersonHome = os.Getenv("HOME")

// Main runs the tests of a package; the test program can be the sandbox's helper. Commands, which
// login shells run, get a home without the person's profile, which might wait for a lock that a
// killed shell has left.
func Main(m *testing.M) int {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each helper takes a second to end
	sandbox.Main()
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("HOME", home)
	os.Setenv("LC_ALL", "C") // a shell warns of a locale that is not installed
	os.Unsetenv("LANG")
	os.Unsetenv("CDPATH") // with it, cd may go elsewhere
	return m.Run()
}

// Folder returns a new folder of the test's own. On Windows it is removed as far as possible only:
// the cleanup of t.TempDir does not work in Wine.
func Folder(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "windows" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			all = append(all, path)
			return nil
		})
		for _, path := range slices.Backward(all) {
			os.Remove(path)
		}
	})
	return dir
}

// New makes a bench with the tools that make returns for a new workspace.
func New(t testing.TB, tools func(*workspace.Root) []toolkit.Tool[access.Call]) *Bench {
	t.Helper()
	ws, err := workspace.Open(Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	return Of(t, ws, tools(ws))
}

// Of makes a bench of a workspace, which it closes at the end of the test.
func Of(t testing.TB, ws *workspace.Root, tools []toolkit.Tool[access.Call]) *Bench {
	t.Cleanup(func() { ws.Close() })
	b := &Bench{T: t, WS: ws, Tools: make(map[string]toolkit.Tool[access.Call])}
	for _, tl := range tools {
		b.Tools[tl.Spec.Name] = tl
	}
	return b
}

// File writes a file of the workspace and returns its path.
func (b *Bench) File(name, content string) string {
	b.T.Helper()
	path := filepath.Join(b.WS.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.T.Fatal(err)
	}
	return path
}

// Args are the arguments of a call.
type Args map[string]any

// Encode encodes arguments as JSON.
func Encode(t testing.TB, a any) json.RawMessage {
	t.Helper()
	raw, err := protocol.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// CallContext calls a tool and decodes its result.
func CallContext[T any](ctx context.Context, call access.Call, b *Bench, name string, a Args) (out T, err error) {
	b.T.Helper()
	raw, err := b.Tools[name].Call(ctx, call, Encode(b.T, a))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		b.T.Fatalf("%s returned %s: %v", name, raw, err)
	}
	if _, ok := b.T.(*testing.T); ok {
		checkSchema(b.T, b.Tools[name].Spec, raw)
	}
	return out, nil
}

// checkSchema fails unless a result fits the output schema of its tool, which programs rely on.
func checkSchema(t testing.TB, spec protocol.ToolSpec, raw json.RawMessage) {
	t.Helper()
	s := toolkit.ParseSchema(spec.OutputSchema)
	if s == nil {
		return
	}
	var result any
	resolved, err := s.Resolve(nil)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	if err == nil {
		err = resolved.Validate(result)
	}
	if err != nil {
		t.Errorf("%s returned %.300s, which does not fit its schema: %.300v", spec.Name, raw, err)
	}
}

// Call is CallContext without a context.
func Call[T any](b *Bench, name string, a Args) (T, error) {
	b.T.Helper()
	return CallContext[T](context.Background(), access.Call{}, b, name, a)
}

// Must calls a tool that must not fail.
func Must[T any](b *Bench, name string, a Args) T {
	b.T.Helper()
	out, err := Call[T](b, name, a)
	if err != nil {
		b.T.Fatalf("%s(%v): %v", name, a, err)
	}
	return out
}

// MustFail calls a tool that must fail and returns the error's text.
func MustFail(b *Bench, name string, a Args) string {
	b.T.Helper()
	raw, err := b.Tools[name].Call(context.Background(), access.Call{}, Encode(b.T, a))
	if err == nil {
		b.T.Fatalf("%s(%v): got %s, want an error", name, a, raw)
	}
	if err.Error() == "" {
		b.T.Fatalf("%s(%v): got an error without text", name, a)
	}
	return err.Error()
}

// Preview returns the preview of a call.
func Preview(b *Bench, name string, a Args) protocol.CallPreview {
	b.T.Helper()
	p, ok, err := b.Tools[name].Preview(context.Background(), access.Call{}, Encode(b.T, a))
	if err != nil || !ok {
		b.T.Fatalf("preview of %s(%v): %v, %v", name, a, ok, err)
	}
	return p
}

// Documented fails unless docs/api.md has a text, whatever its line breaks: it holds a limit and its
// documentation together.
func Documented(t testing.TB, format string, args ...any) {
	t.Helper()
	data, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(format, args...); !strings.Contains(strings.Join(strings.Fields(string(data)), " "), want) {
		t.Errorf("docs/api.md does not say: %s", want)
	}
}

// Grouped formats a number as the documentation does: 10,000.
func Grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
