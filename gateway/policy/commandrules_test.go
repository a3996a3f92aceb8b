package policy

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

// TestDenyRulesReachTheMachine compares the rules that the machine enforces against the code that a
// command runs.
func TestDenyRulesReachTheMachine(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}`:               `{"programs":[["rm","**"]]}`,
		`{"tool":"*","argv":["git","push","**"],"verdict":"deny"}`:          `{"programs":[["git","push","**"]]}`,
		`{"tool":"Bash","argv":["rm","**"],"verdict":"ask"}`:                `null`,
		`{"tool":"Bash","argv":["**"],"verdict":"deny"}`:                    `null`,
		`{"tool":"Bash","argv":["rm"],"verdict":"deny","node":"other"}`:     `null`,
		`{"tool":"Bash","argv":["rm"],"verdict":"deny","cwd":"/elsewhere"}`: `null`,
		`{"tool":"Read","path":"secrets/**","verdict":"deny"}`:              `{"hidden":["` + corpusCwd + `/secrets"]}`,
		`{"tool":"Read","path":"**/*.pem","verdict":"deny"}`:                `{"hidden":["` + corpusCwd + `/**/*.pem"]}`,
		`{"tool":"Read","path":"~/notes.txt","verdict":"deny"}`:             `{"hidden":["` + corpusHome + `/notes.txt"]}`,
		`{"tool":"Write","path":"dist/**","verdict":"deny"}`:                `{"readOnly":["` + corpusCwd + `/dist"]}`,
		`{"tool":"Edit","path":"/srv/data/**","verdict":"deny"}`:            `{"readOnly":["/srv/data"]}`,
		`{"tool":"Read","path":"**","verdict":"deny"}`:                      `null`,
		`{"tool":"Read","path":"` + corpusHome + `/**","verdict":"deny"}`:   `null`,
		`{"tool":"Write","path":"**","verdict":"allow"}`:                    `null`,
	} {
		t.Run(rule, func(t *testing.T) {
			call := corpusCall("bash", "cd / && make")
			call.Node = "machine"
			got, err := json.Marshal(must(t, `{"rules":[`+rule+`]}`).Decide(call).Rules)
			if err != nil || string(got) != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		})
	}
	var none *protocol.CommandRules
	if got := must(t, `{"rules":[{"tool":"Bash","argv":["rm"],"verdict":"deny"}]}`).Decide(Call{Tool: "Read", Paths: []string{"x"}, Cwd: corpusCwd}).Rules; got != none {
		t.Errorf("a file tool got %v, want %v", got, none)
	}
}
