package failure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestAFailedStartSaysWhyAndWhatToDo(t *testing.T) {
	t.Parallel()
	readOnly, full := syscall.EROFS, syscall.ENOSPC
	if runtime.GOOS == "windows" {
		readOnly, full = 19, 112
	}
	for _, c := range []struct {
		name string
		err  error
		what string
		todo string
	}{
		{"read-only", &fs.PathError{Op: "mkdir", Path: "/data", Err: readOnly}, "The data folder is on a read-only disk.", "Make /data writable, or choose another folder"},
		{"full", &fs.PathError{Op: "write", Path: "/data/log", Err: full}, "The disk of the data folder is full.", "Free up space on the disk of /data."},
		{"forbidden", fmt.Errorf("open: %w", fs.ErrPermission), "Fairlead cannot write to its data folder.", "Change the permissions of /data"},
		{"another", errors.New("no gateway is called attic"), "Fairlead cannot start.", "Fix the cause below"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			what, todo, _ := startProblem("/data", c.err)
			if what != c.what || !strings.HasPrefix(todo, c.todo) {
				t.Errorf("got %q, %q, want %q, %q", what, todo, c.what, c.todo)
			}
		})
	}
}

func TestTheBannerExplainsAFailedStart(t *testing.T) {
	t.Parallel()
	full := protocol.ErrStorage.With("The disk is full. Free up space.")
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("open store: %w", full), "The disk is full. Free up space."},
		{fmt.Errorf("open log: %w", fs.ErrPermission), "Fairlead cannot write to its data folder."},
		{errors.New("something else"), "something else"},
	} {
		if got := Explained("/data", c.err).Error(); !strings.HasPrefix(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestAFileInTheWayOfTheDataFolderIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := os.MkdirAll(filepath.Join(file, "data"), 0o700)
	if _, todo, known := startProblem(file, err); !known || !strings.Contains(todo, file) {
		t.Errorf("%v: got %q; want known and %v in it", err, todo, file)
	}
}

func TestTheWindowOfAFailedStartOffersAnotherTry(t *testing.T) {
	pagetest.App(t)
	did := ""
	o := newContent("/data", fs.ErrPermission, func() { did += "retry " }, func() { did += "choose " }, func() { did += "quit" })
	pagetest.Shows(t, o, "Fairlead cannot write to its data folder.", fs.ErrPermission.Error())
	test.Tap(pagetest.Button(t, o, "Try again"))
	test.Tap(pagetest.Button(t, o, "Choose another folder…"))
	test.Tap(pagetest.Button(t, o, "Quit"))
	if did != "retry choose quit" {
		t.Errorf(`did: got %q, want "retry choose quit"`, did)
	}
}

func TestDataFolderDoesNotMixWithOtherFiles(t *testing.T) {
	for name, file := range map[string]string{"empty": "", "with data": "fairlead.db", "in use": "letter.txt"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			want := dir
			if file != "" {
				if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if file == "letter.txt" {
				want = filepath.Join(dir, "Fairlead")
			}
			if got := dataFolder(dir); got != want {
				t.Errorf("Data folder: got %s, want %s", got, want)
			}
		})
	}
}
