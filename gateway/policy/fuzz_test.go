package policy

import (
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/shell"
)

// FuzzJudge: the policy never panics, gives a reason for every decision, and allows nothing that
// contains an unknown part.
func FuzzJudge(f *testing.F) {
	sets := policies(f)
	for i, c := range readCorpus(f) {
		if i%5 == 0 {
			f.Add(c.command, c.shell)
		}
	}
	f.Fuzz(func(t *testing.T, command, sh string) {
		// with a default that allows, a text that cannot be checked is still not allowed
		for _, name := range []string{"writes", "open"} {
			got := sets[name].Decide(corpusCall(sh, command))
			if got.Reason == "" || len(got.Parts) == 0 {
				t.Fatalf("no reason: %+v", got)
			}
			k, known := shell.ParseKind(sh)
			if got.Verdict == Allow && (!known && !readsLikeBash(sh, command) || slices.ContainsFunc(shell.Analyze(command, k).Findings, func(f shell.Finding) bool { return !f.Soft })) {
				t.Fatalf("%q is allowed in %s", command, name)
			}
		}
		for _, name := range []string{"dev", "small", "closed", "wide", "paths"} {
			got := sets[name].Decide(corpusCall(sh, command))
			if got.Reason == "" || len(got.Parts) == 0 {
				t.Fatalf("no reason: %+v", got)
			}
			if got.Verdict != Allow {
				continue
			}
			if len(got.Offers) > 0 || got.Floor {
				t.Fatalf("allowed with offers or floor: %+v", got)
			}
			k, known := shell.ParseKind(sh)
			if !known {
				continue
			}
			if strings.ContainsAny(command, "\r\x00\x1b\u200b\u202e") || strings.Contains(command, "\\\n") {
				t.Fatalf("%q is allowed", command)
			}
			facts := shell.Analyze(command, k)
			if len(facts.Findings) > 0 || len(facts.Commands) == 0 && len(facts.Redirects) == 0 {
				t.Fatalf("%q is allowed: %+v", command, facts)
			}
		}
	})
}

// FuzzParse: no rules file makes the parser panic, and a refused file leaves no rules.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"default":"ask","rules":[{"tool":"Bash","argv":["git","status","**"],"verdict":"allow","match":["git status"]}],"grants":[]}`))
	f.Add([]byte(`{"rules":[{"tool":"a__b","path":"!/x/**","verdict":"deny","cwd":"/x/**"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := Parse(data)
		if err != nil && s != nil {
			t.Fatal("an error and rules")
		}
		if err == nil {
			s.Decide(corpusCall("bash", "git status; ls"))
		}
	})
}
