package policy

import "testing"

// TestAShortNameOnWindowsMayBeTheDeniedFile: a deny rule also matches the short names that Windows
// may have generated for the file.
func TestAShortNameOnWindowsMayBeTheDeniedFile(t *testing.T) {
	t.Parallel()
	deny := must(t, `{"default":"allow","rules":[{"tool":"*","path":"secret files/**","verdict":"deny"},
		{"tool":"*","path":"C:\\Users\\ann\\.ssh/**","verdict":"deny"},
		{"tool":"*","path":"~/keys of mine/**","verdict":"deny"}]}`)
	if got := deny.Decide(Call{Tool: "Read", Cwd: "C:/work", Paths: []string{"C:/Users/ann/.ssh/id"}}); got.Verdict != Deny {
		t.Errorf("a rule about a drive's folder: %s, want %s", got.Verdict, Deny)
	}
	judge := func(cwd, sh, command string) Verdict {
		return deny.Decide(Call{Tool: "Bash", Cwd: cwd, Root: cwd, Home: "C:/Users/ann", Shell: sh, Command: command}).Verdict
	}
	for _, c := range []struct{ shell, command string }{
		{"bash", "cat SECRET~1/key"},
		{"bash", "cat secret~1/KEY~2.TXT"},
		{"bash", "cp a C:/Users/ann/SSH~1/authorized_keys"},
		{"bash", "cat < SE12AB~1/key"},
		{"bash", "echo x > SECRET~1/key"},
		{"bash", "cat C:/Users/ANN~1/SSH~1/id"},
		{"bash", "cat C:/WOR~1/SECRET~1/key"},
		{"bash", "cat C:/Users/ANN~1/KEYS~1/id"},
		{"bash", "cat C:/Users/ann/.ssh/id"},
	} {
		if got := judge("C:/work", c.shell, c.command); got == Allow {
			t.Errorf("%s: %s is allowed", c.shell, c.command)
		}
	}
	for _, c := range []struct{ cwd, command string }{
		{"C:/work", "cat other/file.txt"}, {"C:/work", "cat notes~/x"}, {"C:/work", "cat DOCUME~1.TXT.bak"}, {"/work", "cat SECRET~1/key"}, {"/work", "git diff --stat HEAD~1"},
	} {
		if got := judge(c.cwd, "bash", c.command); got != Allow {
			t.Errorf("%s in %s: %s, want %s", c.command, c.cwd, got, Allow)
		}
	}
}

// TestAPatternForTheFoldersAboveMeetsTheRule: a shell's pattern may stand anywhere in a path.
func TestAPatternForTheFoldersAboveMeetsTheRule(t *testing.T) {
	t.Parallel()
	deny := must(t, `{"default":"allow","rules":[{"tool":"*","path":"~/.ssh/**","verdict":"deny"},{"tool":"*","path":"secrets/**","verdict":"deny"}]}`)
	for _, f := range []string{"/ho*/me/.ssh/id", "/*/*/.ssh/id", "/home/m?/.ssh/id", "/home/me/pro*/secrets/key", "/*/*/p*/secrets/key"} { // see corpusHome, corpusCwd
		if got := deny.Decide(corpusCall("bash", "cat "+f)); got.Verdict == Allow {
			t.Errorf("cat %s is allowed", f)
		}
	}
	if got := deny.Decide(corpusCall("bash", "cat "+corpusCwd+"/docs/*.md")); got.Verdict != Allow {
		t.Errorf("another folder: %s, %s", got.Verdict, got.Reason)
	}
}
