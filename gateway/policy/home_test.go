package policy

import "testing"

func TestRulesAboutTheHomeFolderHoldAlsoWhereItIsNotKnown(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte(`{"default":"allow","rules":[{"tool":"Read","path":"~/.ssh/**","verdict":"deny"}]}`))
	if err != nil || len(problems) > 0 {
		t.Fatalf("got %v, %v; want no problems and no error", err, problems)
	}
	for _, c := range []struct {
		home, path, command string
		want                Verdict
	}{
		{home: "/home/ann", path: "/home/ann/.ssh/id", want: Deny},
		{home: "/home/ann", path: "/home/bob/.ssh/id", want: Allow},
		{path: "/home/bob/.ssh/id", want: Deny}, // it may be the home folder
		{path: "/home/bob/ssh/id", want: Allow},
		{home: "/home/ann", command: "cat ~/.ssh/id", want: Deny},
		{home: "/home/ann", command: "cat /home/ann/.ssh/id", want: Deny},
		{home: "/home/ann", command: "cat /home/ann/.s*/id", want: Ask},
		{home: "/home/ann", command: "cat /home/ann/doc*/id", want: Allow},
		{command: "cat /home/ann/.ssh/id", want: Deny},
		{command: "cat /home/ann/*/id", want: Ask},
	} {
		call := Call{Tool: "Read", Cwd: "/srv/app", Home: c.home}
		if c.path != "" {
			call.Paths = []string{c.path}
		} else {
			call.Tool, call.Command = "Bash", c.command
		}
		if got := s.Decide(call); got.Verdict != c.want {
			t.Errorf("%s%s at home in %q: %s, want %s: %s", c.path, c.command, c.home, got.Verdict, c.want, got.Reason)
		}
	}
}
