package stream

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestHostileNamesAreRefused(t *testing.T) {
	for _, name := range []string{
		"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "a//b", "a/", "./a", "a/.", "x\x00y", "a/\nb", "tab\tname", "del\x7f",
		strings.Repeat("x", 256), strings.Repeat("d/", 300) + "x", ".fairlead-abc.part", "a/.fairlead-0011.tmp",
	} {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			if CheckName(goos, name) == nil {
				t.Errorf("%s: %q is let through", goos, name)
			}
		}
	}
	for _, name := range []string{"CON", "nul", "com1.txt", "LPT9", "a/Aux.c/b", "COM¹", "CONIN$", "x.", "x ", "a:b", "c:\\x", `..\x`, `a\..\..\x`, "a?b", "a*b", "PROGRA~1", "a<b", "\xff", "LONGNA~2.TXT"} {
		if CheckName("windows", name) == nil {
			t.Errorf("windows: %q is let through", name)
		}
	}
	for _, name := range []string{"a", "a b", "ünï/日本", "con cat", "nulls", "com", "com10", "a..b", "...", ".hidden", "~x", "x~", "-rf", "$HOME", "a;b"} {
		if err := CheckName("linux", name); err != nil {
			t.Errorf("linux: %q: %v", name, err)
		}
	}
	if CheckName("linux", "\xff") != nil || CheckName("darwin", "\xff") == nil {
		t.Error("names that are no text")
	}
}

func TestLinksThatLeadOutAreRefused(t *testing.T) {
	for _, l := range []struct{ name, target string }{
		{"l", "/etc/passwd"},
		{"l", "../x"},
		{"a/l", "../../x"},
		{"a/b/l", "d/../../../../x"},
		{"l", "d/../e"},
		{"l", ""},
		{"a/l", "x\x00"},
		{"l", "./../x"},
		{"l", "a//b"},
	} {
		t.Run(l.name, func(t *testing.T) {
			if CheckLink("linux", l.name, l.target) == nil {
				t.Errorf("%s -> %s is let through", l.name, l.target)
			}
		})
	}
	for _, l := range []struct{ name, target string }{{"l", "x"}, {"a/l", "../x"}, {"a/b/l", "../../x/y"}, {"l", "./x"}, {"a/l", ".."}} {
		t.Run(l.name, func(t *testing.T) {
			if err := CheckLink("linux", l.name, l.target); err != nil {
				t.Errorf("%s -> %s: got %v, want it accepted", l.name, l.target, err)
			}
		})
	}
	for _, target := range []string{`c:\x`, `..\x`, "NUL"} {
		if CheckLink("windows", "a/b", target) == nil {
			t.Errorf("windows: %s is let through", target)
		}
	}
}

func TestFoldMergesNamesThatSomeSystemMerges(t *testing.T) {
	for _, pair := range [][2]string{{"A/b", "a/B"}, {"é", "e\u0301"}, {"É", "e\u0301"}, {"ß", "ß"}, {"ŉ.TXT", "ŉ.txt"}} {
		if foldName(pair[0]) != foldName(pair[1]) {
			t.Errorf("got different folded names of %q and %q, want the same", pair[0], pair[1])
		}
	}
	if foldName("a") == foldName("b") {
		t.Error("a and b")
	}
}

// A tree with such names is sent between systems that distinguish them, over an existing copy.
func TestNamesThatDifferInCaseAreTwoFilesOnLinux(t *testing.T) {
	names := []string{"Makefile", "makefile", "\u00e9", "e\u0301", "Sub/x", "sub/X", "sub/x"}
	plant := func(dir, what string) {
		for _, n := range names {
			p := filepath.Join(dir, filepath.FromSlash(n))
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(what+n), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	probe := t.TempDir()
	plant(probe, "")
	if list := describe(t, probe); len(list) != len(names)+2 {
		t.Skip("this system takes them for one")
	}
	for conflict, want := range map[string]int{protocol.ConflictOverwrite: 7, protocol.ConflictSkip: 7, protocol.ConflictRename: 14} {
		dir, to := t.TempDir(), t.TempDir()
		plant(dir, "new ")
		plant(filepath.Join(to, "tree"), "old ")
		res, sendErr, err := connectBoth(t, []Item{{Root: open(t, dir), At: ".", Name: "tree"}}, open(t, to), func(_ *Sender, r *Receiver) { r.Conflict = conflict }, nil)
		if sendErr != nil || err != nil || res.Failed != 0 {
			t.Fatalf("%s: got %+v, %v %v; want no send error, no error and Failed 0", conflict, res, sendErr, err)
		}
		got := 0
		for _, line := range describe(t, filepath.Join(to, "tree")) {
			if !strings.Contains(line, " d") {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d files are there, want %d:\n%s", conflict, got, want, strings.Join(describe(t, filepath.Join(to, "tree")), "\n"))
		}
		for _, n := range names {
			t.Run(n, func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(to, "tree", filepath.FromSlash(n)))
				if text := string(data); err != nil || text != "old "+n && conflict != protocol.ConflictOverwrite || text != "new "+n && conflict == protocol.ConflictOverwrite {
					t.Errorf("%s: %q holds %q, %v; want no error, either %q or conflict ConflictOverwrite and either %q or conflict other than ConflictOverwrite", conflict, n, text, err, "old "+n, "new "+n)
				}
			})
		}
	}
}

func TestNumberedNamesKeepTheirEndings(t *testing.T) {
	for name, want := range map[string]string{"a.txt": "a (2).txt", "a": "a (2)", "a.tar.gz": "a (2).tar.gz", ".bashrc": ".bashrc (2)", "a.b c d e f g h i j k l m n": "a.b c d e f g h i j k l m n (2)"} {
		t.Run(name, func(t *testing.T) {
			if got := NumberedName(name, 2); got != want {
				t.Errorf("%s: got %s, want %v", name, got, want)
			}
		})
	}
	if got := NumberedName(strings.Repeat("ü", 127)+".x", 12); len(got) > maxName || !strings.HasSuffix(got, " (12).x") {
		t.Errorf(`%d bytes: %s; want length at most %v and a text that ends with " (12).x"`, len(got), got, maxName)
	}
}

// hostile has elements of names.
var hostile = []string{"..", ".", "", "a", "A", "é", "e\u0301", "link", "out", "sub", "CON", "x.", "/", "\\", "\x00", "\n", ".fairlead-1.part", "etc", "passwd", "link/..", "~", "C:", "\xff\xfe"}

// TestNoNameWritesOutsideTheFolder acts as a malicious sender, thousands of times: everything
// outside the chosen folder stays as it is.
func TestNoNameWritesOutsideTheFolder(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "chosen")
	secret := filepath.Join(outer, "secret")
	for _, d := range []string{dir, secret, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(secret, "a"), []byte("untouched"), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		// Existing links lead outside, and to other places inside.
		os.Symlink(secret, filepath.Join(dir, "out"))
		os.Symlink("sub", filepath.Join(dir, "link"))
		os.Symlink(filepath.Join(secret, "a"), filepath.Join(dir, "a"))
	}
	before := describe(t, secret)
	rng := rand.New(rand.NewPCG(1, 2))
	piece := func() string { return hostile[rng.IntN(len(hostile))] }
	root := open(t, dir)
	for range 400 {
		in := NewInbox(Window)
		p := packer{id: 1, send: func(_ context.Context, f *Frame) error { in.Put(f); return nil }}
		ctx := t.Context()
		n := 1 + rng.IntN(8)
		for i := range n {
			parts := make([]string, 1+rng.IntN(4))
			for j := range parts {
				parts[j] = piece()
			}
			e := entry{index: uint32(i), name: strings.Join(parts, "/"), size: 5, mtime: time.Now().UnixNano(), mode: 0o644}
			switch rng.IntN(4) {
			case 0:
				e.mode, e.size = fs.ModeDir|0o777, 0
			case 1:
				e.mode, e.size = fs.ModeSymlink|0o777, 0
				e.link = []string{secret, "../secret", "../../" + piece(), piece() + "/../" + piece(), piece(), filepath.Join(secret, "a")}[rng.IntN(6)]
			}
			p.add(ctx, recEntry, e.encode())
			if e.mode.IsRegular() {
				p.add(ctx, recBegin, append(u32(uint32(i)), make([]byte, 8)...))
				p.add(ctx, recData, []byte("pwned"))
				p.add(ctx, recFile, append(u32(uint32(i)), sumOf("pwned")...))
			}
		}
		p.add(ctx, recEnd, u32(uint32(n)))
		p.flush(ctx)
		in.Close(errCut)
		conflict := []string{protocol.ConflictOverwrite, protocol.ConflictRename, protocol.ConflictSkip}[rng.IntN(3)]
		r := &Receiver{ID: 1, Transfer: "t", Root: root, Conflict: conflict, In: in, Out: func(_ context.Context, f *Frame) error { f.Free(); return nil }}
		if _, err := r.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if after := describe(t, secret); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("outside, this changed:\n%s\nwant\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	if list, _ := os.ReadDir(outer); len(list) != 2 {
		t.Errorf("outside there is more: got %v, want two", list)
	}
	// None of the sender's links leads outside.
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err == nil && d.Type()&fs.ModeSymlink != 0 && rel != "out" && rel != "a" {
			real, err := filepath.EvalSymlinks(p)
			if err == nil && !strings.HasPrefix(real, dir) && !strings.HasPrefix(real, secret) {
				t.Errorf("%s leads to %s, want it inside", p, real)
			}
		}
		return nil
	})
}

// FuzzReceiver sends arbitrary bytes to a receiver: it ends, and nothing is written outside its
// folder.
func FuzzReceiver(f *testing.F) {
	var b []byte
	e := entry{index: 1, name: "a/b", size: 5, mode: 0o644}.encode()
	for _, r := range []struct {
		kind byte
		data []byte
	}{
		{recEntry, e},
		{recBegin, append(u32(1), make([]byte, 8)...)},
		{recData, []byte("hello")},
		{recHole, make([]byte, 8)},
		{recFile, append(u32(1), sumOf("hello")...)},
		{recSkipped, append(u32(1), "xy"...)},
		{recUnreadable, append(u32(1), "xy"...)},
		{recFailed, u32(1)},
		{recEnd, u32(1)},
	} {
		b = append(append(append(b, r.kind), u32(uint32(len(r.data)))...), r.data...)
		f.Add(b)
	}
	outer := f.TempDir()
	f.Fuzz(func(t *testing.T, body []byte) {
		dir := filepath.Join(outer, "in")
		os.RemoveAll(dir)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		in := NewInbox(Window)
		for len(body) > 0 {
			frame := newFrame(1)
			n := min(len(body), maxBody)
			frame.buf = append(frame.buf, body[:n]...)
			body = body[n:]
			in.Put(frame)
		}
		in.Close(errCut)
		r := &Receiver{ID: 1, Transfer: "t", Root: root, Conflict: protocol.ConflictRename, In: in, Out: func(_ context.Context, f *Frame) error { f.Free(); return nil }}
		r.Run(t.Context())
		if list, _ := os.ReadDir(outer); len(list) != 1 {
			t.Errorf("outside there is more: got %v, want one", list)
		}
	})
}

// FuzzSender sends arbitrary answers to a sender: it ends and reads only the requested files.
func FuzzSender(f *testing.F) {
	f.Add([]byte{recCredit, 8, 0, 0, 0, 0, 0, 48, 0, 0, 0, 0, 0})
	f.Add(append([]byte{recVerdict, 12, 0, 0, 0}, make([]byte, 12)...))
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, smallFile+1), 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		in := NewInbox(Window)
		frame := newFrame(1)
		frame.buf = append(frame.buf, body[:min(len(body), maxBody)]...)
		in.Put(frame)
		in.Close(errCut)
		s := &Sender{ID: 1, Items: []Item{{Root: root, At: "f", Name: "f"}}, In: in, Out: func(_ context.Context, f *Frame) error { f.Free(); return nil }}
		s.Run(t.Context())
	})
}

func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

func sumOf(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}
