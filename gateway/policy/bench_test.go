package policy

import (
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// long returns a command of 2,000 characters of many kinds.
func long() string {
	const one = `git log --oneline -5 --format='%h %s' && grep -rn "func Test" --include='*_test.go' . | sort -u | head -20; ` +
		`ls -la src/*.go > /dev/null 2>&1; `
	s := strings.Repeat(one, 2000/len(one)+1)[:1990]
	return s[:strings.LastIndex(s, ";")]
}

func manyRules(t testing.TB, n int) *Set {
	f := readFile(t, "dev")
	for i := range n {
		v := []Verdict{Allow, Ask, Deny}[i%3]
		f.Rules = append(f.Rules, Rule{Tool: "Bash", Argv: []string{fmt.Sprintf("tool%d", i), "run", "**"}, Verdict: v})
	}
	s, _, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func BenchmarkJudge2000Characters(b *testing.B) {
	s, c := readPolicy(b, "dev"), corpusCall("bash", long())
	b.SetBytes(int64(len(c.Command)))
	for b.Loop() {
		if s.Decide(c).Verdict != Allow {
			b.Fatal(s.Decide(c).Reason)
		}
	}
}

func BenchmarkJudge2000CharactersZsh(b *testing.B) {
	s, c := readPolicy(b, "dev"), corpusCall("zsh", long())
	for b.Loop() {
		s.Decide(c)
	}
}

// BenchmarkJudge2000CharactersWithLinks uses a machine whose programs and home folders are behind
// links, as on many systems.
func BenchmarkJudge2000CharactersWithLinks(b *testing.B) {
	s, c := readPolicy(b, "dev"), corpusCall("bash", long())
	for _, a := range []string{"/bin /usr/bin", "/lib /usr/lib", "/lib64 /usr/lib64", "/sbin /usr/sbin", "/home /usr/home"} {
		name, folder, _ := strings.Cut(a, " ")
		c.Aliases = append(c.Aliases, protocol.Alias{Path: name, Folder: folder})
	}
	for b.Loop() {
		if s.Decide(c).Verdict != Allow {
			b.Fatal(s.Decide(c).Reason)
		}
	}
}

func BenchmarkJudgeAmong10000Rules(b *testing.B) {
	s, c := manyRules(b, 10_000), corpusCall("bash", "git status --short && go test ./...")
	for b.Loop() {
		s.Decide(c)
	}
}

// hostileTexts are commands that would take a careless parser for ever, and thereby delay everybody.
func hostileTexts() map[string]string {
	return map[string]string{
		"nested substitutions": strings.Repeat("echo $(", 300) + "x" + strings.Repeat(")", 300),
		"nested quotes":        strings.Repeat("bash -c \"", 200),
		"braces":               "echo " + strings.Repeat("{a,b}", 40),
		"sequence":             "echo {1..99999999}{1..99999999}",
		"many commands":        strings.Repeat("rm;", 10_000),
		"many words":           "mytool " + strings.Repeat("rm ", 10_000),
		"many lines":           strings.Repeat("if (\n", 5000),
		"parens":               strings.Repeat("(", 10_000),
		"backquotes":           strings.Repeat("`", 9999),
		"dollars":              strings.Repeat("${", 5000),
		"wrappers":             strings.Repeat("env ", 5000) + "rm",
		"sudo find":            strings.Repeat("find . -exec ", 3000) + "rm",
		"xargs":                strings.Repeat("xargs ", 5000) + "rm",
		"eval":                 strings.Repeat("eval ", 5000) + "rm",
		"continuations":        strings.Repeat("ls \\\n", 3000),
		"words in words":       "mytool '" + strings.Repeat("rm ", 9000) + "'",
		"globs":                "rm " + strings.Repeat("*", 9000),
		"too long":             strings.Repeat("ls ", 100_000),
		"long and denied":      strings.Repeat("ls ", 20_000) + "; rm x",
		"cd":                   strings.Repeat("cd a; ", 5000),
		"powershell":           strings.Repeat("rm;", 10_000),
	}
}

var hostileShells = []string{"bash", "zsh", "powershell"}

func TestHostileTextsAreNeverAllowed(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "small")
	for name, text := range hostileTexts() {
		t.Run(name, func(t *testing.T) {
			for _, sh := range hostileShells {
				if got := s.Decide(corpusCall(sh, text)); got.Verdict == Allow {
					t.Errorf("%s: got allow, want ask or deny", sh)
				}
			}
		})
	}
}

// BenchmarkHostileTexts shows a text that takes the policy far longer than the others.
func BenchmarkHostileTexts(b *testing.B) {
	s := readPolicy(b, "small")
	for name, text := range hostileTexts() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, sh := range hostileShells {
					s.Decide(corpusCall(sh, text))
				}
			}
		})
	}
}
