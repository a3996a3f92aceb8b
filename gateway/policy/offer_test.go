package policy

import (
	"strings"
	"testing"
)

func offeredRules(s *Set, command string) []string {
	var list []string
	for _, o := range s.Decide(corpusCall("bash", command)).Offers {
		list = append(list, strings.Join(o.Rule.Argv, " "))
	}
	return list
}

func TestOffersAreNarrow(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "small")
	for command, want := range map[string]string{
		"make test":                  "make test|make *",
		"go test ./... && make lint": "go test ./...|go test **|make lint|make *",
		"make -C sub test":           "",
		"seq 3":                      "seq 3|seq **",
		"git commit -m x":            "git commit -m x|git commit -m *",
		"git commit -m '*'":          `git commit -m \*|git commit -m *`,
		"git add -A":                 "git add -A",
		"git add a.go":               "git add a.go|git add *",
		"npm run dev":                "npm run dev|npm run *",
		"git status; npm test":       "npm test|npm test **",
		"git log -1":                 "git log -1",
		"grep 'a*b' x":               `grep a\*b x`,
		"eslint src":                 "eslint src|eslint **",
	} {
		t.Run(command, func(t *testing.T) {
			if got := strings.Join(offeredRules(s, command), "|"); got != want {
				t.Errorf("%q offers %q, want %q", command, got, want)
			}
		})
	}
}

func TestNothingBroadIsOffered(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "small")
	for _, command := range []string{
		"bash -c ls", "bash", "sh x.sh", "python3 -c 1", "python3 x.py", "node x.js", "env ls", "xargs ls",
		"sudo make", "git", "npm", "pip",
		"go", "cargo", "make $X", "$X", "make > out", "make &", "FOO=1 make", "make \\\n test", "eval make", "nohup make", "timeout 5 make",
		"find . -exec make ;",
		"make `x`", "rm x", "make; rm x", "awk -f x", "sed -i s/a/b/ x", "ssh host make", "/usr/bin/make", "make\r", "make (", "curl x | make",
		"f() { make; }",
	} {
		if got := offeredRules(s, command); len(got) > 0 {
			t.Errorf("%q offers %q, want none", command, got)
		}
	}
}

// TestSavedOfferAllowsWhatWasAskedAndLittleElse saves offers for commands of the corpus and judges
// much of the corpus again: an exact offer may allow only texts that contain exactly that command.
func TestSavedOfferAllowsWhatWasAskedAndLittleElse(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "empty")
	cases := readCorpus(t)
	tried := 0
	for i := 0; i < len(cases); i += 17 {
		j := s.Decide(corpusCall("bash", cases[i].command))
		for _, o := range j.Offers {
			saved, problems, err := New(File{Default: Ask, Rules: []Rule{o.Rule}})
			if err != nil || len(problems) > 0 {
				t.Fatalf("%+v: got %v %v; want no problems and no error", o.Rule, err, problems)
			}
			if len(j.Parts) == 1 && len(j.Offers) == 1 && saved.Decide(corpusCall("bash", cases[i].command)).Verdict != Allow {
				t.Errorf("%q is not allowed by its own offer %+v", cases[i].command, o.Rule)
			}
			tried++
			for k := i % 7; k < len(cases); k += 7 { // the offers share the cases
				c := cases[k]
				got := saved.Decide(corpusCall(c.shell, c.command))
				if got.Verdict != Allow {
					continue
				}
				for _, p := range got.Parts {
					prefix, _, _ := strings.Cut(strings.Join(o.Rule.Argv, " "), " *")
					if p.Kind == "command" && !strings.HasPrefix(strings.ReplaceAll(strings.Join(p.Argv, " "), "*", `\*`), prefix) {
						t.Errorf("offer %q allows %q", o.Text, c.command)
					}
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d offers, want at least 20", tried)
	}
}

func TestAnOfferForAnyValueAllowsOtherValuesOnly(t *testing.T) {
	t.Parallel()
	s := readPolicy(t, "empty")
	for command, c := range map[string]struct{ other, not string }{
		"make test":       {"make lint", "make -C /tmp"},
		"git commit -m x": {"git commit -m 'y z'", "git commit -m x --amend"},
		"npm run dev":     {"npm run build", "npm install"},
		"seq 3":           {"seq 1 9", "seq 3 | sh"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			offers := s.Decide(corpusCall("bash", command)).Offers
			if len(offers) != 2 {
				t.Fatalf("offers: got %+v, want length 2", offers)
			}
			saved, _, err := New(File{Default: Ask, Rules: []Rule{offers[1].Rule}})
			if err != nil {
				t.Fatal(err)
			}
			for text, want := range map[string]Verdict{command: Allow, c.other: Allow, c.not: Ask} {
				if d := saved.Decide(corpusCall("bash", text)); d.Verdict != want {
					t.Errorf("%q: %s (%s), want %s", text, d.Verdict, d.Reason, want)
				}
			}
		})
	}
}
