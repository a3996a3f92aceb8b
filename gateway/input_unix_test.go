//go:build unix

package gateway_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// TestLinesForAShellAreJudgedLikeCommands types into a shell that runs: a line that a rule allows
// needs no question, and the history of the shell cannot change its meaning.
func TestLinesForAShellAreJudgedLikeCommands(t *testing.T) {
	p := openPrograms(t)
	ask(p.accessGateway, protocol.RulesImport, protocol.RulesImportParams{File: json.RawMessage(`{"rules":[
		{"tool":"Bash","argv":["echo","**"],"verdict":"allow"},{"tool":"Bash","argv":["rm","**"],"verdict":"deny"}]}`)})
	s := p.connect(p.token("A", protocol.ScopeShell), nil, false)
	for _, command := range []string{"sh -i", "bash --norc", "bash"} {
		if _, err := exec.LookPath(strings.Fields(command)[0]); err == nil {
			t.Run(command, func(t *testing.T) { p.testLines(t, s, command) })
		}
	}
}

func (p *programs) testLines(t *testing.T, s *sdk.ClientSession, command string) {
	result := make(chan string, 1)
	begin := start(command)
	begin["idle_timeout"] = 0.3
	go func() { result <- p.call(s, "command", begin) }()
	p.allow()
	var begun struct {
		CommandID string `json:"command_id"`
	}
	got := <-result
	if json.Unmarshal([]byte(got), &begun) != nil || begun.CommandID == "" {
		t.Fatalf("got %s, want the ID of a command", got)
	}
	until := func(what string, texts ...string) {
		p.until(what, func() bool {
			if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(got, text) }) {
				return true
			}
			got = p.call(s, "command", map[string]any{"command_id": begun.CommandID, "idle_timeout": 0.3})
			return false
		})
	}
	until("a prompt", "# ", "$ ")
	input := func(text string) map[string]any {
		return map[string]any{"command_id": begun.CommandID, "input": text, "raw": true, "idle_timeout": 0.3}
	}
	got = p.call(s, "command", input("echo 'x\";touch made;\"'\n"))
	if list := p.pending(); len(list) != 0 {
		t.Errorf("a line that a rule allows: got %s, with questions %+v; want none", got, list)
	}
	until("the output of a line that a rule allows", "touch made")
	if got := p.call(s, "command", input("rm victim\n")); !strings.Contains(got, "Denied by a rule") {
		t.Errorf(`a line that a rule denies: got %s, want "Denied by a rule" in it`, got)
	}
	for _, text := range []string{"echo \"!!:1\"\n", "echo \"!$\"\n", "^x^touch made;^\n", "echo a"} {
		if got := p.call(s, "command", input(text)); !strings.Contains(got, "approval_required") {
			t.Errorf("%q: got %s, want a question", text, got)
		}
		list := p.pending()
		if len(list) != 1 || !strings.Contains(list[0].Why, "“"+command+"”") || len(list[0].Preview.Programs) > 0 {
			t.Fatalf("%q: got %+v, want a question that names the running command only", text, list)
		}
		ask(p.accessGateway, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: list[0].ID, Hash: list[0].Hash, Decision: "deny"})
	}
	if _, err := os.Stat(filepath.Join(p.workspace, "made")); err == nil {
		t.Error("the history of the shell ran a command")
	}
}
