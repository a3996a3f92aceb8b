package stream

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user whose file access is tested when the tests run as root, to whom permissions do
// not apply.
const nobody = 65534

// asNobody runs f with nobody's access to files. f must not switch goroutines.
func asNobody(f func()) {
	if os.Getuid() == 0 {
		runtime.LockOSThread() // the thread ends with the goroutine
		syscall.Setfsuid(nobody)
		defer syscall.Setfsuid(0)
	}
	f()
}

func giveToNobody(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	for p := dir; p != filepath.Clean(os.TempDir()) && p != memory && p != "/"; p = filepath.Dir(p) { // give everyone access
		if err := os.Chmod(p, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(p, nobody, nobody)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestALostPermissionFailsAndARetryResumes(t *testing.T) {
	for _, where := range []string{"source", "destination"} {
		t.Run(where, func(t *testing.T) {
			item, dir := files(t, 60, 100<<10)
			to := t.TempDir()
			giveToNobody(t, dir)
			giveToNobody(t, to)
			lost := filepath.Join(dir, "000")
			mode := os.FileMode(0o000)
			if where == "destination" {
				lost, mode = filepath.Join(to, "tree", "000"), 0o500
			}
			res, sendErr, err := connectBothAs(t, []Item{item}, open(t, to), nil, func(n int) bool {
				if n == behind {
					if err := os.Chmod(lost, mode); err != nil {
						t.Error(err)
					}
				}
				return false
			}, asNobody)
			if err := os.Chmod(lost, 0o755); err != nil {
				t.Fatal(err)
			}
			if sendErr != nil || err != nil || res.New == 0 || res.Failed == 0 || where == "destination" && res.New+res.Failed != 60 {
				t.Fatalf("%s: got %+v, %v, %v; want no errors, some new and some failed files, and 60 in all", where, res, sendErr, err)
			}
			if !strings.Contains(res.Problems[0].Text, "permission denied") {
				t.Errorf("%s: got the problem %q, want permission denied", where, res.Problems[0].Text)
			}
			// The file that was put in place in this moment may be there although it counts as failed.
			there := equal(t, dir, filepath.Join(to, "tree"))
			if there != res.New && there != res.New+1 {
				t.Errorf("%s: got %d files, want the %d that were new", where, there, res.New)
			}
			again, sendErr, err := connectBothAs(t, []Item{item}, open(t, to), nil, nil, asNobody)
			if sendErr != nil || err != nil || again.New != 60-there || again.Skipped != there {
				t.Fatalf("%s, the second time: got %+v, %v, %v; want the %d files that were there skipped", where, again, sendErr, err, there)
			}
			if n := equal(t, dir, filepath.Join(to, "tree")); n != 60 {
				t.Errorf("%s: %d files are there in the end, want 60", where, n)
			}
			if list := describe(t, to); slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, partSuffix) }) {
				t.Errorf("%s: something unfinished is left: %v", where, list)
			}
		})
	}
}
