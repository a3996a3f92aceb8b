package transfer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

func open(t *testing.T, c workspace.Config) (*workspace.Root, string) {
	t.Helper()
	c.Dir = t.TempDir()
	ws, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws, ws.Dir()
}

func TestTransfersReachTheSameFilesAsTools(t *testing.T) {
	granted, outside := t.TempDir(), t.TempDir()
	ws, dir := open(t, workspace.Config{Grants: []workspace.Grant{{Dir: granted, ReadOnly: true}}})
	f := NewFiles(ws, Policy{})
	for _, p := range []string{filepath.Join(dir, "a"), filepath.Join(granted, "b"), filepath.Join(outside, "c")} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS != "windows" {
		os.Symlink(outside, filepath.Join(dir, "out"))
		os.Symlink("a", filepath.Join(dir, "link"))
	}
	for name, want := range map[string]string{
		"a": "", filepath.Join(dir, "a"): "", filepath.Join(granted, "b"): "", ".": "", "link": "", "none": "Failed to read file " + filepath.Join(dir, "none"),
		filepath.Join(outside, "c"): "outside the workspace", "../x": "outside the workspace", "out/c": "symbolic link",
	} {
		item, err := f.Source(name)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, err := item.Root.Stat(item.At); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			item.Root.Close()
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for name, want := range map[string]string{
		"new/deep/x": "", filepath.Join(dir, "y"): "", filepath.Join(granted, "b"): "granted for reading only", filepath.Join(outside, "c"): "outside the workspace",
		"../x": "outside the workspace", "out/c": "symbolic link", "a/x": "Failed to create directory " + filepath.Join(dir, "a"),
	} {
		target, err := f.Target(name, false, true)
		if want == "" {
			if err != nil || target.Name != filepath.Base(name) || target.Abs != filepath.Dir(filepath.Join(dir, strings.TrimPrefix(name, dir))) {
				t.Errorf("%s: got %+v, error %v, want the file itself", name, target, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if target.Root != nil {
			target.Root.Close()
		}
	}
	if _, err := f.Target("not/there", true, false); err == nil || strings.Contains(err.Error(), "Failed to create directory") {
		t.Errorf("a folder that is not to be made: %v", err)
	}
}

func TestSourceNamesTheFileThatLooksTheSame(t *testing.T) {
	ws, dir := open(t, workspace.Config{})
	path := filepath.Join(dir, "9.22\u202fPM.png")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := NewFiles(ws, Policy{}).Source("9.22 PM.png")
	if err == nil || !strings.Contains(err.Error(), strconv.QuoteToASCII(path)) {
		t.Errorf("got %v, want it to name %q", err, path)
	}
}

func TestReceivePolicyDecides(t *testing.T) {
	ws, dir := open(t, workspace.Config{})
	from := func(id protocol.NodeID) []protocol.TransferReceive {
		return []protocol.TransferReceive{{Stream: &protocol.TransferStream{From: id}}, {From: id}}
	}
	refused := errors.New("no, thanks")
	for _, c := range []struct {
		p    Policy
		from protocol.NodeID
		want string
	}{
		{Policy{}, "b", ""},
		{Policy{Mode: Off}, "b", "does not accept files"},
		{Policy{Mode: Trusted, From: []protocol.NodeID{"b", "gsv"}}, "b", ""},
		{Policy{Mode: Trusted, From: []protocol.NodeID{"b", "gsv"}}, "c", "only from machines that its owner named"},
		{Policy{Mode: Ask}, "b", "so nobody can be asked"},
		{Policy{Mode: Ask, Ask: func(context.Context, protocol.TransferReceive) error { return refused }}, "b", "no, thanks"},
		{Policy{Mode: Ask, Ask: func(context.Context, protocol.TransferReceive) error { return nil }}, "b", ""},
	} {
		for _, in := range from(c.from) {
			err := c.p.Consent(t.Context(), in)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%+v from %+v: got %v, want %q", c.p, in, err, c.want)
			}
		}
	}
	p, err := ParsePolicy("ask", "a, b", filepath.Join(dir, "in"))
	if err != nil || p.Mode != Ask || len(p.From) != 2 || p.From[1] != "b" {
		t.Errorf("got %+v, error %v, want ask, from a and b", p, err)
	}
	if _, err := ParsePolicy("maybe", "", ""); err == nil {
		t.Error("an unknown mode")
	}
	f := NewFiles(ws, Policy{Folder: filepath.Join(dir, "in")})
	target, err := f.Target("x/y", false, true)
	if err != nil || target.Abs != filepath.Join(dir, "in", "x") {
		t.Fatalf("got %+v, error %v, want in/x", target, err)
	}
	target.Root.Close()
	for _, name := range []string{filepath.Join(dir, "elsewhere"), "../up", filepath.Join(dir, "inside-not")} {
		if _, err := f.Target(name, true, true); err == nil || !strings.Contains(err.Error(), "only in '") {
			t.Errorf(`%s: got %v; want an error with "only in '"`, name, err)
		}
	}
}
