//go:build unix

package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/peer/shell"
)

var commonPieces = strings.Split(`foo |bar |foo|bar|a |b|-x|--y=z|1|12|X=1 |~/c|.|./a|/|:|@|+|,|%|'a b'|"a b"|'"'|"'"|''|""|'$X'|'*'|"*"|'é'|"(a)"| && | ¦¦ | ¦ |; |;|`+"\n"+
	`|¦|&&| 2>&1| >&2| >x| > y| >>z| 2>e| 2>> "f g"| <a| < b| |=|-|_| 'a'b"c" |$X|*|{a,b}|(a)|and |not |!|#|\|^|%1|[a]|a~|~|?|é|&`, "|")

// TestOtherShellsReadCommonTextsAsBash runs generated texts that count as common in the shells
// whose language the policy cannot parse: only the programs and files of the analysis may appear.
// FAIRLEAD_SHELL_TEXTS=50000 sets the number of texts per shell; it is small by default.
func TestOtherShellsReadCommonTextsAsBash(t *testing.T) {
	t.Parallel()
	texts := 100
	if s := os.Getenv("FAIRLEAD_SHELL_TEXTS"); s != "" {
		var err error
		if texts, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"fish", "ksh", "mksh", "bash", "dash"} {
		t.Run(name, func(t *testing.T) {
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skip("not installed here: ", err)
			}
			r := rand.New(rand.NewPCG(uint64(i), 5))
			started := 0
			for done := 0; done < texts && !t.Failed(); done += 300 {
				started += compareCommon(t, path, r, min(300, texts-done))
			}
			t.Logf("%d texts, %d programs started", texts, started)
			if started < texts/2 {
				t.Errorf("only %d programs started in %d texts", started, texts)
			}
		})
	}
}

// compareCommon runs n texts in one process of a shell and returns the number of started programs.
func compareCommon(t *testing.T, path string, r *rand.Rand, n int) (started int) {
	bin, dir := t.TempDir(), t.TempDir()
	const recorder = "#!/bin/sh\nr=\nfor a in \"${0##*/}\" \"$@\"; do r=\"$r$a\x01\"; done\nprintf '%s\\002' \"$r\" >>\"$RECORD\"\n"
	for _, name := range []string{"foo", "bar", "a", "b", "and", "not", "-x", "1", "12", "+", "-", "_"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(recorder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list, script := commonScript(t, path, r, n, dir)
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, file)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin, "HOME=" + dir, "LC_ALL=C.UTF-8", "RECORD=" + dir + "/none"}
	cmd.Run() // the exit status does not matter
	if _, err := os.Stat(dir + "/done"); err != nil {
		t.Fatalf("the shell did not reach the end of the texts; the first is %q", list[0])
	}
	for i, text := range list {
		started += checkCommon(t, text, filepath.Join(dir, fmt.Sprint(i)), dir)
	}
	return started
}

// commonScript returns n texts and a script that runs each in a folder of its own below dir, with a
// file for the records.
func commonScript(t *testing.T, path string, r *rand.Rand, n int, dir string) (list []string, script string) {
	// Most programs are functions, because starting one takes much longer.
	set := "export RECORD="
	function := "%[1]s() { r=; for x in %[1]s \"$@\"; do r=\"$r$x\x01\"; done; printf '%%s\\002' \"$r\" >>\"$RECORD\"; }\n"
	switch filepath.Base(path) {
	case "mksh": // printf is no builtin there
		function = "%[1]s() { r=; for x in %[1]s \"$@\"; do r=\"$r$x\x01\"; done; print -rn -- \"$r\x02\" >>\"$RECORD\"; }\n"
	case "fish":
		set, function = "set -gx RECORD ", "function %[1]s; printf '%%s\\x01\\x02' (string join \\x01 -- %[1]s $argv) >>$RECORD; end\n"
	}
	for _, name := range []string{"foo", "bar", "a", "b"} {
		script += fmt.Sprintf(function, name)
	}
	for len(list) < n {
		text := randomCommon(r)
		if !readsLikeBash("fish", text) {
			continue
		}
		work := filepath.Join(dir, fmt.Sprint(len(list)))
		os.Mkdir(work, 0o700)
		for _, name := range []string{"a", "b"} {
			os.WriteFile(filepath.Join(work, name), nil, 0o600)
		}
		script += set + work + ".log\ncd " + work + "\n" + text + "\n"
		list = append(list, text)
	}
	return list, script + set + dir + "/done\nfoo\n"
}

// checkCommon compares what a text started and wrote with the analysis, and returns the number of
// started programs.
func checkCommon(t *testing.T, text, work, home string) (started int) {
	f := shell.Analyze(text, shell.Bash)
	records, _ := os.ReadFile(work + ".log")
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(records), "\x02"), "\x02") {
		argv := strings.Split(strings.TrimSuffix(rec, "\x01"), "\x01")
		if rec == "" {
			continue
		}
		started++
		if !slices.ContainsFunc(f.Commands, func(c shell.Command) bool { return isArgv(c.Words, argv, home) }) {
			t.Errorf("%q started %q, which the analysis does not list", text, argv)
		}
	}
	entries, _ := os.ReadDir(work)
	for _, e := range entries {
		isListed := func(r shell.Redirect) bool { return r.Write && filepath.Clean(r.Path.Text) == e.Name() }
		if e.Name() != "a" && e.Name() != "b" && !slices.ContainsFunc(f.Redirects, isListed) {
			t.Errorf("%q wrote %q, which the analysis does not list", text, e.Name())
		}
	}
	return started
}

// isArgv reports whether words of the analysis become argv, with a home folder.
func isArgv(words []shell.Word, argv []string, home string) bool {
	return slices.EqualFunc(words, argv, func(w shell.Word, s string) bool {
		return s == w.Text || w.Tilde && s == home+strings.TrimPrefix(w.Text, "~")
	})
}

func randomCommon(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{"foo ", "bar ", "foo", ""}[r.IntN(4)])
	for range 1 + r.IntN(9) {
		b.WriteString(strings.ReplaceAll(commonPieces[r.IntN(len(commonPieces))], "¦", "|"))
	}
	return b.String()
}
