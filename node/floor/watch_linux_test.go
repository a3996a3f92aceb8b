package floor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReportsFindWhatAWalkFinds makes random changes, and compares the list that follows reports with
// a new one after each.
func TestReportsFindWhatAWalkFinds(t *testing.T) {
	for _, limit := range []int{maxFolders, 3} {
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			dir, at := newTree(t)
			list := New()
			defer list.Close()
			list.watch.limit = limit
			source := rand.New(rand.NewPCG(1, uint64(limit)))
			pick := func(names ...string) string { return names[source.IntN(len(names))] }
			folder := func() string { return pick(".", "a", "b", "a/c", "b/c", "a/c/d", "b/.vscode", "a/.git") }
			var steps []string
			for range 600 {
				from, to := at(folder()), at(folder()+"/"+pick("a", "b", "c", "d", ".vscode", ".git", "x.git"))
				file := filepath.Join(from, pick(".envrc", ".npmrc", "HEAD", "config", "refs", "main.go", "tasks.json", "hooks/pre-commit"))
				step := pick("write", "write", "make", "remove", "move", "move", "swap", "link", "close")
				switch step {
				case "write":
					os.MkdirAll(filepath.Dir(file), 0o700)
					os.WriteFile(file, nil, 0o600)
				case "make":
					os.MkdirAll(to, 0o700)
				case "remove":
					os.RemoveAll(pick(file, to))
				case "move":
					os.Rename(from, to)
				case "swap":
					unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
				case "link":
					os.Symlink(from, to)
				case "close":
					os.Chmod(to, 0)
					list.Files(dir)
					os.Chmod(to, 0o700)
				}
				steps = append(steps, fmt.Sprintf("%s %s %s %s", step, from, to, file))
				if source.IntN(3) > 0 {
					continue // several changes between two lists
				}
				if got, want := list.Files(dir), new(List).Files(dir); !slices.Equal(got, want) {
					t.Fatalf("after %q:\ngot  %q\nwant %q", steps[max(0, len(steps)-8):], got, want)
				}
			}
		})
	}
}

func TestListSurvivesLostReports(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("a/.envrc"), at("b/x"))
	list := New()
	defer list.Close()
	list.Files(dir)
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range limit/2 + 1 { // each is two events
		if err := os.Rename(at([]string{"b/x", "b/y"}[i%2]), at([]string{"b/y", "b/x"}[i%2])); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("c/.npmrc"))
	if got, want := list.Files(dir), []string{at("a/.envrc"), at("c/.npmrc")}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if list.watch.state.losses == 0 {
		t.Error("no report was lost: the test shows nothing")
	}
}

func TestListFollowsTheFolderAtItsPath(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("up/w/a/.envrc"), at("other/w/a/.npmrc"))
	list := New()
	defer list.Close()
	list.Files(at("up/w"))
	for _, move := range [][2]string{{"up", "old"}, {"other", "up"}} {
		if err := os.Rename(at(move[0]), at(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := list.Files(at("up/w")), []string{at("up/w/a/.npmrc")}; !slices.Equal(got, want) {
		t.Errorf("in %s: got %q, want %q", dir, got, want)
	}
}

func TestTouchedFilesAreRecorded(t *testing.T) {
	dir, at := newTree(t)
	write(t, at("a/old"), at("b/other"))
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a", "b"} {
		if err := os.Chtimes(at(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	list := New()
	defer list.Close()
	list.Files(dir)
	list.Touched()
	write(t, at("a/new"), at("c/d/new"), at("b/moved"))
	if err := os.Chmod(at("a/old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(at("b/moved"), at("moved")); err != nil {
		t.Fatal(err)
	}
	list.Files(dir)
	got := list.Touched()
	for _, want := range []string{"a/new", "a/old", "c/d/new", "moved"} {
		if !slices.Contains(got, at(want)) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	if slices.Contains(got, at("b/other")) {
		t.Errorf("got %q with a file that did not change, want no %v", got, at("b/other"))
	}
	list.Files(dir)
	if again := list.Touched(); len(again) != 0 {
		t.Errorf("second call: got %q, want none", again)
	}
}
