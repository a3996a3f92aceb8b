package policy

import "testing"

// TestDeniedPathIsMetInEverySpelling: a deny rule matches every name that a file system may treat
// as the same file; an allow rule does not.
func TestDeniedPathIsMetInEverySpelling(t *testing.T) {
	t.Parallel()
	deny := must(t, `{"default":"allow","rules":[{"tool":"*","path":"secrets/café/**","verdict":"deny"},{"tool":"Write","path":"mass/**","verdict":"deny"}]}`)
	allow := must(t, `{"rules":[{"tool":"*","path":"secrets/café/**","verdict":"allow"}]}`)
	for _, p := range []string{
		"secrets/café/a", "SECRETS/CAFÉ/a", "ſecrets/café/a", "secrets/cafe\u0301/a", "secrets./café/a", "secrets /café/a", "secrets/café./a", "ma\u00df/a", "secrets::$DATA/café/x",
	} {
		t.Run(p, func(t *testing.T) {
			c := Call{Tool: "Write", Cwd: corpusCwd, Paths: []string{p}}
			if got := deny.Decide(c); got.Verdict != Deny {
				t.Errorf("%q is %s: %s, want %s", p, got.Verdict, got.Reason, Deny)
			}
			if got := allow.Decide(c); got.Verdict == Allow && p != "secrets/café/a" {
				t.Errorf("%q is allowed as another spelling", p)
			}
			if got := deny.Decide(corpusCall("bash", "tee '"+p+"'")); got.Verdict == Allow {
				t.Errorf("tee %q is allowed", p)
			}
		})
	}
	for _, p := range []string{"secrets/cafe/a", "secrets2/café/a", "maß2/a"} {
		if got := deny.Decide(Call{Tool: "Write", Cwd: corpusCwd, Paths: []string{p}}); got.Verdict != Allow {
			t.Errorf("%q is %s: %s, want %s", p, got.Verdict, got.Reason, Allow)
		}
	}
}
