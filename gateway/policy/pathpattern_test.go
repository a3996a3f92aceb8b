package policy

import (
	"strings"
	"testing"
)

// TestRulesForFilesApplyToTheirFolder checks deny rules about paths when a folder is
// moved or removed with everything in it.
func TestRulesForFilesApplyToTheirFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, path string
		want       Verdict
	}{
		{"/srv/app/keep/a.txt", "/srv/app", Deny},
		{"/srv/app/keep/a.txt", "/srv/app/keep", Deny},
		{"/srv/app/keep/a.txt", "/srv/APP", Deny}, // some file systems do not tell them apart
		{"/srv/app/keep/**", "/srv", Deny},
		{"/srv/app/keep/**", "/", Deny},
		{"/srv/*/keep", "/srv/app", Deny},
		{"/srv/*.key", "/srv", Deny},
		{"src/**/*.pem", "src", Deny},
		{"src/**/*.pem", ".", Deny},
		{"keep/a", "/home/ann/code", Deny}, // above the workspace's folder
		{"!/etc/**", "/", Deny},
		{"~/.ssh/id", "/home/ann", Deny},
		{"/srv/app/keep/a.txt", "/srv/app/keeper", Allow},
		{"/srv/app/keep/a.txt", "/srv/ap", Allow},
		{"/srv/app/keep/a.txt", "/srv/app/keep/b.txt", Allow},
		{"**/.env", "src", Ask}, // may lie anywhere
		{"src/**/*.pem", "src/deep", Ask},
		{"~/.ssh/id", "/home/bob", Allow},
	} {
		s, problems, err := Parse([]byte(`{"default":"allow","rules":[{"tool":"Write","path":"` + c.rule + `","verdict":"deny"}]}`))
		if err != nil || len(problems) > 0 {
			t.Fatalf("got %v, %v; want no problems and no error", err, problems)
		}
		call := Call{Tool: "Write", Cwd: "/home/ann/code/project", Home: "/home/ann", Paths: []string{c.path}, Whole: true}
		got := s.Decide(call)
		if got.Verdict != c.want {
			t.Errorf("%s with a rule about %s: %s, want %s", c.path, c.rule, got.Verdict, c.want)
		}
		if c.want == Deny && (got.Rule == "" || !strings.Contains(got.Reason, "Includes "+c.rule)) {
			t.Errorf("%s: rule %q, %q; want c.want other than %v or some got.Rule and %q in got.Reason", c.path, got.Rule, got.Reason, Deny, "Includes "+c.rule)
		}
		call.Whole = false
		if s.Decide(call).Verdict != Allow {
			t.Errorf("%s alone is denied by a rule about %s", c.path, c.rule)
		}
	}
}

func TestMovingAFileAwayCountsAsReadingIt(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte(`{"default":"allow","rules":[{"tool":"Read","path":"secrets/**","verdict":"deny"}]}`))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	for command, want := range map[string]Verdict{"mv secrets/key out": Deny, "mv secrets x": Deny, "rm secrets/key": Allow, "rm -r out": Allow} {
		t.Run(command, func(t *testing.T) {
			if got := s.Decide(Call{Tool: "Bash", Cwd: "/srv/app", Command: command}); got.Verdict != want {
				t.Errorf("%s: %s, want %s: %s", command, got.Verdict, want, got.Reason)
			}
		})
	}
}
