package transfer_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// writeFile writes a file of a node.
func (r *testGateway) writeFile(id protocol.NodeID, name, content string) {
	r.t.Helper()
	writeFile(r.t.(*testing.T), content, r.nodes[id].dir, filepath.FromSlash(name))
}

// filesBelow returns every file below a folder, except those retained for an undo.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".fairlead-trash":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v; want no error or error ErrNotExist", err)
	}
	return files
}

func checkFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
}

// TestBasicDestinationLosesNothing sends files to a node that always overwrites.
func TestBasicDestinationLosesNothing(t *testing.T) {
	const name = "/tmp/y [1]*.txt"
	for what, c := range map[string]struct {
		conflict string
		noGlob   bool
		there    []string
		to       string // the written name; empty means none
		skipped  int
		fails    string
	}{
		"rename to a free name":            {conflict: protocol.ConflictRename, to: name},
		"rename when the name is taken":    {conflict: protocol.ConflictRename, there: []string{name}, to: "/tmp/y [1]* (2).txt"},
		"rename when the number is taken":  {conflict: protocol.ConflictRename, there: []string{name, "/tmp/y [1]* (2).txt"}, to: "/tmp/y [1]* (3).txt"},
		"skip a free name":                 {conflict: protocol.ConflictSkip, to: name},
		"skip a name that is taken":        {conflict: protocol.ConflictSkip, there: []string{name}, skipped: 1},
		"overwrite":                        {conflict: protocol.ConflictOverwrite, there: []string{name}, to: name},
		"overwrite without a listing tool": {conflict: protocol.ConflictOverwrite, there: []string{name}, to: name, noGlob: true},
		"rename without a listing tool":    {conflict: protocol.ConflictRename, there: []string{name}, noGlob: true, fails: "always overwrites"},
		"skip without a listing tool":      {conflict: protocol.ConflictSkip, noGlob: true, fails: "always overwrites"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := newTestGateway(t, "a")
			s := newBasicNode(t, r, "basic", !c.noGlob)
			r.writeFile("a", "x", "new")
			want := make(map[string]string)
			for _, p := range c.there {
				s.put(p, "old")
				want[p] = "old"
			}
			tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "basic:" + name, Conflict: c.conflict}).ID, patience)
			state, path, bytes := protocol.TransferDone, c.to, int64(3)
			switch {
			case c.fails != "":
				state, bytes = protocol.TransferFailed, 0
				if n := s.eventCount(protocol.EventTransferReceive); n > 0 {
					t.Errorf("the destination got %d transfer.receive, want none", n)
				}
			case c.skipped > 0:
				path, bytes = name, 0
			}
			if c.to != "" {
				want[c.to] = "new"
			}
			if tr.State != state || !strings.Contains(tr.Error, c.fails) || tr.Path != path || tr.BytesDone != bytes || tr.Skipped != c.skipped || !tr.Simple {
				t.Errorf("got %s, error %q, path %q, %d bytes, %d skipped; want %s, %q, %q, %d, %d", tr.State, tr.Error, tr.Path, tr.BytesDone, tr.Skipped, state, c.fails, path, bytes, c.skipped)
			}
			checkFiles(t, s.get(), want)
		})
	}
}

func TestAFileThatMayBeItsOwnDestinationIsRefused(t *testing.T) {
	r := newTestGateway(t)
	s := newBasicNode(t, r, "basic", true)
	s.put("/ws/A.txt", "kept")
	for _, to := range []string{"A.txt", "/ws/a.txt", "/ws/x/../A.txt"} {
		t.Run(to, func(t *testing.T) {
			tr, err := client.Call(t.Context(), r.c, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{"basic:/ws/A.txt"}, Destination: "basic:" + to, Conflict: protocol.ConflictOverwrite})
			if err == nil {
				tr = r.waitEnd(tr.ID, patience)
			}
			if err == nil && tr.State != protocol.TransferFailed {
				t.Errorf("%s: got %s, want a refusal", to, tr.State)
			}
		})
	}
	checkFiles(t, s.get(), map[string]string{"/ws/A.txt": "kept"})
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"basic:/ws/A.txt"}, Destination: "basic:/ws/b.txt"}).ID, patience)
	if tr.State != protocol.TransferDone {
		t.Errorf("a copy on one machine: got %s, error %q, want done", tr.State, tr.Error)
	}
	checkFiles(t, s.get(), map[string]string{"/ws/A.txt": "kept", "/ws/b.txt": "kept"})
}

// connectWindow connects a client that sends and receives this computer's files.
func (r *testGateway) connectWindow(dir string) *client.Client {
	r.t.Helper()
	up := make(chan struct{}, 8)
	c := client.New(client.Options{
		URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams { return gateway.ClientParams("window") },
		Files: stream.OpenNamed(stream.Disk{Dir: dir}, nil, ""), OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
	})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { c.Run(ctx) })
	r.t.Cleanup(func() { cancel(); wg.Wait() })
	select {
	case <-up:
	case <-time.After(patience):
		r.t.Fatal("the window does not connect")
	}
	return c
}

// TestFilesAndFoldersGoToAndFromABasicNode moves what "fairlead send" would: everything goes into a
// folder, under its own name.
func TestFilesAndFoldersGoToAndFromABasicNode(t *testing.T) {
	content := map[string]string{"one.txt": "1", "dir/two.txt": "22", "dir/sub/.three": "", "dir/sub/[4]": "4444"}
	at := func(dir string) map[string]string {
		m := make(map[string]string)
		for name, text := range content {
			m[dir+name] = text
		}
		return m
	}
	ends := func(t *testing.T) (r *testGateway, s *basicNode, w *client.Client, dirs map[protocol.NodeID]string) {
		r = newTestGateway(t, "a")
		s = newBasicNode(t, r, "basic", true)
		here := t.TempDir()
		return r, s, r.connectWindow(here), map[protocol.NodeID]string{"a": r.nodes["a"].dir, protocol.Here: here, protocol.NativePrefix: filepath.Join(r.home, "agents", "main")}
	}
	run := func(t *testing.T, r *testGateway, w *client.Client, p protocol.TransferStartParams) protocol.Transfer {
		t.Helper()
		tr, err := client.Call(t.Context(), w, protocol.TransferStart, p)
		if err != nil {
			t.Fatal(err)
		}
		tr = r.waitEnd(tr.ID, patience)
		if tr.State != protocol.TransferDone || tr.Files != 4 || tr.FilesDone != 4 || tr.Bytes != 7 {
			t.Errorf("got %s, %d of %d files, %d bytes, error %q, problems %v; want done, 4 files, 7 bytes", tr.State, tr.FilesDone, tr.Files, tr.Bytes, tr.Error, tr.Problems)
		}
		return tr
	}
	for _, end := range []protocol.NodeID{"a", protocol.Here, protocol.NativePrefix} {
		t.Run("from "+string(end), func(t *testing.T) {
			t.Parallel()
			r, s, w, dirs := ends(t)
			for name, text := range content {
				writeFile(t, text, dirs[end], "in", filepath.FromSlash(name))
			}
			base := string(end) + ":"
			if end == protocol.Here {
				base += dirs[end] + "/"
			}
			os.MkdirAll(filepath.Join(dirs[end], "in", "dir", "empty"), 0o700)
			os.Symlink("two.txt", filepath.Join(dirs[end], "in", "dir", "link"))
			tr := run(t, r, w, protocol.TransferStartParams{Sources: []string{base + "in/one.txt", base + "in/dir"}, Destination: "basic:inbox", Into: true})
			checkFiles(t, s.get(), at("inbox/"))
			if tr.Path != "inbox/one.txt" || tr.BytesDone != 7 {
				t.Errorf("got path %s, %d bytes, want inbox/one.txt, 7", tr.Path, tr.BytesDone)
			}
			var left []string
			for _, p := range tr.Problems {
				left = append(left, p.Path)
			}
			slices.Sort(left)
			if !slices.Equal(left, []string{"dir/empty", "dir/link"}) {
				t.Errorf("got problems %v, want one each about dir/empty and dir/link", tr.Problems)
			}
			tr = run(t, r, w, protocol.TransferStartParams{Sources: []string{base + "in/one.txt", base + "in/dir"}, Destination: "basic:inbox", Into: true, Conflict: protocol.ConflictSkip})
			if tr.Skipped != 4 || tr.BytesDone != 0 {
				t.Errorf("a second time: got %d skipped, %d bytes, want 4 and 0", tr.Skipped, tr.BytesDone)
			}
		})
		t.Run("to "+string(end), func(t *testing.T) {
			t.Parallel()
			r, s, w, dirs := ends(t)
			for name, text := range content {
				s.put("/data/"+name, text)
			}
			s.folders = []string{"/data/dir/empty"}
			to := string(end) + ":in"
			if end == protocol.Here {
				to = string(end) + ":" + filepath.Join(dirs[end], "in")
			}
			p := protocol.TransferStartParams{Sources: []string{"basic:/data/one.txt", "basic:/data/dir"}, Destination: to, Into: true, Conflict: protocol.ConflictOverwrite}
			tr := run(t, r, w, p)
			checkFiles(t, filesBelow(t, filepath.Join(dirs[end], "in")), at(""))
			if len(tr.Problems) != 1 || tr.Problems[0].Path != "dir/empty" {
				t.Errorf("got problems %v, want one about dir/empty", tr.Problems)
			}
			// Replaced files below the folder can be restored, too.
			s.put("/data/dir/two.txt", "changed")
			s.put("/data/one.txt", "")
			tr, err := client.Call(t.Context(), w, protocol.TransferStart, p)
			if err != nil {
				t.Fatal(err)
			}
			if tr = r.waitEnd(tr.ID, patience); tr.Kept != 2 {
				t.Errorf("got %s, %q, %d kept, want 2", tr.State, tr.Error, tr.Kept)
			}
			if tr, err := client.Call(t.Context(), w, protocol.TransferUndo, protocol.TransferParams{ID: tr.ID}); err != nil || tr.Undone != 2 {
				t.Errorf("undo: got %d, %v, want 2", tr.Undone, err)
			}
			checkFiles(t, filesBelow(t, filepath.Join(dirs[end], "in")), at(""))
		})
	}
}

func TestAFolderOfABasicNodeWithoutAListingToolIsNotSent(t *testing.T) {
	r := newTestGateway(t, "a")
	s := newBasicNode(t, r, "basic", false)
	s.put("/data/x", "1")
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"basic:/data"}, Destination: "a:in", Into: true}).ID, patience)
	if tr.State != protocol.TransferFailed {
		t.Errorf("got %s, want failed", tr.State)
	}
	tr = r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"basic:/data/x"}, Destination: "a:in", Into: true}).ID, patience)
	if tr.State != protocol.TransferDone {
		t.Errorf("one file: got %s, error %q, want done", tr.State, tr.Error)
	}
	checkFiles(t, filesBelow(t, r.nodes["a"].dir), map[string]string{"in/x": "1"})
}

func TestAnExistingFileOfABasicNodeCountsAsSkipped(t *testing.T) {
	r := newTestGateway(t, "a")
	s := newBasicNode(t, r, "basic", true)
	for _, c := range []struct {
		conflict, content string
		skipped           int
		name              string
	}{
		{protocol.ConflictRename, "first", 0, "x"},
		{protocol.ConflictRename, "first", 1, "x"}, // the same content
		{protocol.ConflictRename, "second", 0, "x (2)"},
		{protocol.ConflictSkip, "third", 1, "x"},
		{protocol.ConflictOverwrite, "fourth", 0, "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.put("/x", c.content)
			tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"basic:/x"}, Destination: "a:in/x", Conflict: c.conflict}).ID, patience)
			bytes := int64(len(c.content)) * int64(1-c.skipped)
			if tr.State != protocol.TransferDone || tr.Skipped != c.skipped || tr.BytesDone != bytes || filepath.Base(tr.Path) != c.name {
				t.Errorf("%s of %s: got %s, %d skipped, %d bytes, %s; want %d, %d, %s", c.conflict, c.content, tr.State, tr.Skipped, tr.BytesDone, tr.Path, c.skipped, bytes, c.name)
			}
		})
	}
	checkFiles(t, filesBelow(t, filepath.Join(r.nodes["a"].dir, "in")), map[string]string{"x": "fourth", "x (2)": "second"})
}

func TestAMachineThatNamesItsSourcesTakesFilesOfABasicNode(t *testing.T) {
	r := newTestGateway(t, "a")
	s := newBasicNode(t, r, "basic", true)
	s.put("/x", "1")
	for from, want := range map[protocol.NodeID]string{"basic": protocol.TransferDone, "other": protocol.TransferFailed} {
		r.nodes["a"].stop()
		r.nodes["a"].takes.From = []protocol.NodeID{from}
		r.startNode("a")
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"basic:/x"}, Destination: "a:x", Later: true}).ID, patience)
		if tr.State != want {
			t.Errorf("a machine that takes files from %s: got %s, error %q, want %s", from, tr.State, tr.Error, want)
		}
	}
}
