package node

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOneNodeIsBothEndsOfABasicTransfer(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		to   string
	}{
		"a file":                         {5, "copy"},
		"no bytes":                       {0, "copy"},
		"several frames":                 {700_001, "copy"},
		"a folder that is not there yet": {5, "new/folder/copy"},
		"the same file":                  {700_001, "file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, nil)
			l, _ := g.accept()
			dir := g.node.opts.Workspace
			content := bytes.Repeat([]byte("x"), c.size)
			if err := os.WriteFile(filepath.Join(dir, "file"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the number is used again
				if done := basicTransfer(t, 1, l, "file", l, c.to); done.Error != "" || done.BytesWritten == nil || *done.BytesWritten != int64(c.size) {
					t.Errorf("got %+v, want %d bytes", done, c.size)
				}
				if got, err := os.ReadFile(filepath.Join(dir, c.to)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("got %d bytes, %v, want %d", len(got), err, c.size)
				}
			}
			g.quit()
			checkNoParts(t, dir)
		})
	}
}

func TestTwoNodesMoveAFileForABasicGateway(t *testing.T) {
	a, b := start(t, nil), start(t, nil)
	la, _ := a.accept()
	lb, _ := b.accept()
	content := bytes.Repeat([]byte("abc"), 300_000)
	if err := os.WriteFile(filepath.Join(a.node.opts.Workspace, "x"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if done := basicTransfer(t, 4_000_000_000, la, "x", lb, "in/y"); done.Error != "" || *done.BytesWritten != int64(len(content)) {
		t.Errorf("got %+v, want %d bytes", done, len(content))
	}
	if got, err := os.ReadFile(filepath.Join(b.node.opts.Workspace, "in", "y")); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(content))
	}
}

// TestNodeReceivesFromBasicGateway plays the gateway's side towards a destination; old
// exists before.
func TestNodeReceivesFromBasicGateway(t *testing.T) {
	open := func(l *link, id uint32, size any) report {
		l.send("transfer.receive", fields{"transferId": id, "path": "f", "size": size, "mime": "text/plain"})
		return l.await("transfer.accept")
	}
	end := func(l *link, id uint32) report {
		l.send("transfer.end", fields{"transferId": id})
		return l.await("transfer.done")
	}
	for name, c := range map[string]struct {
		play  func(t *testing.T, l *link) report
		want  string // the content afterwards
		fails string // part of the error of the last report
	}{
		"one frame": {func(t *testing.T, l *link) report { open(l, 1, 3); l.frame(1, "new"); return end(l, 1) }, "new", ""},
		"no bytes":  {func(t *testing.T, l *link) report { open(l, 1, 0); return end(l, 1) }, "", ""},
		"one long frame": {func(t *testing.T, l *link) report {
			open(l, 1, 1<<20)
			l.frame(1, strings.Repeat("x", 1<<20))
			return end(l, 1)
		}, strings.Repeat("x", 1<<20), ""},
		"frames of any size": {func(t *testing.T, l *link) report {
			open(l, 1, 4)
			for _, s := range []string{"", "n", "", "ew", "!"} {
				l.frame(1, s)
			}
			return end(l, 1)
		}, "new!", ""},
		"frames of other transfers": {func(t *testing.T, l *link) report {
			open(l, 1, 3)
			l.frame(2, "bad")
			l.send("transfer.end", fields{"transferId": 2})
			l.send("transfer.start", fields{"transferId": 1})
			l.frame(1, "new")
			return end(l, 1)
		}, "new", ""},
		"two at once": {func(t *testing.T, l *link) report {
			open(l, 1, 3)
			l.send("transfer.receive", fields{"transferId": 2, "path": "g", "size": 2})
			l.await("transfer.accept")
			l.frame(1, "ne")
			l.frame(2, "gg")
			l.frame(1, "w")
			if done := end(l, 2); done.Error != "" || done.TransferID != 2 {
				t.Errorf("the second transfer: got %+v, want no error", done)
			}
			return end(l, 1)
		}, "new", ""},
		"a number that is used again": {func(t *testing.T, l *link) report {
			open(l, 1, 9)
			l.frame(1, "abandoned")
			open(l, 1, 3)
			l.frame(1, "new")
			return end(l, 1)
		}, "new", ""},
		"a number that a source uses next": {func(t *testing.T, l *link) report {
			open(l, 1, 9) // abandoned
			l.send("transfer.send", fields{"transferId": 1, "path": "f"})
			l.await("transfer.meta")
			open(l, 1, 3)
			l.frame(1, "new")
			return end(l, 1)
		}, "new", ""},
		"more than announced":  {func(t *testing.T, l *link) report { open(l, 1, 3); l.frame(1, "more"); return l.await("transfer.done") }, "old", "more than the announced 3 bytes arrived"},
		"fewer than announced": {func(t *testing.T, l *link) report { open(l, 1, 3); l.frame(1, "ne"); return end(l, 1) }, "old", "2 of 3 bytes arrived"},
		"no size":              {func(t *testing.T, l *link) report { return open(l, 1, nil) }, "old", "did not give the size"},
		"a size below nothing": {func(t *testing.T, l *link) report { return open(l, 1, -1) }, "old", "did not give the size"},
		"a folder of that name": {func(t *testing.T, l *link) report {
			l.send("transfer.receive", fields{"transferId": 1, "path": "d", "size": 0})
			return l.await("transfer.accept")
		}, "old", "Failed to create file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, nil)
			l, _ := g.accept()
			dir := g.node.opts.Workspace
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
				t.Fatal(err)
			}
			got := c.play(t, l)
			if !strings.Contains(got.Error, c.fails) || c.fails == "" && got.Error != "" {
				t.Errorf("got error %q, want %q", got.Error, c.fails)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(data) != c.want {
				t.Errorf("got content %.20q, %v, want %.20q", data, err, c.want)
			}
			g.quit()
			checkNoParts(t, dir)
		})
	}
}

// TestANodeSendsToABasicGateway plays the gateway's side towards a source.
func TestANodeSendsToABasicGateway(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	file := filepath.Join(g.node.opts.Workspace, "f")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"none": "Failed to read file", ".": "it is a folder"} {
		t.Run(path, func(t *testing.T) {
			l.send("transfer.send", fields{"transferId": 1, "path": path})
			if meta := l.await("transfer.meta"); !strings.Contains(meta.Error, want) {
				t.Errorf("%s: got error %q, want %q", path, meta.Error, want)
			}
		})
	}
	t.Run("the start comes before the report is answered, and twice", func(t *testing.T) {
		l.send("transfer.send", fields{"transferId": 1, "path": "f"})
		req := l.next("transfer.meta")
		l.send("transfer.start", fields{"transferId": 1})
		l.send("transfer.start", fields{"transferId": 1})
		l.answer(req, fields{"ok": true})
		if data := receive(t, l.data, "data"); string(data[4:]) != "content" {
			t.Errorf("got data %q, want %q", data[4:], "content")
		}
		l.await("transfer.complete")
	})
	t.Run("a start of a transfer that ended does nothing", func(t *testing.T) {
		l.send("transfer.start", fields{"transferId": 1})
		l.send("transfer.send", fields{"transferId": 2, "path": "f"})
		l.await("transfer.meta")
		if len(l.data) > 0 {
			t.Error("got data")
		}
	})
	t.Run("a source that becomes shorter reports an error, which only transfer.meta can carry", func(t *testing.T) {
		l.send("transfer.send", fields{"transferId": 3, "path": "f"})
		l.await("transfer.meta")
		if err := os.Truncate(file, 3); err != nil {
			t.Fatal(err)
		}
		l.send("transfer.start", fields{"transferId": 3})
		if meta := l.await("transfer.meta"); meta.Error == "" || meta.TransferID != 3 {
			t.Errorf("got %+v, want an error", meta)
		}
		if complete := l.await("transfer.complete"); complete.Error == "" {
			t.Error("transfer.complete has no error")
		}
	})
}

func TestALostConnectionLeavesNoPart(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	dir := g.node.opts.Workspace
	l.send("transfer.receive", fields{"transferId": 1, "path": "in/f", "size": 9})
	l.await("transfer.accept")
	l.frame(1, "half")
	l.ws.Close()
	l, _ = g.accept()
	l.send("transfer.end", fields{"transferId": 1})
	l.send("transfer.receive", fields{"transferId": 1, "path": "in/f", "size": 3})
	l.await("transfer.accept")
	l.frame(1, "new")
	l.send("transfer.end", fields{"transferId": 1})
	if done := l.await("transfer.done"); done.Error != "" {
		t.Errorf("transfer.done: got error %s, want none", done.Error)
	}
	g.quit()
	checkNoParts(t, dir)
	if data, err := os.ReadFile(filepath.Join(dir, "in", "f")); err != nil || string(data) != "new" {
		t.Errorf("got file %q, error %v, want %q", data, err, "new")
	}
}
