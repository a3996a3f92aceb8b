package sandbox

import (
	"slices"
	"testing"
)

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
