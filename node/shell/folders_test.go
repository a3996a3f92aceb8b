package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	bourne "fairlead/gateway/peer/shell"
)

// usedPathsOf returns the paths that a command is found to use, with "w" for those that it writes.
func usedPathsOf(t *testing.T, command, dir string) []string {
	t.Helper()
	var list []string
	usedPaths(bourne.Analyze(command, bourne.Bash), dir, func(path string, write bool) {
		if path == "" {
			return
		}
		if write {
			path = "w " + path
		}
		list = append(list, path)
	})
	return list
}

func TestFoldersAreOfferedWhereTheTextAloneTellsThem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"ws/in", "out/sub", "out/else"} {
		if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub", filepath.Join(base, "out/link")); err != nil {
		t.Fatal(err)
	}
	ws := filepath.Join(base, "ws")
	for command, want := range map[string]string{
		// Where a cd certainly leads.
		"cd B/out && touch made":                  "w B/out",
		"cd B/out; make":                          "w B/out",
		"cd B/out && cat sub/x":                   "B/out B/out/sub/x",
		"cd B/out && cd sub && touch made":        "w B/out/sub",
		"cd B/out && touch sub/x && touch else/y": "w B/out w B/out/sub/x w B/out w B/out/else/y",
		"(cd B/out && make); touch a/b":           "w B/out w B/ws/a/b",
		"cd ../out && make":                       "w B/out",
		"cd B/out/link && touch ../x":             "w B/out/sub w B/out/x", // the system's folder above, not the shell's
		"cd 'B/out' && make > log/x":              "w B/out/log/x w B/out",
		"if true; then cd B/out && make; fi":      "w B/out",
		"cd in && touch a/b":                      "w B/ws/in w B/ws/in/a/b",
		// Where it does not, or may not have led there.
		"cd B/none && touch a/b":             "",
		"cd && touch a/b":                    "",
		"cd - && touch a/b":                  "",
		"cd -P B/out && touch a/b":           "",
		"cd $D && touch a/b":                 "",
		"cd B/out/* && touch a/b":            "",
		"cd $(pwd) && touch a/b":             "",
		"true && cd B/out; touch a/b":        "",
		"cd B/out || touch a/b":              "",
		"cd B/out & touch a/b":               "",
		"while x; do cd sub && make; done":   "",
		"cd B/out/link && cd .. && make a/b": "",
		"cd() { :; }; cd B/out && touch a/b": "",
		"eval x; cd B/out && touch a/b":      "",
		"CDPATH=/x; cd sub && touch a/b":     "",
		"alias cd=x; cd B/out && touch a/b":  "",
		"$X B/out && touch a/b":              "w B/out w B/ws/a/b",
		"builtin cd B/out && cd sub && make": "w B/out",
		"test -d B/out && cd B/out; make":    "B/out",
		"echo x | cd B/out; touch a/b":       "",
		// Variables that the text sets to a path.
		"X=B/out; touch $X/made":                        "w B/out/made",
		`X=B/out && touch "$X/made"`:                    "w B/out/made",
		"X=B/out; Y=$X/sub; touch ${Y}/made":            "w B/out/sub/made",
		"X=B/out; cp $X/*.txt in/":                      "B/out/*.txt w B/ws/in",
		"X=B/out; cd $X && make":                        "w B/out",
		"X=B/out; echo y > $X/z":                        "w B/out/z",
		"X=B/out; X=/srv/other; touch $X/y":             "w /srv/other/y",
		"X=B/out touch $X/y":                            "",
		"touch $X/y; X=B/out":                           "",
		"X='B/o ut'; touch $X/y":                        "",
		"X=out; touch $X/y":                             "",
		"X=B/out; touch ${X%t}/y":                       "",
		"X=B/out; X+=/sub; touch $X/y":                  "",
		"X=B/out; read X; touch $X/y":                   "",
		"X=B/out; unset X; touch $X/y":                  "",
		"X=B/out; for X in a b; do :; done; touch $X/y": "",
		"X=B/out; if y; then X=/srv; fi; touch $X/y":    "",
		"X=B/out; (X=/srv); touch $X/y":                 "w B/out/y",
		"x || X=B/out; touch $X/y":                      "",
		"X=B/out; IFS=/; touch $X/y":                    "",
		"X=B/out; printf -v X %s /srv; touch $X/y":      "/srv",
		"export X=B/out; touch $X/y":                    "",
		"X=B/out; f() { X=/srv; }; f; touch $X/y":       "",
		"X=B/out; : $((X=1)); touch $X/y":               "",
		"X=B/out; : ${X:=/srv}; touch $X/y":             "",
		"X=B/out; . ./env; touch $X/y":                  "w B/ws/env",
		"touch $HOME/y":                                 "",
		"X=$(echo B/out); touch $X/y":                   "B/out",
		// Patterns, by the part before the first one.
		"rm B/out/*.txt":            "w B/out/*.txt",
		"cat B/out/?/x":             "B/out/?/x",
		"touch $(cat B/out/x)/made": "B/out/x",
	} {
		t.Run(command, func(t *testing.T) {
			got := strings.ReplaceAll(strings.Join(usedPathsOf(t, strings.ReplaceAll(command, "B/", base+"/"), ws), " "), base+"/", "B/")
			if got != want {
				t.Errorf("%s\n reaches %q, want %q", command, got, want)
			}
		})
	}
}

// FuzzReach: for any text, every path is absolute and nothing fails.
func FuzzReach(f *testing.F) {
	for _, s := range []string{"cd /tmp && touch x", "X=/tmp; cat $X/*", "f() { cd /; }; f", "a || b && c | d & (e)", "case x in y) cd /tmp;; esac", "<<E cat\n$(cd /tmp)\nE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		usedPaths(bourne.Analyze(text, bourne.Bash), "/srv/app", func(path string, _ bool) {
			if path != "" && !filepath.IsAbs(path) {
				t.Errorf("got the folder %q for %q, want an absolute path or none", path, text)
			}
		})
	})
}
