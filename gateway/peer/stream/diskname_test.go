package stream

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestWindowsNames(t *testing.T) {
	for name, want := range map[string]string{
		"a:b.txt": "a_b.txt", `q<>:"\|?*`: "q________", "end.": "end_", "end. ": "end__", "CON": "CON_", "nul.txt": "nul_.txt", "com1.tar.gz": "com1_.tar.gz", "\xff": "_", "plain": "plain",
	} {
		got := windowsName(name)
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
		if why := checkElement("windows", got); why != "" {
			t.Errorf("%q: the changed name %s, want one that Windows accepts", got, why)
		}
	}
}

// awkward are names that a disk may not allow. Some become equal when they are changed.
var awkward = []string{"a:b.txt", "a?b.txt", "a_b.txt", "plain.txt", "end.", "sub:dir/in*side.txt", "sub?dir/x", "sub:dir/second", "Icon\r", "tab\tname", strings.Repeat("n", 250) + ".txt"}

func TestChangedNamesAreUnique(t *testing.T) {
	d := newDiskNames(open(t, t.TempDir()))
	restricted := true
	d.windows = &restricted
	names := createdNames{}
	got := map[string]string{}
	for _, name := range append(awkward, "a:b.txt") {
		fitted, _ := d.fit(name, names.has)
		for other, f := range got {
			if f == fitted && other != name {
				t.Errorf("%q and %q are both stored as %q", other, name, f)
			}
		}
		if err := CheckName("windows", fitted); err != nil && name != "Icon\r" {
			t.Errorf(`%q became %q: %v, want no error or name "Icon\r"`, name, fitted, err)
		}
		got[name] = fitted
		names.add(fitted)
	}
	if got["sub:dir/second"] != "sub_dir/second" || got["a:b.txt"] != "a_b.txt" {
		t.Errorf(`got %q; want got["sub:dir/second"] "sub_dir/second" and got["a:b.txt"] "a_b.txt"`, got)
	}
}

// mountImage formats an image and mounts it, through a loop device where mount takes devices only.
func mountImage(t *testing.T, size string, format, mount []string, isDevice bool) string {
	t.Helper()
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "disk")
	run := func(args ...string) string {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Skipf("%s needs its package, FUSE and root: %v: %s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("truncate", "-s", size, image)
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	run(append(format, image)...)
	if isDevice {
		image = run("losetup", "--find", "--show", image)
		t.Cleanup(func() { exec.Command("losetup", "--detach", image).Run() })
	}
	run(append(mount, image, at)...)
	t.Cleanup(func() { exec.Command("umount", at).Run() })
	return at
}

func TestRealDisksGetChangedNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it mounts disks with the programs of Linux")
	}
	for name, c := range map[string]struct {
		format, mount []string
		isDevice      bool // mount takes no file
		longest       int  // name in bytes
	}{
		"ntfs":  {[]string{"mkfs.ntfs", "-F", "-Q"}, []string{"lowntfs-3g", "-o", "windows_names,ignore_case"}, false, 255},
		"fat":   {[]string{"mkfs.vfat", "-F", "32"}, []string{"fusefat", "-o", "rw+"}, false, 250}, // less than FAT itself
		"exfat": {[]string{"mkfs.exfat"}, []string{"mount.exfat-fuse"}, true, 255},
	} {
		t.Run(name, func(t *testing.T) {
			to, from := mountImage(t, "64M", c.format, c.mount, c.isDevice), t.TempDir()
			names := slices.DeleteFunc(append(slices.Clone(awkward), "Makefile", "makefile"), func(n string) bool { return len(n) > c.longest })
			for _, n := range names {
				p := filepath.Join(from, n)
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(n), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("plain.txt", filepath.Join(from, "link")); err != nil {
				t.Fatal(err)
			}
			for _, conflict := range []string{protocol.ConflictRename, protocol.ConflictOverwrite} {
				item := Item{Root: open(t, from), At: ".", Name: "tree:" + conflict}
				res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), func(_ *Sender, r *Receiver) { r.Conflict = conflict }, nil)
				if err != nil || sendErr != nil || res.Failed != 0 {
					t.Fatalf("%s: %d failures, %v, %v: %v; want no error, no send error and Failed 0", conflict, res.Failed, err, sendErr, res.Problems)
				}
				if res.Top != "tree_"+conflict {
					t.Errorf("reported top: got %q, want %q", res.Top, "tree_"+conflict)
				}
				seen := map[string]int{}
				filepath.WalkDir(filepath.Join(to, res.Top), func(p string, d os.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						data, _ := os.ReadFile(p)
						seen[string(data)]++
					}
					return nil
				})
				for _, n := range names {
					if want := 1; seen[n] != want && n != "Icon\r" {
						t.Errorf("%s: %q is there %d times, want %d", conflict, n, seen[n], want)
					}
				}
				for _, want := range []string{`stored as "a_b.txt": its disk does not allow the name`, "treats its name and that of another file as equal", "the folder's icon"} {
					if !slices.ContainsFunc(res.Problems, func(p protocol.TransferProblem) bool { return strings.Contains(p.Text, want) }) {
						t.Errorf("%s: the result does not say %q: %v", conflict, want, res.Problems)
					}
				}
			}
		})
	}
}

func TestReserveOfFreeSpaceIsNamed(t *testing.T) {
	err := checkSpace(open(t, t.TempDir()), protocol.TransferReceive{Size: 1 << 60})
	if err == nil || !strings.Contains(err.Error(), "must stay free") {
		t.Errorf(`got %v, want an error with "must stay free"`, err)
	}
}
