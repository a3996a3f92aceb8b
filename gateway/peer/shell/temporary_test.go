package shell

import (
	"slices"
	"testing"
)

func TestVariablesOfMktempAreTemporaryFiles(t *testing.T) {
	t.Parallel()
	const file = Temporary
	for text, want := range map[string]string{ // the last word
		`f=$(mktemp); rm "$f"`:                        file,
		`f="$(mktemp -d)"; rm -rf "$f"`:               file,
		"f=`mktemp -dq`; rm -rf $f":                   file,
		`f=$(mktemp -t a.XXXX) && rm "$f"`:            file,
		`f=$(mktemp --tmpdir --suffix=.c); cat "$f"`:  file,
		`f=$(mktemp /tmp/a.XXXX); cat "${f}"`:         file,
		`set -euo pipefail; d=$(mktemp -d); cat $d/x`: file + "/x",
		`d=$(mktemp -d); (cd /; cat "$d/x.txt")`:      file + "/x.txt",
		`f=$(mktemp); cat "$f.txt"`:                   file + ".txt",

		`f=$(mktemp a.XXXX); rm "$f"`:                 "",
		`f=$(mktemp -p . a.XXXX); rm "$f"`:            "",
		`f=$(mktemp --tmpdir=. a.XXXX); rm "$f"`:      "",
		`f=$(mktemp /tmp/../home/a.XXXX); rm "$f"`:    "",
		`f=$(mktemp /home/a.XXXX); rm "$f"`:           "",
		`f=$(mktemp --suffix=/../x); rm "$f"`:         "",
		`TMPDIR=.; f=$(mktemp); rm "$f"`:              "",
		`export TMPDIR=.; f=$(mktemp); rm "$f"`:       "",
		`f=$(TMPDIR=. mktemp); rm "$f"`:               "",
		`PATH=.; f=$(mktemp); rm "$f"`:                "",
		`mktemp() { echo /; }; f=$(mktemp); rm "$f"`:  "",
		`alias mktemp='echo /'; f=$(mktemp); rm "$f"`: "",
		`f=$(mktemp; echo /); rm "$f"`:                "",
		`f=$(mktemp)x; rm "$f"`:                       "",
		`f=$(./mktemp); rm "$f"`:                      "",
		`f=$(mktemp); f=/; rm "$f"`:                   "/",
		`f=$(mktemp); [ -e x ] && f=.; rm "$f"`:       "",
		`f=$(mktemp); for f in *; do rm "$f"; done`:   "",
		`f=$(mktemp); read f; rm "$f"`:                "",
		`f=$(mktemp); f+=/x; rm "$f"`:                 "",
		`f=$(mktemp); rm "$f"/*`:                      "",
		`f=$(mktemp); rm "$f/../x"`:                   "",
		`f=$(mktemp); rm "$f..""/x"`:                  "",
		`f=$(mktemp -d); rm "$f/a/b"`:                 "",
		`f=$(mktemp -d); rm "${f%/*}"`:                "",
		`f=$(mktemp); sh -c 'rm "$f"'`:                "",
		`if true; then f=$(mktemp); fi; rm "$f"`:      "",
		`f=$(mktemp) rm "$f"`:                         "",
		`(f=$(mktemp)); rm "$f"`:                      "",
		`set -k; f=$(mktemp); rm "$f"`:                "",
		`f=$(mktemp); trap 'f=/' EXIT; rm "$f"`:       "",
		`f=$(mktemp -d $x); rm "$f"`:                  "",
		`f=$(mktemp); eval "$x"; rm "$f"`:             "",
		`f=$(mktemp) | cat; rm "$f"`:                  "",
		`f=$(mktemp --tmp=. a.XXXX); rm "$f"`:         "",
		`f=$(mktemp -V); typeset f=/; rm "$f"`:        "",
		`f=$(mktemp >x); rm "$f"`:                     "",
	} {
		for _, kind := range []Kind{Bash, POSIX, Zsh} {
			facts := Analyze(text, kind)
			if slices.ContainsFunc(facts.Findings, func(f Finding) bool { return f.Reason == "means different things to different shells" }) {
				continue // an approval is needed anyway
			}
			commands := slices.DeleteFunc(facts.Commands, func(c Command) bool { return c.Guess })
			last := commands[len(commands)-1].Words
			w := last[len(last)-1]
			switch {
			case want == "" && !w.Dynamic && !w.Glob && w.Text != ".." && w.Value() != "":
				t.Errorf("%s %q: got %+v, want an unknown word", kind, text, w)
			case want != "" && w.Value() != want:
				t.Errorf("%s %q: got %+v, want %s", kind, text, w, want)
			}
		}
	}
}

func TestTrapsMayRemoveTemporaryFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; ls`:                      true,
		`d=$(mktemp -d) && trap 'rm -rf -- "$d"; ' EXIT INT TERM && ls`:    true,
		`d=$(mktemp -d); f=$(mktemp); trap "rm -rf '$d'" EXIT`:             false,
		`d=$(mktemp -d); f=$(mktemp); trap 'rm -rf "$d" $f' 0 2`:           true,
		`d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; d=/home`:                 false,
		`d=$(mktemp -d); trap 'rm -rf "$d"' EXIT; for d in *; do ls; done`: false,
		`d=$(mktemp -d); trap 'rm -rf "$d" x' EXIT`:                        false,
		`d=$(mktemp -d); trap 'rm -rf "$d"/*' EXIT`:                        false,
		`d=$(mktemp -d); trap 'rm -rf "$d"; ls' EXIT`:                      false,
		`d=$(mktemp -d); trap 'rm -rf "$d"' DEBUG`:                         false,
		`d=$(mktemp -d); trap 'rm -rf "$d"' ERR`:                           false,
		`d=x; trap 'rm -rf "$d"' EXIT`:                                     false,
		`trap 'rm -rf "$d"' EXIT; d=$(mktemp -d)`:                          false,
	} {
		f := Analyze(text, Bash)
		got := !slices.ContainsFunc(f.Findings, func(f Finding) bool { return f.Reason == "sets a trap" })
		if got != want {
			t.Errorf("%q: got %v (%v), want %v", text, got, f.Findings, want)
		}
	}
}
