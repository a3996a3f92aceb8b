package confine

import (
	"strings"
	"testing"
)

func TestRulesForProgramsMatchCommandLines(t *testing.T) {
	for _, c := range []struct{ rule, command, denied string }{
		{rule: "rm **", command: "rm x", denied: "yes"},
		{rule: "rm **", command: "/bin/rm", denied: "yes"},
		{rule: "rm **", command: "RM x", denied: "yes"},
		{rule: "rm **", command: "rmdir x"},
		{rule: "rm -rf **", command: "rm -fr x", denied: "yes"},
		{rule: "rm -rf **", command: "rm x -r -f"},
		{rule: "rm -r -f **", command: "rm x -rf", denied: "yes"},
		{rule: "rm -rf **", command: "rm -r x"},
		{rule: "git push **", command: "git push", denied: "yes"},
		{rule: "git push **", command: "git -C dir -c a=b push origin", denied: "yes"},
		{rule: "git push **", command: "git --git-dir=x push", denied: "yes"},
		{rule: "git push **", command: "git log push"},
		{rule: "git push --force **", command: "git push origin --force", denied: "yes"},
		{rule: "git push --force **", command: "git push origin"},
		{rule: "docker push **", command: "docker --context c push x", denied: "yes"},
		{rule: "docker push **", command: "docker pull push"},
		{rule: "npm publish", command: "npm publish", denied: "yes"},
		{rule: "npm publish", command: "npm publish x"},
		{rule: "python* **", command: "python3.11 x", denied: "yes"},
		{rule: "curl *evil*", command: "curl http://evil.example/x", denied: "yes"},
		{rule: `echo \*`, command: "echo a"},
		{rule: `echo \*`, command: "echo *", denied: "yes"},
		{rule: "/opt/tool **", command: "/opt/tool x", denied: "yes"},
		{rule: "** ", command: "ls"},
	} {
		t.Run(c.rule+": "+c.command, func(t *testing.T) {
			argv := strings.Fields(c.command)
			if got := (Program)(strings.Fields(c.rule)).Matches(argv[:1], argv); got != (c.denied != "") {
				t.Errorf("denied: got %v, want %v", got, c.denied != "")
			}
		})
	}
}
