package policy

import (
	"errors"
	"path"
	"strings"
	"testing"
)

// TestFloorHoldsUnderEveryRule tries to override the floor with rules and grants for exactly the
// command.
func TestFloorHoldsUnderEveryRule(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"sudo ls", "rm -rf /", "rm -rf .", "cp x .git/hooks/pre-commit", "git config core.pager less", "tee /home/me/.bashrc", "crontab x",
		"cp payload/.bashrc out", "cp -t out payload/.envrc", "mv payload/.vscode .", "ln -s payload .claude", "git mv payload/.envrc .",
		"rm .git/index.lock", "mkfifo .git/x", "ditto x .hg/hgrc", "split -b 9 x out/x/he", "sed -i s/a/b/ .git/worktrees/a/config.worktree",
	} {
		t.Run(command, func(t *testing.T) {
			words := strings.Fields(command)
			s, problems, err := New(File{
				Default: Allow, Rules: []Rule{{Tool: "Bash", Argv: words, Verdict: Allow}},
				Grants: []Grant{{Argv: words, Cwd: corpusCwd}},
			})
			if err != nil || len(problems) > 0 {
				t.Fatalf("got %v, %v; want no problems and no error", err, problems)
			}
			if got := s.Decide(corpusCall("bash", command)); got.Verdict != Ask || !got.Floor || len(got.Offers) > 0 {
				t.Errorf("%q: got %+v; want Verdict %v, Floor and Offers of length at most 0", command, got, Ask)
			}
		})
	}
}

func TestTheFloorIsTheReasonWhereItAsks(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "empty")
	if j := s.Decide(corpusCall("bash", "echo one && sudo make")); j.Verdict != Ask || !j.Floor || !strings.Contains(j.Reason, "sudo") {
		t.Errorf(`got %+v; want Verdict %v, Floor and "sudo" in Reason`, j, Ask)
	}
}

func TestOwnFoldersBelongToTheFloor(t *testing.T) {
	t.Parallel()
	s := must(t, `{"default":"allow","rules":[{"tool":"Write","path":"**","verdict":"allow"}]}`)
	for _, command := range []string{"echo x > /data/fl/config.json", "cp x /data/fl/rules.json", "rm /DATA/fl/journal"} {
		t.Run(command, func(t *testing.T) {
			c := corpusCall("bash", command)
			if s.Decide(c).Verdict != Allow {
				t.Fatalf("%q asks without an own folder: the case proves nothing", command)
			}
			c.Own = []string{"/data/fl"}
			if got := s.Decide(c); got.Verdict != Ask || !got.Floor {
				t.Errorf("%q: got %+v; want Verdict %v and Floor", command, got, Ask)
			}
		})
	}
	c := Call{Tool: "Write", Cwd: "/data", Paths: []string{"fl/config.json"}, Own: []string{"/data/fl"}}
	if got := s.Decide(c); got.Verdict != Ask || !got.Floor {
		t.Errorf("got %+v; want Verdict %v and Floor", got, Ask)
	}
}

// TestLinksAreFollowed: a path counts as its target, and a path that cannot be resolved asks.
func TestLinksAreFollowed(t *testing.T) {
	t.Parallel()
	s := must(t, `{"rules":[{"tool":"Bash","argv":["echo","**"],"verdict":"allow"},{"tool":"Write","path":"out/**","verdict":"allow"},
		{"tool":"Write","path":"secret/**","verdict":"deny"},{"tool":"Bash","argv":["make"],"cwd":"/link","verdict":"allow"}]}`)
	resolve := func(p string) (string, error) {
		if strings.HasPrefix(p, "/w/out/broken") {
			return "", errors.New("loop")
		}
		for from, to := range map[string]string{"/w/out/away": "/etc", "/w/out/deep": "/w/secret", "/link": "/w"} {
			if rest, ok := strings.CutPrefix(p, from); ok {
				return path.Join(to, rest), nil
			}
		}
		return p, nil
	}
	for command, want := range map[string]Verdict{
		"echo x > out/a": Allow, "echo x > out/away/a": Ask, "echo x > out/deep/a": Deny,
		"echo x > out/broken": Ask, "make": Allow,
	} {
		t.Run(command, func(t *testing.T) {
			for _, cwd := range []string{"/w", "/link"} {
				if command == "make" && cwd == "/w" {
					continue // the rule names the folder by its other name
				}
				if got := s.Decide(Call{Tool: "Bash", Cwd: cwd, Command: command, Resolve: resolve}); got.Verdict != want {
					t.Errorf("%q in %s: %s (%s), want %s", command, cwd, got.Verdict, got.Reason, want)
				}
			}
		})
	}
}
