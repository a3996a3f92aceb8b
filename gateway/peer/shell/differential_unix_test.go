//go:build unix

package shell

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// realShells are the shells that the analysis is compared with, and the kinds whose analysis must
// hold for each.
var realShells = []struct {
	name  string
	argv  []string
	kinds []Kind
}{
	{"bash", []string{"bash", "--norc", "--noprofile"}, []Kind{Bash}},
	{"bash in POSIX mode", []string{"bash", "--norc", "--noprofile", "--posix"}, []Kind{Bash, POSIX}},
	{"dash", []string{"dash"}, []Kind{POSIX}},
	{"busybox", []string{"busybox", "ash"}, []Kind{POSIX}},
	{"zsh", []string{"zsh", "-f"}, []Kind{Zsh}},
}

// TestShellsRunOnlyWhatTheAnalysisLists runs generated texts in real shells: each program that
// starts must be among the listed commands with its arguments, and each new file among the
// redirects, unless there is a finding. A few seconds per shell by default;
// FAIRLEAD_SHELL_TEXTS=50000 with -timeout 3h sets the number of texts per shell instead.
func TestShellsRunOnlyWhatTheAnalysisLists(t *testing.T) {
	t.Parallel()
	t.Cleanup(func() { // texts may write to such paths
		files, _ := filepath.Glob(Temporary + "*")
		for _, f := range files {
			os.Remove(f)
		}
	})
	texts, end := 50_000, time.Now().Add(12*time.Second)
	if s := os.Getenv("FAIRLEAD_SHELL_TEXTS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		texts, end = n, time.Now().Add(24*time.Hour) // the number decides
	}
	for i, sh := range realShells {
		t.Run(sh.name, func(t *testing.T) {
			path, err := exec.LookPath(sh.argv[0])
			if err != nil {
				t.Skip("not installed here: ", err)
			}
			d := &differential{t: t, argv: append([]string{path}, sh.argv[1:]...), kinds: sh.kinds, bin: recorders(t)}
			r := rand.New(rand.NewPCG(uint64(i), 11))
			share := time.Now().Add(time.Until(end) / time.Duration(len(realShells)-i))
			for d.compared < texts && (d.compared == 0 || time.Now().Before(share)) && d.misread < 25 {
				d.batch(r, min(400, texts-d.compared))
			}
			t.Logf("%d texts compared, %d programs started, %d files written, %d misread", d.compared, d.started, d.written, d.misread)
			if d.started < d.compared/4 {
				t.Errorf("only %d programs started in %d texts: the recorders do not work", d.started, d.compared)
			}
		})
	}
}

// differential compares one shell with the analysis.
type differential struct {
	t                                   *testing.T
	argv                                []string
	kinds                               []Kind
	bin                                 string
	compared, started, written, misread int
}

// reading is a text with its analyses that have no finding.
type reading struct {
	text  string
	facts []Facts
}

// read analyzes a text; ok is false if every kind has a finding, so that there is no guarantee to
// check.
func (d *differential) read(text string) (r reading, ok bool) {
	r.text = text
	for _, k := range d.kinds {
		f := Analyze(text, k)
		if !slices.ContainsFunc(f.Findings, func(f Finding) bool { return !f.Soft }) {
			r.facts = append(r.facts, f)
		}
	}
	return r, len(r.facts) > 0
}

// recorder is the prologue of a batch: most programs are functions, because starting one takes much
// longer.
const recorder = `record() { printf '%s\001' "$RECORD_MARK$RECORD_ID" "$@" >>"$RECORD"; }
for n in foo bar a b x X Y; do eval "$n() { record $n \"\$@\"; }"; done
mktemp() { [ "$RECORD_ID" ] && echo ` + Temporary + `; }
command_not_found_handle() { record "$@"; }
command_not_found_handler() { record "$@"; }
NULLCMD=: READNULLCMD=:
run() { printf '%s\001' "$RECORD_MARK$1" >>"$RECORD"; ( cd "$1" && RECORD_ID=$1 RECORD_TEXT=$2 && export RECORD_ID && ulimit -t 2 && set -- && eval "$RECORD_TEXT"; wait ) </dev/null >/dev/null 2>&1; }
`

// recorders returns a folder of programs that record how they are started.
func recorders(t *testing.T) string {
	bin := t.TempDir()
	for _, name := range strings.Fields("foo bar a b x X Y - -- -x 1 2 3 10 12 , {} { } ! ~ # $ = ^ @ % + : { {a,b} {,a} {,} {a,} {a,b}x x{a,b} {,foo} {,bar} {foo,bar} 1=a é=1 1+=a é+=1 a+=1 X+=1 a[1]=x 1[1]=x a.b=1 12=x 0=x １=1 日=1 é[1]=2 1a=x é=") {
		addRecorder(t, bin, name)
	}
	return bin
}

func addRecorder(t *testing.T, bin, name string) {
	const script = "#!/bin/sh\nprintf '%s\\001' \"$RECORD_MARK$RECORD_ID\" \"${0##*/}\" \"$@\" >>\"$RECORD\"\n"
	if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// batch compares n texts, all in one process of the shell.
func (d *differential) batch(r *rand.Rand, n int) {
	dir, err := os.MkdirTemp(d.t.TempDir(), "")
	if err != nil {
		d.t.Fatal(err)
	}
	var list []reading
	script := []byte(recorder)
	for len(list) < n {
		read, ok := d.read(randomText(r))
		if !ok {
			continue
		}
		d.folder(filepath.Join(dir, strconv.Itoa(len(list))))
		script = fmt.Appendf(script, "run %d '%s'\n", len(list), strings.ReplaceAll(read.text, "'", `'\''`))
		list = append(list, read)
	}
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, append(script, "record done\n"...), 0o600); err != nil {
		d.t.Fatal(err)
	}
	done, last := false, ""
	for _, rec := range d.run(dir, 2*time.Minute, file) {
		done = done || slices.Equal(rec, []string{"", "done"})
		if i, err := strconv.Atoi(rec[0]); err == nil && i < len(list) {
			last = list[i].text
			if len(rec) > 1 {
				d.started++
				d.check(list[i], rec[1:], "")
			}
		}
	}
	if !done {
		d.t.Errorf("the shell did not reach its end, and was last at %q", last)
		return
	}
	for i, read := range list {
		for _, name := range newFiles(filepath.Join(dir, strconv.Itoa(i))) {
			d.written++
			d.check(read, nil, name)
		}
	}
	d.compared += len(list)
	os.RemoveAll(dir)
}

// folder makes a working folder with a few files for patterns to match.
func (d *differential) folder(dir string) {
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	for _, name := range baseFiles {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
}

var baseFiles = []string{"a", "b", ".h", "sub/c"}

func newFiles(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "sub" && !slices.Contains(baseFiles, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// run starts the shell in dir and returns the records: an ID, the program and its arguments.
func (d *differential) run(dir string, limit time.Duration, args ...string) (list [][]string) {
	ctx, cancel := context.WithTimeout(d.t.Context(), limit)
	defer cancel()
	record := filepath.Join(d.bin, "record-"+filepath.Base(dir))
	defer os.Remove(record)
	cmd := exec.CommandContext(ctx, d.argv[0], append(slices.Clone(d.argv[1:]), args...)...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = []string{"PATH=" + d.bin, "RECORD=" + record, "RECORD_MARK=\x02", "HOME=" + filepath.Join(dir, "home"), "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Run() // the exit status does not matter
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its remaining background processes
	}
	data, _ := os.ReadFile(record)
	for _, rec := range strings.Split(string(data), "\x02")[1:] {
		if fields := strings.Split(rec, "\x01"); len(fields) > 1 {
			list = append(list, fields[:len(fields)-1])
		}
	}
	return list
}

// check reports a started program or a new file that an analysis does not list. It runs the text
// again by itself first, because a command in the background may write into the folder of another
// text.
func (d *differential) check(r reading, argv []string, file string) {
	for _, f := range r.facts {
		if argv != nil && listed(f, argv) || argv == nil && opened(f, file) {
			continue
		}
		dir := filepath.Join(d.t.TempDir(), "again")
		d.folder(dir)
		if argv != nil && !slices.Contains([]string{"", ".", ".."}, argv[0]) && !strings.Contains(argv[0], "/") {
			addRecorder(d.t, d.bin, argv[0])
		}
		again := d.run(dir, 5*time.Second, "-c", r.text)
		found := slices.Contains(newFiles(dir), file) || slices.ContainsFunc(again, func(rec []string) bool { return slices.Equal(rec[1:], argv) })
		os.RemoveAll(dir)
		if found {
			d.misread++
			d.t.Errorf("%s: %q started %q, wrote %q, got %s", f.Kind, r.text, argv, file, brief(f))
			return
		}
	}
}

// listed reports whether a command that is no guess describes what was started.
func listed(f Facts, argv []string) bool {
	return slices.ContainsFunc(f.Commands, func(c Command) bool {
		return !c.Guess && describes(c.Words, argv) || uncertain(c)
	})
}

func opened(f Facts, file string) bool {
	return slices.ContainsFunc(f.Commands, uncertain) || slices.ContainsFunc(f.Redirects, func(r Redirect) bool {
		return r.Write && !r.Guess && (!r.Path.Plain() || filepath.Clean(r.Path.Text) == file)
	})
}

// uncertain reports whether a command may start anything according to the analysis: its program or
// its script is not known.
func uncertain(c Command) bool {
	plain := !slices.ContainsFunc(c.Words, func(w Word) bool { return !w.Plain() })
	return !c.Guess && (c.Starts && !plain || !c.Words[0].Plain())
}

// describes reports whether words can become argv: a plain word only itself, a pattern at least one
// argument, and a word that only the running shell knows any number.
func describes(words []Word, argv []string) bool {
	if len(words) == 0 {
		return len(argv) == 0
	}
	w, rest := words[0], words[1:]
	switch {
	case w.Dynamic || w.Ambiguous:
		return describes(rest, argv) || len(argv) > 0 && describes(words, argv[1:])
	case len(argv) == 0:
		return false
	case w.Glob:
		return describes(rest, argv[1:]) || describes(words, argv[1:])
	case w.Tilde:
		return describes(rest, argv[1:])
	}
	return w.Text == argv[0] && describes(rest, argv[1:])
}
