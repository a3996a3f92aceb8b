package workspace

import (
	"runtime"
	"strings"
	"testing"
)

func TestReservedNamesAreRefusedOnWindows(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"NUL", "nul", "a/CON", "CON.txt", "con.tar.gz", "aux/f", "PRN", "COM1", "com9.log", "LPT1", "LPT³", "COM¹.txt", "CONIN$", "conout$", "nul .txt", "CLOCK$",
		"a.", "a ", "a./b", "dir /f", "...", "a...", "f:stream", "C:", "c:x", "f::$DATA", "a/b:c/d", "dir:x:$INDEX_ALLOCATION", "PROGRA~1", "progra~1/x", "LONGN~12.TXT", "A~1",
		"a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "a\x01b", "a\nb", "tab\t",
		`\\host\share\f`, "//host/share/f", `\\?\C:\f`, `\\.\PhysicalDrive0`, `//./COM1`, `\??\C:\f`, `C:\NUL`, `C:\a\b.`, "C:/x/aux.h",
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkName("windows", name); err == nil || !strings.Contains(err.Error(), "on Windows") {
				t.Errorf(`%q: got %v; want an error with "on Windows"`, name, err)
			}
			for _, goos := range []string{"linux", "darwin"} {
				if err := checkName(goos, name); err != nil {
					t.Errorf("%q on %s: got error %v, want none", name, goos, err)
				}
			}
		})
	}
}

func TestPlainNamesAreNotRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", ".", "..", "../a", "a", "a/b/c.txt", `a\b`, `C:\`, `C:\a\b`, "c:/a b/ü.txt", "console", "null", "nul1", "com", "COM10", "lpt0x", "aux-file", "a.con", "x.nul",
		".git", "..a", "a..b", "~", "~user", "a~b", "file~", "backup~1.orig", "a longer name~1", "~1", "node_modules/@x/y", "a'b", "a#b%c", "日本.txt", "💥",
	} {
		for _, goos := range []string{"windows", "linux", "darwin"} {
			if err := checkName(goos, name); err != nil {
				t.Errorf("%q on %s: got error %v, want none", name, goos, err)
			}
		}
	}
}

func TestResolveRefusesNamesOfItsOwnSystem(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	for _, name := range []string{"NUL", "a/f:stream", "x."} {
		if _, err := r.Resolve(name); (err != nil) != (runtime.GOOS == "windows") {
			t.Errorf("%s: got %v; want an error: %v", name, err, runtime.GOOS == "windows")
		}
	}
	for _, name := range []string{"a\x00b", "\x00", "a/\x00/b"} {
		if _, err := r.Resolve(name); err == nil {
			t.Errorf("%q: got no error, want one", name)
		}
	}
}

func TestOtherSpelling(t *testing.T) {
	t.Parallel()
	entries := []string{"README.md", "Straße", "f", "F"}
	for name, want := range map[string]string{"readme.md": "README.md", "README.md": "", "f": "", "F": "", "new": "", "STRAßE": "Straße"} {
		t.Run(name, func(t *testing.T) {
			if got := otherSpelling(entries, name); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	r := openTemp(t)
	put(t, r.Dir()+"/Readme", "x")
	for goos, refused := range map[string]bool{"windows": true, "darwin": true, "linux": false} {
		t.Run(goos, func(t *testing.T) {
			if err := checkSpelling(goos, r.paths.areas[0].root, "README"); (err != nil) != refused {
				t.Errorf("%s: got %v; want an error: %v", goos, err, refused)
			}
			if err := checkSpelling(goos, r.paths.areas[0].root, "Readme"); err != nil {
				t.Errorf("%s: %v", goos, err)
			}
		})
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"NUL", "a/b.txt", `C:\x`, "f:s", "A~1.B", "\xff", "con..", `\\?\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := checkName("windows", name); err != nil && err.Error() == "" {
			t.Fatal("no words")
		}
		if err := checkName("linux", name); err != nil {
			t.Fatal(err)
		}
	})
}
