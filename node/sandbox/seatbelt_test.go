package sandbox

import (
	"slices"
	"strings"
	"testing"

	"fairlead/node/sandbox/confine"
)

// expand puts the parameters back into the profile.
func expand(t *testing.T, args []string) string {
	t.Helper()
	if len(args) < 3 || args[0] != "/usr/bin/sandbox-exec" || args[1] != "-p" {
		t.Fatalf(`got %v; want length at least 3, args[0] "/usr/bin/sandbox-exec" and args[1] "-p"`, args)
	}
	text := args[2]
	for i := 3; i+1 < len(args) && args[i] == "-D"; i += 2 {
		name, value, _ := strings.Cut(args[i+1], "=")
		text = strings.ReplaceAll(text, `(param "`+name+`")`, `"`+value+`"`)
	}
	if strings.Contains(text, "(param") {
		t.Fatalf("got a parameter without a value, want none:\n%s", text)
	}
	if strings.Count(text, "(") != strings.Count(text, ")") {
		t.Fatalf("got unbalanced parentheses, want balanced ones:\n%s", text)
	}
	return text
}

func TestSeatbeltProfileDeniesByDefault(t *testing.T) {
	args := seatbeltArgs(seatbeltRules{Secrets: []string{"/Users/u/.ssh"}, Restrictions: confine.Restrictions{
		Writable: []string{"/Users/u/ws", "/private/tmp/x"}, Readable: []string{"/Users/u/.ssh/known_hosts"},
		ReadOnly: []string{"/Users/u/ws/.git/hooks"}, Hidden: []string{"/Users/u/ws/secrets"},
		Programs: []confine.Program{{"rm", "**"}, {"/opt/tool"}, {"git", "push", "**"}, {"py*", "**"}},
	}}, []string{"/bin"}, []string{"/bin/sh", "-c", "true"})
	text := expand(t, args)
	if !strings.HasPrefix(text, "(version 1)\n(deny default)\n") {
		t.Errorf("got a profile that does not begin by denying everything, want one that does:\n%s", text)
	}
	order := []string{
		`(allow file-read*)`, `(allow file-write* (subpath "/Users/u/ws"))`,
		`(deny file-read* file-write* (subpath "/Users/u/.ssh"))`, `(allow file-read* (subpath "/Users/u/.ssh/known_hosts"))`,
		`(deny file-write* (subpath "/Users/u/ws/.git/hooks"))`, `(deny file-write-unlink (literal "/Users/u/ws/.git"))`, `(deny file-write-unlink (literal "/Users/u/ws"))`,
		`(deny file-read* file-write* (subpath "/Users/u/ws/secrets"))`, `(deny process-exec (literal "/bin/rm"))`, `(deny process-exec (literal "/opt/tool"))`, `(deny network*)`,
	}
	at := -1
	for _, line := range order {
		i := strings.Index(text, line)
		if i <= at {
			t.Errorf("want %s, in order, got\n%s", line, text)
		}
		at = i
	}
	if strings.Contains(text, "/git\"") || strings.Contains(text, "py*") {
		t.Errorf("got a program denied that a rule denies with some arguments only, want it allowed:\n%s", text)
	}
	if strings.Contains(text, "(allow network") {
		t.Errorf("got the network allowed, want it denied:\n%s", text)
	}
	if !slices.Equal(args[len(args)-4:], []string{"--", "/bin/sh", "-c", "true"}) {
		t.Errorf("the command is %v, want /bin/sh after --", args[len(args)-4:])
	}
}

func TestSeatbeltReadOnlyNamesNoWorkspace(t *testing.T) {
	text := expand(t, seatbeltArgs(seatbeltRules{Restrictions: confine.Restrictions{Writable: []string{"/private/tmp/x"}, Network: true}}, nil, []string{"/bin/true"}))
	if strings.Count(text, "(allow file-write* ") != 1 || !strings.Contains(text, "(allow network*)") || strings.Contains(text, "(deny network*)") {
		t.Errorf(`got %v; want "(allow file-write* " 1 times, "(allow network*)" in it and no "(deny network*)"`, text)
	}
}

func TestSeatbeltPathsAreNoProfileText(t *testing.T) {
	args := seatbeltArgs(seatbeltRules{Restrictions: confine.Restrictions{Writable: []string{`/Users/u/a")) (allow default) ("`}}}, nil, []string{"/bin/true"})
	if strings.Contains(args[2], "allow default") {
		t.Errorf(`got %v; want no "allow default" in args[2]`, args[2])
	}
}
