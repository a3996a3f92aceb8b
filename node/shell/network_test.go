package shell

import (
	"errors"
	"strings"
	"testing"
)

func TestNetworkWordsAreFoundAnywhereInACommand(t *testing.T) {
	for _, c := range []struct {
		shell, command string
		blocked        bool
	}{
		{"/bin/sh", "curl example.org", true},
		{"/bin/sh", "/usr/bin/wget -q x", true},
		{"/bin/sh", `"cu"rl x`, true},
		{"/bin/sh", `c\url x`, true},
		{"/bin/sh", "cd a && npm ci", true},
		{"/bin/sh", "echo $(curl x)", true},
		{"/bin/sh", `sh -c "pip install x"`, true},
		{"/bin/sh", `X=1 bun add $name`, true},
		{"/bin/sh", `python3 get.py --from=https://x/$y`, true},
		{"/bin/sh", "git -C a push origin", true},
		{"/bin/sh", "git clone $url", true},
		{"/bin/sh", "if (curl x", true}, // does not parse
		{"/bin/sh", "U=https://x; python3 get.py $U", true},
		{"/bin/sh", "export U=http://x && ./get", true},
		{"/bin/sh", "for u in https://a/$n; do ./get $u; done", true},
		{"/bin/sh", "./get <<<https://x", true},
		{"/bin/sh", "sh <<E\n$(curl x)\nE", true},
		{"/bin/sh", "cat >README <<E\nsee https://x\nE", false}, // it is only written down
		{"/bin/sh", "git status; git log --oneline", false},
		{"/bin/sh", "git diff && echo push", false}, // another command's word
		{"/bin/sh", "ls curls; cat wget.txt", false},
		{"/bin/sh", "", false},
		{`C:\Windows\System32\cmd.exe`, "dir & CURL.EXE x", true},
		{`C:\Program Files\PowerShell\7\pwsh.exe`, "iwr HTTPS://x", true},
		{`C:\Program Files\PowerShell\7\pwsh.exe`, "Get-ChildItem | Select Name", false},
	} {
		err := checkNetworkWords(c.shell, c.command)
		var word *networkWord
		if errors.As(err, &word) != c.blocked {
			t.Errorf("%s: got %v; want the network blocked: %v", c.command, err, c.blocked)
		}
	}
}

func FuzzCommandWords(f *testing.F) {
	for _, s := range []string{"curl x", `git "$(echo push)"`, "<<E\ncurl\nE", "a\\\nb", "((1))", "\x00${x:-curl}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, words := range commandWords("/bin/sh", command) {
			for _, w := range words {
				if w == "" || strings.ContainsAny(w, " \n;|&") {
					t.Fatalf("got the word %q of %q, want words without spaces and operators", w, command)
				}
			}
		}
		checkNetworkWords("/bin/sh", command)
	})
}

func TestCheckTokensFindsTheNetworkOfSeed001(t *testing.T) {
	for line, blocked := range map[string]bool{
		"curl example.com": true, "/usr/bin/wget -q x": true, "npm ci": true, "bun add x": true, "pip install x": true, `C:\tools\curl.exe x`: true,
		"python get.py http://example.com": true, "open HTTPS://example.com": true,
		"git push": true, "git -C dir pull": true, "git fetch": true, "git clone x": true, "git remote -v": true,
		"git status": false, "git diff": false, "git log": false, "git commit -m remotely": false, "curling": false, "ls pipeline": false,
		"echo push": false, "grep http README": false, "pipx": false, "": false,
	} {
		t.Run(line, func(t *testing.T) {
			err := checkTokens(strings.Fields(line))
			if (err != nil) != blocked {
				t.Errorf("%q: %v, want blocked %v", line, err, blocked)
			}
			var nw *networkWord
			if err != nil && (!errors.As(err, &nw) || nw.Word == "") {
				t.Errorf("%q: got %#v; want no error or an error of type *networkWord and some Word", line, err)
			}
		})
	}
}
