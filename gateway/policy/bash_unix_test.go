//go:build unix

package policy

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/peer/shell"
)

// texts with a meaning to the shell, and two programs
var shellPieces = strings.Split("foo bar|foo|bar| |  |'|\"|\\|$|(|)|((|))|{|}|{a,b}|{1..3}|,|;|;;|&|&&|\u00a6|||\n|<|>|>>|<<X|<<'X'|X|\nX\n|<<<|"+
	"#|*|?|~|=|!|[|]|[[|]]|`|$'|$\"|$(|${|if |; then |; fi|for i in a|; do |; done|"+
	"case a in a) |;; esac|while | time |! |-|--|.|1|a|b|\t|>/dev/null|2>&1|&>/dev/null|>&2|<&1|LANG=C |X=1 |foo()|"+
	"\\n|%|^|+|@|:|é|\\'|\\\"|$$|$#|$1|-n|coproc |function |exec |eval ", "|")

// TestAllowedCommandsRunOnlyWhatWasSeen runs allowed texts in a real bash, with a folder of
// recording programs as its only PATH: every program that starts must be among the judged commands,
// with the same words.
func TestAllowedCommandsRunOnlyWhatWasSeen(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to compare with")
	}
	bin, dir := t.TempDir(), t.TempDir()
	// A record is written with one call: both sides of a pipe write at the same time.
	const recorder = "#!/bin/sh\nr=\nfor a in \"${0##*/}\" \"$@\"; do r=\"$r$a\x01\"; done\nprintf '%s\\002' \"$r\" >>\"$RECORD\"\n"
	for _, name := range []string{"foo", "bar"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(recorder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	set := must(t, `{"rules":[{"tool":"Bash","argv":["foo","**"],"verdict":"allow"},{"tool":"Bash","argv":["bar","**"],"verdict":"allow"},
		{"tool":"Read","path":"**","verdict":"allow"},{"tool":"Write","path":"**","verdict":"allow"}]}`)
	r := rand.New(rand.NewPCG(1, 7))
	ran := 0
	begun := time.Now()
	deadline, late := begun.Add(6*time.Second), begun.Add(time.Minute)
	for i := 0; ran < 400 && i < 200_000 && (time.Now().Before(deadline) || ran < 50 && time.Now().Before(late)); i++ {
		var b strings.Builder
		b.WriteString([]string{"foo", "bar ", "", "foo a", "foo '"}[r.IntN(5)])
		for range 1 + r.IntN(9) {
			b.WriteString(strings.ReplaceAll(shellPieces[r.IntN(len(shellPieces))], "\u00a6", "|"))
		}
		text := b.String()
		// Each has its own folder and record: processes left over from a stopped text may still
		// write when the next one starts.
		work, log := filepath.Join(dir, fmt.Sprint(ran)), filepath.Join(dir, fmt.Sprint("log", ran))
		c := Call{Tool: "Bash", Cwd: work, Command: text}
		if strings.TrimLeft(text, "fobar '") == "" || set.Decide(c).Verdict != Allow {
			continue
		}
		ran++
		var seen []string
		for _, cmd := range shell.Analyze(text, shell.Bash).Commands {
			seen = append(seen, strings.Join(wordTexts(cmd.Words), "\x01")+"\x01")
		}
		if err := os.Mkdir(work, 0o700); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		run := exec.CommandContext(ctx, bash, "--norc", "--noprofile", "-c", text)
		run.Dir, run.Env, run.WaitDelay = work, []string{"PATH=" + bin, "RECORD=" + log, "HOME=~"}, time.Second
		run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		run.Stdout = io.Discard // a pipe, so that Run waits for its children too
		run.Run()               // the exit status does not matter
		cancel()
		if run.Process != nil {
			syscall.Kill(-run.Process.Pid, syscall.SIGKILL) // and its child processes
		}
		data, _ := os.ReadFile(log)
		lines := strings.Split(string(data), "\x02")
		// the text after the last mark is of a program that was killed
		for _, line := range lines[:len(lines)-1] {
			if line != "" && !slices.Contains(seen, line) {
				t.Errorf("%q ran %q, want one of %q, which were seen", text, line, seen)
			}
		}
	}
	if ran < 50 {
		t.Errorf("only %d commands were allowed and run, want at least 50", ran)
	}
	t.Logf("%d commands compared with bash", ran)
}
