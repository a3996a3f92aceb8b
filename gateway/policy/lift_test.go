package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestAnswersLiftWhatTheyShow compares the protected files that a command may change once it runs.
func TestAnswersLiftWhatTheyShow(t *testing.T) {
	t.Parallel()
	s := must(t, `{"default":"allow","rules":[]}`)
	for _, c := range []struct {
		command, changes string
		floor            bool
		want             string // relative to the workspace
		records          string // in which git records
	}{
		{command: "echo x > .envrc", floor: true, want: ".envrc"},
		{command: "touch .envrc .npmrc a", floor: true, want: ".envrc .npmrc"},
		{command: "cp a .git/hooks/pre-commit", floor: true, want: ".git/hooks/pre-commit"},
		{command: "cp .envrc sub/", floor: true, want: ".envrc sub/.envrc"},
		{command: "cd sub && echo x >> .envrc", floor: true, want: ".envrc sub/.envrc"},
		{command: "git config user.name x", floor: true, want: ".git/config"},
		{command: "cd sub && git config user.name x", floor: true, want: ".git/config sub/.git/config"},
		{command: "make", changes: ".npmrc sub/.git/config", floor: true, want: ".npmrc sub/.git/config"},
		{command: "make", changes: "other", floor: true, want: "other"},
		{command: "uniq a .git/config", want: ".git/config"},
		{command: "make"},
		{command: "cat .envrc"},
		{command: "git switch topic", records: ".git/config"},
		{command: "git checkout -b a origin/a && ls", records: ".git/config"},
		{command: "git worktree remove trees/a", want: "trees/a", records: ".git/worktrees"},
		{command: "git submodule update --init", records: ".git/config .git/modules"},
		{command: "git submodule --quiet deinit -f lib && git rm -q lib", want: "lib", records: ".git/config .git/modules"},
		{command: "git submodule foreach make"},
		{command: "git sparse-checkout disable", records: ".git/config .git/config.worktree"},
		{command: "rm -rf copy && ls", want: "copy"},
		{command: "rm -rf copy && cp -r other copy"},
		{command: "rm -rf copy && echo x > copy"},
		{command: "rm -rf copy; make"},
		{command: "rm -rf ../out"},
		{command: "rm -rf .git", floor: true, want: ".git"},
		{command: "git switch topic && make"},
		{command: "git switch topic && ./script"},
		{command: "git switch $X"},
		{command: "git -C other switch topic"},
		{command: "git commit -m x"},
		{command: "git switch topic", changes: ".git/config", floor: true, want: ".git/config"},
	} {
		t.Run(c.command+" "+c.changes, func(t *testing.T) {
			call := corpusCall("bash", c.command)
			call.Changes = strings.Fields(c.changes)
			d := s.Decide(call)
			if d.Floor != c.floor {
				t.Errorf("floor: got %v, want %v (%s)", d.Floor, c.floor, d.Reason)
			}
			for want, list := range map[string][]string{"lifts: " + c.want: d.Lifts, "records: " + c.records: d.Records} {
				kind, _, _ := strings.Cut(want, ":")
				list = slices.Sorted(slices.Values(list))
				if got := kind + ": " + strings.ReplaceAll(strings.Join(list, " "), corpusCwd+"/", ""); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			for _, p := range d.Parts {
				for _, f := range p.Changes {
					if !slices.Contains(d.Lifts, f) {
						t.Errorf("the question shows %s, and the answer does not lift it", f)
					}
				}
			}
		})
	}
}
