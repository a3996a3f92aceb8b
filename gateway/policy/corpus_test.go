package policy

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	corpusHome = "/home/me"
	corpusCwd  = "/home/me/project"
)

// corpusCase is one line of testdata/corpus.txt.
type corpusCase struct {
	line                   int
	policy, shell, command string
	want, contained        Verdict // on any machine, and on one that contains commands
	confined               bool
}

// corpusSandbox is the sandbox of a machine where a policy's line says that it is confined.
var corpusSandbox = Sandbox{Writes: true, Writable: []string{corpusCwd, "/tmp"}, Hidden: []string{corpusHome + "/.aws", corpusHome + "/shared"}}

func readCorpus(t testing.TB) []corpusCase {
	t.Helper()
	f, err := os.Open("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []corpusCase
	policy, confined := "", false
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := in.Text()
		word, rest, ok := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case !ok:
			t.Fatalf("line %d: %q is no case: want a verdict and a command", n, line)
		case word == "policy":
			policy, confined = strings.CutSuffix(rest, " confined")
			continue
		}
		c := corpusCase{line: n, policy: policy, command: rest, shell: "bash", confined: confined}
		verdict, shell, ok := strings.Cut(word, ":")
		if ok {
			c.shell = shell
		}
		c.want, c.contained = splitVerdicts(verdict)
		if c.want != Allow && c.want != Ask && c.want != Deny {
			t.Fatalf("line %d: got verdict %q, want allow, ask or deny", n, verdict)
		}
		if s, err := strconv.Unquote(rest); err == nil && rest[0] == '"' {
			c.command = s
		}
		list = append(list, c)
	}
	return list
}

// splitVerdicts returns the verdict of a line, and the one for machines that contain commands.
func splitVerdicts(text string) (want, contained Verdict) {
	first, second, differs := strings.Cut(text, "/")
	if !differs {
		second = first
	}
	return Verdict(first), Verdict(second)
}

func readPolicy(t testing.TB, name string) *Set {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/policies", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, problems, err := Parse(data)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%s: got %v %v; want no problems and no error", name, err, problems)
	}
	return s
}

func policies(t testing.TB) map[string]*Set {
	m := map[string]*Set{}
	for _, n := range []string{"dev", "floor", "small", "open", "any", "closed", "empty", "wide", "paths", "names", "files", "daily", "exact", "refusing", "writes", "etc", "offered", "outside", "allowing"} {
		m[n] = readPolicy(t, n)
	}
	return m
}

func corpusCall(shell, command string) Call {
	return Call{Tool: "Bash", Cwd: corpusCwd, Home: corpusHome, Shell: shell, Command: command}
}

// containedCall is corpusCall on a machine that contains commands.
func containedCall(shell, command string) Call {
	c := corpusCall(shell, command)
	c.Contained, c.Sandbox = true, corpusSandbox
	c.Sandbox.SetsAside = corpusSandbox.Writable
	return c
}

func TestCorpusGetsItsVerdicts(t *testing.T) {
	t.Parallel()
	sets := policies(t)
	cases := readCorpus(t)
	allowed := 0
	for _, c := range cases {
		call := corpusCall(c.shell, c.command)
		if c.confined {
			call.Sandbox = corpusSandbox
		}
		got := sets[c.policy].Decide(call)
		if d := sets[c.policy].Decide(containedCall(c.shell, c.command)); d.Verdict != c.contained {
			t.Errorf("line %d, %s, %s, contained: %q is %s (%s), want %s", c.line, c.policy, c.shell, c.command, d.Verdict, d.Reason, c.contained)
		}
		if c.want == Allow {
			allowed++
		}
		if got.Verdict != c.want {
			t.Errorf("line %d, %s, %s: %q is %s, want %s", c.line, c.policy, c.shell, c.command, got.Verdict, c.want)
			for _, p := range got.Parts {
				t.Logf("    %s %s %q %s %s", p.Verdict, p.Kind, p.Text, p.Rule, p.Reason)
			}
		}
		if got.Reason == "" || len(got.Parts) == 0 {
			t.Errorf("line %d: %q has no reason or parts: %+v", c.line, c.command, got)
		}
		for _, p := range got.Parts {
			if p.Reason == "" || p.Kind == "" {
				t.Errorf("line %d: %q: part without reason: %+v", c.line, c.command, p)
			}
		}
	}
	if len(cases) < 300 || allowed < 100 {
		t.Errorf("only %d cases, %d of them allowed; want at least 300 and at least 100", len(cases), allowed)
	}
}

func must(t testing.TB, rules string) *Set {
	t.Helper()
	s, problems, err := Parse([]byte(rules))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v %v; want no problems and no error", err, problems)
	}
	return s
}
