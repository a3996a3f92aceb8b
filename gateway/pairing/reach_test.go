package pairing

import (
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestWiderReachWithholdsItsTools(t *testing.T) {
	was := &protocol.Reach{
		Tools: []string{"Bash", "Read"}, Caps: []string{"filesystem.read", "shell.exec"}, Sandbox: "workspace-write", Network: "blocked",
		Folders: []protocol.Folder{{Path: "/home/a/docs"}, {Path: "/data", ReadOnly: true}},
	}
	with := func(edit func(*protocol.Reach)) *protocol.Reach {
		is := *was
		is.Tools, is.Caps, is.Folders = slices.Clone(was.Tools), slices.Clone(was.Caps), slices.Clone(was.Folders)
		edit(&is)
		return &is
	}
	all := []string{"Bash", "Read"}
	for name, c := range map[string]struct {
		is   *protocol.Reach
		held []string
		word string
	}{
		"the same":           {with(func(*protocol.Reach) {}), nil, ""},
		"fewer tools":        {with(func(r *protocol.Reach) { r.Tools = r.Tools[:1] }), nil, ""},
		"a new tool":         {with(func(r *protocol.Reach) { r.Tools = append(r.Tools, "Write") }), []string{"Write"}, "the tool Write"},
		"a new ability":      {with(func(r *protocol.Reach) { r.Caps = append(r.Caps, "text.search") }), all, "text.search"},
		"a tighter sandbox":  {with(func(r *protocol.Reach) { r.Sandbox = "read-only" }), nil, ""},
		"a looser sandbox":   {with(func(r *protocol.Reach) { r.Sandbox = "full" }), all, "full access instead of writing in the workspace"},
		"no sandbox":         {with(func(r *protocol.Reach) { r.Sandbox = "" }), all, "no limits instead of writing in the workspace"},
		"an unknown sandbox": {with(func(r *protocol.Reach) { r.Sandbox = "trust me" }), all, "trust me"},
		"network asks":       {with(func(r *protocol.Reach) { r.Network = "ask" }), all, "after a question each time instead of blocked"},
		"network":            {with(func(r *protocol.Reach) { r.Network = "allowed" }), all, "allowed instead of blocked"},
		"the whole disk":     {with(func(r *protocol.Reach) { r.Disk = true }), all, "the whole disk"},
		"a folder inside":    {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/home/a/docs/sub"}} }), nil, ""},
		"a neighbour":        {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/home/a/docs2"}} }), all, "/home/a/docs2"},
		"out by dots":        {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/home/a/docs/../.ssh"}} }), all, ".ssh"},
		"to write, not read": {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/data/x"}} }), all, "to read and write"},
		"to read, not write": {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/home/a/docs", ReadOnly: true}} }), nil, ""},
		"the root":           {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/", ReadOnly: true}} }), all, "the folder /"},
		"a tool and a folder": {with(func(r *protocol.Reach) {
			r.Tools, r.Folders = append(r.Tools, "Write"), []protocol.Folder{{Path: "/x"}}
		}), []string{"Bash", "Read", "Write"}, "the tool Write"},
		"a folder of windows":    {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: `C:\Users`}} }), all, `C:\Users`},
		"a name that lies":       {with(func(r *protocol.Reach) { r.Folders = []protocol.Folder{{Path: "/x\nto read"}} }), all, `"/x\nto read"`},
		"a node of the original": {&protocol.Reach{Tools: all, Caps: was.Caps}, all, "no limits instead of writing in the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			words, held := newReach(was, c.is)
			if !slices.Equal(held, c.held) || !strings.Contains(strings.Join(words, "; "), c.word) || (len(words) == 0) != (c.held == nil) {
				t.Errorf("%s: held %v, words %q; want %v and %q", name, held, words, c.held, c.word)
			}
		})
	}
	if _, held := newReach(nil, was); !slices.Equal(held, all) {
		t.Errorf("an unknown machine: got held %v, want %v", held, all)
	}
}

// FuzzFolders: no folder outside of an allowed one is covered by it.
func FuzzFolders(f *testing.F) {
	f.Add("/home/a", "/home/a/../b")
	f.Add(`C:\a`, `C:\a\..\b`)
	f.Fuzz(func(t *testing.T, dir, p string) {
		if !strings.HasPrefix(dir, "/") || strings.ContainsAny(dir+p, `\`) || strings.Contains(dir, "..") || dir != strings.TrimSuffix(dir, "/") || strings.Contains(dir, "//") || strings.Contains(dir, "/.") {
			return
		}
		if isAllowedFolder([]protocol.Folder{{Path: dir}}, protocol.Folder{Path: p}) && p != dir && !strings.HasPrefix(p, dir) && !strings.Contains(p, "/..") && !strings.Contains(p, "//") && !strings.Contains(p, "/.") {
			t.Errorf("%q: got %q covered, want only what lies below", dir, p)
		}
	})
}

func TestAMachineConnectsWithTheNameOfItsPairing(t *testing.T) {
	for name, want := range map[string]string{"Anna's tower": "Anna's tower", "tower": ""} {
		t.Run(name, func(t *testing.T) {
			d := protocol.Device{ID: "d", Name: name, Role: protocol.RoleNode, NodeID: "tower"}
			m := open(t, &memoryStore{devices: map[protocol.DeviceID]store.PairedDevice{"d": {Device: d}}})
			if got := m.Admit(t.Context(), auth.Device(d), protocol.ConnectParams{}); got.Name != want || got.Device != "d" {
				t.Errorf("got %+v, want the name %q", got, want)
			}
		})
	}
}
