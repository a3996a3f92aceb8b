package policy_test

import (
	"fmt"
	"log"

	"fairlead/gateway/policy"
)

// Judging a command by two rules.
func Example() {
	rules, _, err := policy.Parse([]byte(`{"rules": [
		{"id": "status", "tool": "Bash", "argv": ["git", "status", "**"], "verdict": "allow"},
		{"id": "push", "tool": "Bash", "argv": ["git", "push", "**"], "verdict": "deny"}
	]}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range []string{"git status -s", "git status && git push", "make"} {
		judgement := rules.Decide(policy.Call{Tool: "Bash", Shell: "bash", Cwd: "/src", Command: command})
		fmt.Printf("%s: %s\n", command, judgement.Verdict)
	}
	// Output:
	// git status -s: allow
	// git status && git push: deny
	// make: ask
}
