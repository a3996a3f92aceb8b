package words_test

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/words"
)

func TestSplitReadsLinesAsPeopleWriteThem(t *testing.T) {
	for line, want := range map[string][]string{
		`npx -y @scope/server`:         {"npx", "-y", "@scope/server"},
		` a  "b c"  'd "e"' f\ g `:     {"a", "b c", `d "e"`, "f g"},
		`C:\Tools\run.exe "C:\My Dir"`: {`C:\Tools\run.exe`, `C:\My Dir`},
		`a "" 'x'y"z"`:                 {"a", "", "xyz"},
		`a "q\"q"`:                     {"a", `q"q`},
		"a \\\n  b":                    {"a", "b"},
		"":                             nil,
	} {
		if got, err := words.Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %q (%v), want %q", line, got, err, want)
		}
	}
	if _, err := words.Split(`a "b`); err == nil {
		t.Error("an open quote is not noticed")
	}
}

func FuzzShellsReadJoinedWordsAsSplitDoes(f *testing.F) {
	f.Add("npx", "it's", `$(id) "x" \n`)
	f.Add("a=b", "", "*~#;|&")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		list := []string{"x" + a, b, c}
		line := words.Join(list)
		got, err := words.Split(line)
		valid := !strings.ContainsFunc(strings.Join(list, ""), func(r rune) bool { return r == 0 || r == '\uFFFD' })
		if !valid {
			t.Skip("no such argument exists")
		}
		if err != nil || !slices.Equal(got, list) {
			t.Fatalf("%q became %q (%v); want no error and %v", list, got, err, list)
		}
		if runtime.GOOS == "windows" {
			return
		}
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
		if want := strings.Join(list, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Fatalf("the shell reads %q as %q (%v)", line, out, err)
		}
	})
}
