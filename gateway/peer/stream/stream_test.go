package stream

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// connectBoth connects a sender and a receiver. cut, when set, is called before each frame of the
// sender and stops everything when it returns true.
func connectBoth(t testing.TB, items []Item, to *os.Root, set func(*Sender, *Receiver), cut func(n int) bool) (Result, error, error) {
	t.Helper()
	return connectBothAs(t, items, to, set, cut, func(f func()) { f() })
}

// connectBothAs is connectBoth, with each end run by as.
func connectBothAs(t testing.TB, items []Item, to *os.Root, set func(*Sender, *Receiver), cut func(n int) bool, as func(func())) (res Result, sendErr, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	toD, toS := NewInbox(Window), NewInbox(Window)
	n := 0
	s := &Sender{ID: 7, Items: items, Links: protocol.LinksKeep, In: toS, Out: func(_ context.Context, f *Frame) error {
		if n++; cut != nil && cut(n) {
			f.Free()
			toD.Close(errCut)
			toS.Close(errCut)
			return errCut
		}
		toD.Put(f)
		return nil
	}}
	r := &Receiver{ID: 7, Transfer: "t1", Root: to, Conflict: protocol.ConflictRename, In: toD, Out: func(_ context.Context, f *Frame) error {
		toS.Put(f)
		return nil
	}}
	if set != nil {
		set(s, r)
	}
	sent := make(chan error, 1)
	go as(func() { sent <- s.Run(ctx) })
	received := make(chan struct{})
	go func() {
		defer close(received)
		as(func() { res, err = r.Run(ctx) })
	}()
	<-received
	if err != nil {
		toS.Close(err)
	}
	return res, <-sent, err
}

var errCut = errors.New("cut")

func open(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// tree creates a folder with everything that can be sent, and returns it as an item named "tree".
func tree(t testing.TB) (Item, string) {
	t.Helper()
	dir := t.TempDir()
	big := make([]byte, 3<<20+12345)
	rand.Read(big)
	for name, data := range map[string][]byte{
		"a.txt": []byte("hello"), "empty": nil, "sub/big.bin": big, "sub/deep/er/x": []byte("x"),
		"sub/edge": big[:smallFile], "sub/edge1": big[:smallFile+1], "ünï/日本.txt": []byte("u"),
	} {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.MkdirAll(filepath.Join(dir, "nothing", "in here"), 0o750)
	if runtime.GOOS != "windows" {
		os.Symlink("../a.txt", filepath.Join(dir, "sub", "link"))
		os.Chmod(filepath.Join(dir, "a.txt"), 0o755)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	os.Chtimes(filepath.Join(dir, "a.txt"), old, old)
	os.Chtimes(filepath.Join(dir, "nothing"), old, old)
	return Item{Root: open(t, dir), At: ".", Name: "tree", Abs: dir}, dir
}

// describe lists a tree: names, modes, times, contents.
func describe(t testing.TB, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil || rel == "." {
			return err
		}
		line := fmt.Sprintf("%s %v", filepath.ToSlash(rel), info.Mode())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(p)
			line += " -> " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %x %d", len(data), data[:min(8, len(data))], info.ModTime().UnixNano())
		default:
			line += fmt.Sprintf(" %d", info.ModTime().UnixNano())
		}
		list = append(list, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFolderArrivesUnchanged(t *testing.T) {
	item, dir := tree(t)
	to := t.TempDir()
	res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, nil)
	if sendErr != nil || err != nil {
		t.Fatalf("got %v, %v; want no send error and no error", sendErr, err)
	}
	if want, got := describe(t, dir), describe(t, filepath.Join(to, "tree")); !slices.Equal(want, got) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if res.Files != 7 || res.New != 7 || res.Failed != 0 || res.Top != "tree" || len(res.Problems) != 0 {
		t.Errorf(`got %+v; want Files 7, New 7, Failed 0, Top "tree" and no Problems`, res)
	}
	// Again: everything exists already.
	res, sendErr, err = connectBoth(t, []Item{item}, open(t, to), nil, nil)
	if sendErr != nil || err != nil || res.Skipped != 7 || res.New != 0 {
		t.Errorf("again: got %+v, %v, %v; want no send error, no error, Skipped 7 and New 0", res, sendErr, err)
	}
	if want, got := describe(t, dir), describe(t, filepath.Join(to, "tree")); !slices.Equal(want, got) {
		t.Errorf("the second time changed something:\n%s", strings.Join(got, "\n"))
	}
}

func TestTheChecksumOutlivesItsFrame(t *testing.T) {
	for name, size := range map[string]int{"small": 5, "large": smallFile + 5} {
		t.Run(name, func(t *testing.T) {
			from, to := t.TempDir(), t.TempDir()
			data := bytes.Repeat([]byte("x"), size)
			put(t, string(data), from, "f")
			var sent [][]byte
			record := func(s *Sender, _ *Receiver) {
				send := s.Out
				s.Out = func(ctx context.Context, f *Frame) error {
					sent = append(sent, f.Bytes())
					return send(ctx, f)
				}
			}
			for attempt := range 2 { // the second finds the same file
				res, sendErr, err := connectBoth(t, []Item{{Root: open(t, from), At: "f", Name: "f"}}, open(t, to), record, nil)
				if sendErr != nil || err != nil {
					t.Fatalf("attempt %d: got errors %v and %v, want none", attempt, sendErr, err)
				}
				for _, frame := range sent { // as the next transfer does that uses this memory
					clear(frame)
				}
				if want := sha256.Sum256(data); !bytes.Equal(res.Sum, want[:]) {
					t.Errorf("attempt %d: got checksum %x, want %x", attempt, res.Sum, want)
				}
			}
		})
	}
}

func TestInterruptedTransferResumes(t *testing.T) {
	item, dir := tree(t)
	to := t.TempDir()
	for at := 1; ; at++ {
		frames := 0
		_, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool { frames = n; return n >= at+1 && n > at })
		if err == nil && sendErr == nil {
			break
		}
		if !errors.Is(err, errCut) || at > 100 {
			t.Fatalf("got %v, %v, %v, %v; want error errCut and at at most 100", at, frames, sendErr, err)
		}
	}
	if want, got := describe(t, dir), describe(t, filepath.Join(to, "tree")); !slices.Equal(want, got) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAResumedFileSendsOnlyTheRest(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	data := make([]byte, 10<<20)
	rand.Read(data)
	if err := os.WriteFile(filepath.Join(dir, "f"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	item := Item{Root: open(t, dir), At: "f", Name: "f"}
	if _, _, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool { return n > 30 }); !errors.Is(err, errCut) {
		t.Fatalf("got %v; want the error errCut", err)
	}
	second := 0
	res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool { second = n; return false })
	if sendErr != nil || err != nil || res.New != 1 {
		t.Fatalf("got %v, %v, %v; want no send error, no error and New 1", res, sendErr, err)
	}
	if second > 20 {
		t.Errorf("got %d frames after the cut, want at most 20", second)
	}
	if got, _ := os.ReadFile(filepath.Join(to, "f")); !bytes.Equal(got, data) {
		t.Error("it is another file")
	}
	// A part file with a damaged end is not used.
	os.Remove(filepath.Join(to, "f"))
	damaged := append(bytes.Clone(data[:5<<20]), make([]byte, 4096)...)
	if err := os.WriteFile(filepath.Join(to, partName("t1", "f")), damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, nil); sendErr != nil || err != nil {
		t.Fatalf("got %v, %v; want no send error and no error", sendErr, err)
	}
	if got, _ := os.ReadFile(filepath.Join(to, "f")); !bytes.Equal(got, data) {
		t.Error("a damaged part was continued")
	}
	if list := describe(t, to); len(list) != 1 {
		t.Errorf("left: got %v, want length 1", list)
	}
}

func TestTheResultNamesTheFileThatIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		conflict string
		there    map[string]string
		want     Result
	}{
		"a free name":                       {protocol.ConflictRename, nil, Result{New: 1, Written: 3, Top: "f"}},
		"a taken name":                      {protocol.ConflictRename, map[string]string{"f": "old"}, Result{New: 1, Written: 3, Top: "f (2)"}},
		"a numbered name with this content": {protocol.ConflictRename, map[string]string{"f": "old", "f (2)": "new"}, Result{Skipped: 1, Top: "f (2)"}},
		"a name that is skipped":            {protocol.ConflictSkip, map[string]string{"f": "old"}, Result{Skipped: 1, Top: "f"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := t.TempDir(), t.TempDir()
			put(t, "new", from, "f")
			for name, text := range c.there {
				put(t, text, to, name)
			}
			got, sent, err := connectBoth(t, []Item{{Root: open(t, from), At: "f", Name: "f"}}, open(t, to), func(_ *Sender, r *Receiver) { r.Conflict = c.conflict }, nil)
			if err != nil || sent != nil || got.New != c.want.New || got.Skipped != c.want.Skipped || got.Written != c.want.Written || got.Top != c.want.Top {
				t.Errorf("got %+v, %v, %v, want %+v", got, sent, err, c.want)
			}
		})
	}
}
