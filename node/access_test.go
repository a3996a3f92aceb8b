package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// previewOf returns the node's preview of a call.
func (n *Node) previewOf(t *testing.T, tool string, args json.RawMessage) (p protocol.CallPreview) {
	t.Helper()
	r := n.call(t.Context(), protocol.ToolInvoke{CallID: "p", Tool: tool, Args: args, Preview: true})
	if err := json.Unmarshal(r.Result, &p); err != nil {
		t.Fatalf("preview: got %s, want JSON: %v", r.Result, err)
	}
	return p
}

// allowed makes a call as the gateway sends it after the person opened folders for it.
func (n *Node) allowed(t *testing.T, tool string, args json.RawMessage, open ...protocol.FolderAccess) protocol.ToolInvoke {
	t.Helper()
	p := n.previewOf(t, tool, args)
	hash, err := protocol.CallHash(protocol.AskCall, n.opts.ID, tool, args, &p, "7", open...)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.ToolInvoke{CallID: "c", Tool: tool, Args: args, Approved: hash, Policy: "7", Folders: open}
}

func arguments(t *testing.T, in map[string]any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestCommandGetsOnlyTheOpenedFolder runs a real command in the real sandbox.
func TestCommandGetsOnlyTheOpenedFolder(t *testing.T) {
	n := newPlainNode(t)
	if !n.box.Report().ConfinesFiles() {
		t.Skip("this machine cannot keep commands from files")
	}
	other := realFolder(t, t.TempDir())
	neighbour := realFolder(t, t.TempDir())
	args := arguments(t, map[string]any{"command": "echo one > " + other + "/made; echo two > " + neighbour + "/made"})
	p := n.previewOf(t, "Bash", args)
	want := []protocol.FolderAccess{{Path: other, Write: true}, {Path: neighbour, Write: true}}
	if len(p.Folders) != 2 || p.Folders[0] != want[0] || p.Folders[1] != want[1] || p.Problem != "" {
		t.Fatalf("got folders %+v, problem %q, want %+v and no problem", p.Folders, p.Problem, want)
	}
	n.call(t.Context(), n.allowed(t, "Bash", args))
	if hasMarker(other) || hasMarker(neighbour) {
		t.Fatal("a command wrote where nobody opened anything")
	}
	n.call(t.Context(), n.allowed(t, "Bash", args, want[0]))
	if !hasMarker(other) || hasMarker(neighbour) {
		t.Errorf("one of two folders was opened: got writes %v in it and %v in the other, want true and false", hasMarker(other), hasMarker(neighbour))
	}
	os.Remove(filepath.Join(other, "made"))
	n.call(t.Context(), n.allowed(t, "Bash", args))
	if hasMarker(other) {
		t.Error("the folder stayed open for the next call")
	}
}

func TestFolderThatTheCallDoesNotNeedIsRefused(t *testing.T) {
	n := newPlainNode(t)
	if !n.box.Report().ConfinesFiles() {
		t.Skip("this machine cannot keep commands from files")
	}
	other, elsewhere := realFolder(t, t.TempDir()), realFolder(t, t.TempDir())
	args := arguments(t, map[string]any{"command": "echo one > " + other + "/made"})
	good := n.allowed(t, "Bash", args, protocol.FolderAccess{Path: other, Write: true})
	unasked := good
	unasked.Approved = ""
	more := good
	more.Folders = append(more.Folders[:1:1], protocol.FolderAccess{Path: elsewhere, Write: true})
	none := good
	none.Folders = nil
	for name, inv := range map[string]protocol.ToolInvoke{
		"a folder without an answer":        unasked,
		"one more than was allowed":         more,
		"one less than was allowed":         none,
		"one that the call does not need":   n.allowed(t, "Bash", args, protocol.FolderAccess{Path: elsewhere, Write: true}),
		"the folder above the one it needs": n.allowed(t, "Bash", args, protocol.FolderAccess{Path: filepath.Dir(other), Write: true}),
	} {
		t.Run(name, func(t *testing.T) {
			if r := n.call(t.Context(), inv); !strings.Contains(r.Error, "APPROVAL_DRIFT") {
				t.Errorf("got %+v, want APPROVAL_DRIFT", r)
			}
		})
	}
	if hasMarker(other) || hasMarker(elsewhere) {
		t.Error("something ran")
	}
	if r := n.call(t.Context(), good); r.Error != "" || !hasMarker(other) {
		t.Errorf("got %+v, want that the allowed call ran", r)
	}
}

func TestFileToolsReachOutsideOnlyWhereItWasOpened(t *testing.T) {
	n := newPlainNode(t)
	other := realFolder(t, t.TempDir())
	file := filepath.Join(other, "a.txt")
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"Write", map[string]any{"path": file, "content": "old\n"}, "old\n"},
		{"Edit", map[string]any{"path": file, "oldString": "old", "newString": "new"}, "new\n"},
		{"Read", map[string]any{"path": file}, "new\n"},
	} {
		t.Run(c.tool, func(t *testing.T) {
			args := arguments(t, c.args)
			p := n.previewOf(t, c.tool, args)
			need := protocol.FolderAccess{Path: other, Write: c.tool != "Read"}
			if len(p.Folders) != 1 || p.Folders[0] != need || p.Problem != "" || !p.Outside || p.Path != file {
				t.Fatalf("%s: got preview %+v, want the folder %+v and no problem", c.tool, p, need)
			}
			if c.tool != "Read" && p.Diff == "" {
				t.Errorf("%s: got no diff, want the change", c.tool)
			}
			if r := n.call(t.Context(), n.allowed(t, c.tool, args)); !strings.Contains(r.Error, "outside the workspace") {
				t.Errorf("%s without the folder: got %+v, want a path outside the workspace", c.tool, r)
			}
			if r := n.call(t.Context(), n.allowed(t, c.tool, args, need)); r.Error != "" {
				t.Errorf("%s with the folder: got error %s, want none", c.tool, r.Error)
			}
			if data, _ := os.ReadFile(file); string(data) != c.want {
				t.Errorf("%s: got a file with %q, want %q", c.tool, data, c.want)
			}
		})
	}
}

func TestOwnDataIsNeverOfferedAndKeysCarryAWarning(t *testing.T) {
	user := realFolder(t, t.TempDir())
	t.Setenv("HOME", user)
	t.Setenv("USERPROFILE", user)
	own := filepath.Join(user, "fairlead")
	for _, dir := range []string{own, filepath.Join(user, ".ssh"), filepath.Join(user, "notes")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n, err := New(Options{ID: "a", Workspace: t.TempDir(), URL: "ws://x/ws", Home: own})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	for path, warning := range map[string]string{".ssh/id": "keys or tokens", "notes/a": "", "a": "everything in your home folder"} {
		t.Run(path, func(t *testing.T) {
			p := n.previewOf(t, "Write", arguments(t, map[string]any{"path": filepath.Join(user, path), "content": "x"}))
			if len(p.Folders) != 1 || !strings.Contains(p.Folders[0].Warning, warning) || (warning == "") != (p.Folders[0].Warning == "") {
				t.Errorf("got folders %+v, want one with the warning %q", p.Folders, warning)
			}
		})
	}
	if p := n.previewOf(t, "Write", arguments(t, map[string]any{"path": filepath.Join(own, "x"), "content": "x"})); len(p.Folders) > 0 || p.Problem == "" {
		t.Errorf("in Fairlead's own folder: got %+v, want a problem and no folder", p)
	}
	if !n.box.Report().ConfinesFiles() {
		return
	}
	for command, want := range map[string]int{
		"cat ~/.ssh/id":                           1, // to read
		"cat ~/notes/a":                           0, // readable without a grant
		"touch " + own + "/x":                     0,
		"cp ~/notes/a ~/notes/b":                  1,
		"echo x | tee ~/notes/a >/dev/null":       1,
		"dd if=/dev/zero of=" + user + "/notes/a": 1,
		"touch $HOME/notes/a":                     0, // computed at run time
		"cd ~/notes && touch a":                   1,
		"cd ~/.ssh && ls":                         1, // to read
		"cd " + own + " && touch x":               0,
		"X=" + user + "/notes; touch $X/a":        1,
		"X=" + own + "; touch $X/a":               0,
		"curl https://example.org/notes/a":        0,
	} {
		if p := n.previewOf(t, "Bash", arguments(t, map[string]any{"command": command})); len(p.Folders) != want {
			t.Errorf("got folders %+v, want %d", p.Folders, want)
		}
	}
}

func realFolder(t *testing.T, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func hasMarker(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "made"))
	return err == nil
}

func TestReadIsRefusedWhenItsLinkLeadsToKeysByNow(t *testing.T) {
	home := realFolder(t, t.TempDir())
	t.Setenv("HOME", home)
	n, err := New(Options{ID: "a", Workspace: home, URL: "ws://x/ws"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	key, notes, link := filepath.Join(home, ".ssh", "id_rsa"), filepath.Join(home, "notes.txt"), filepath.Join(home, "link")
	for _, err := range []error{os.Mkdir(filepath.Dir(key), 0o700), os.WriteFile(key, []byte("private"), 0o600), os.WriteFile(notes, []byte("milk"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(notes, link); err != nil {
		t.Skip(err)
	}
	for tool, in := range map[string]map[string]any{"Read": {"path": "link"}, "Grep": {"path": "link", "pattern": "i"}} {
		t.Run(tool, func(t *testing.T) {
			inv := n.allowed(t, tool, arguments(t, in))
			if r := n.call(t.Context(), inv); !strings.Contains(string(r.Result), "milk") {
				t.Errorf("got %+v, want the text of the file", r)
			}
			os.Remove(link)
			if err := os.Symlink(key, link); err != nil {
				t.Fatal(err)
			}
			if r := n.call(t.Context(), inv); !strings.Contains(r.Error, "APPROVAL_DRIFT") {
				t.Errorf("after the link was changed: got %+v, want APPROVAL_DRIFT", r)
			}
			os.Remove(link)
			if err := os.Symlink(notes, link); err != nil {
				t.Fatal(err)
			}
		})
	}
}
