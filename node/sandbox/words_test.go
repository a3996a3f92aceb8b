package sandbox

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestCheckTokensFindsTheNetworkOfSeed001(t *testing.T) {
	for line, blocked := range map[string]bool{
		"curl example.com": true, "/usr/bin/wget -q x": true, "npm ci": true, "bun add x": true, "pip install x": true, `C:\tools\curl.exe x`: true,
		"python get.py http://example.com": true, "open HTTPS://example.com": true,
		"git push": true, "git -C dir pull": true, "git fetch": true, "git clone x": true, "git remote -v": true,
		"git status": false, "git diff": false, "git log": false, "git commit -m remotely": false, "curling": false, "ls pipeline": false,
		"echo push": false, "grep http README": false, "pipx": false, "": false,
	} {
		t.Run(line, func(t *testing.T) {
			err := CheckTokens(strings.Fields(line))
			if (err != nil) != blocked {
				t.Errorf("%q: %v, want blocked %v", line, err, blocked)
			}
			var nw *NetworkWord
			if err != nil && (!errors.As(err, &nw) || nw.Word == "") {
				t.Errorf("%q: %#v", line, err)
			}
		})
	}
}

func TestEnvironPassesOnlyWhatIsListed(t *testing.T) {
	from := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "LANG=de", "AWS_SECRET_ACCESS_KEY=s", "FAIRLEAD_TOKEN=t", "FAIRLEAD_HOME=/f", "LD_PRELOAD=x.so",
		"BASH_ENV=/e",
		"BASH_FUNC_ls%%=() { :; }", "PYTHONPATH=/p", "GIT_SSH_COMMAND=evil", "NODE_OPTIONS=-r evil", "JAVA_HOME=/j",
		"CI=1", "PWD=/old", "GIT_AUTHOR_NAME=a",
	}
	declared := []string{"JAVA_HOME", "LD_PRELOAD", "FAIRLEAD_TOKEN", "PYTHONPATH", "GIT_AUTHOR_NAME", "COLOR=always", "PATH=/own", "LD_X=1", "=x"}
	got := environ(from, "/srv/app", declared, false)
	want := []string{"HOME=/h", "LC_ALL=C", "LANG=de", "JAVA_HOME=/j", "GIT_AUTHOR_NAME=a", "COLOR=always", "PATH=/own", "PWD=/srv/app", "FAIRLEAD=1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	got = environ([]string{"SystemRoot=C:\\Windows", "Path=C:\\bin", "Secret=1", "ld_preload=x"}, `C:\w`, []string{"ld_preload"}, true)
	if want := []string{"SystemRoot=C:\\Windows", "Path=C:\\bin", `PWD=C:\w`, "FAIRLEAD=1"}; !slices.Equal(got, want) {
		t.Errorf("on Windows: %q, want %q", got, want)
	}
}
