//go:build unix

package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// TestAttacksHaveATest checks that the test that testdata/cases/attacks.tsv names for each attack
// exists.
func TestAttacksHaveATest(t *testing.T) {
	t.Parallel()
	for _, row := range readTable(t, "attacks.tsv", 3) {
		name, folder, test := row[0], row[1], row[2]
		files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+test+"(")
		}
		if !found {
			t.Errorf("%s: %s has no %s", name, folder, test)
		}
	}
}

// openAllowing is openPrograms with an app and rules. Its calls wait long enough for the steps of a
// test.
func openAllowing(t *testing.T, rules string) (p *programs, token string) {
	t.Helper()
	p = openPrograms(t)
	for path, value := range map[string]string{"api.waitMs": `60000`, "api.limits.machine.perMinute": `0`} {
		ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)})
	}
	ask(p.accessGateway, protocol.RulesImport, protocol.RulesImportParams{File: json.RawMessage(rules)})
	return p, p.token("A", protocol.AppScopes...)
}

// decide calls a tool over REST and returns its answer. It answers a question, if there is one,
// after meanwhile, and returns its reason.
func (p *programs) decide(token, tool string, args map[string]any, decision string, meanwhile func()) (answer, question string) {
	p.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	result := make(chan string, 1)
	go func() {
		_, answer, _ := p.surfaces()["REST"](token, tool, string(raw))
		result <- answer
	}()
	p.until("an answer or a question", func() bool {
		select {
		case answer = <-result:
			return true
		default:
			return len(p.pending()) > 0
		}
	})
	if answer != "" {
		return answer, ""
	}
	q := p.question()
	meanwhile()
	p.answer(q, decision)
	return <-result, q.Why
}

// The rules and the floor hold for what is typed into a running program, with every tool that
// types.
func TestTypedTextFollowsTheRules(t *testing.T) {
	p, token := openAllowing(t, `{"rules":[{"tool":"Bash","argv":["rm","**"],"verdict":"deny"},{"tool":"Bash","argv":["cp","**"],"verdict":"allow"},
		{"tool":"Bash","argv":["echo","**"],"verdict":"allow"},{"tool":"Bash","argv":["true"],"verdict":"allow"},{"tool":"Write","path":"**","verdict":"allow"},{"tool":"Read","path":"**","verdict":"allow"}]}`)
	victim := filepath.Join(p.workspace, "victim")
	p.write("victim", "")
	p.write("notes.txt", "")
	for _, program := range []string{"bash --norc", "cat", "env sh", "python3 -i"} {
		if _, err := exec.LookPath(strings.Fields(program)[0]); err != nil {
			continue
		}
		t.Run(program, func(t *testing.T) {
			begun, _ := p.decide(token, "box__Bash", map[string]any{"command": program, "background": true}, protocol.DecisionAllow, func() {})
			job := field(begun, "sessionId")
			begun, _ = p.decide(token, "command", map[string]any{"session": map[string]any{"node_name": "box", "command": program}, "idle_timeout": 0.1}, protocol.DecisionAllow, func() {})
			session := field(begun, "command_id")
			if job == "" || session == "" {
				t.Fatalf("starting %s: got the IDs %q and %q in %s; want some job and some session", program, job, session, begun)
			}
			for _, text := range []string{"rm victim", "\\rm -f victim", "true; r''m victim", "cp notes.txt .git/config", "echo x > .envrc", "echo a\nrm victim"} {
				for way, c := range map[string]struct {
					tool string
					args map[string]any
				}{
					"submit": {"box__Process", map[string]any{"action": "submit", "sessionId": job, "data": text}},
					"write":  {"box__Process", map[string]any{"action": "write", "sessionId": job, "data": text + "\n"}},
					"input":  {"command", map[string]any{"command_id": session, "input": text + "\n", "idle_timeout": 0.1}},
				} {
					answer, question := p.decide(token, c.tool, c.args, protocol.DecisionDeny, func() {})
					if question == "" && !strings.Contains(answer, "Denied by a rule") {
						t.Errorf("%s %q: got %s, want a question or a denial", way, text, answer)
					}
					if question != "" && !strings.Contains(question, "“"+program+"”") {
						t.Errorf("%s %q: got the question %q, want one that names %s", way, text, question, program)
					}
				}
			}
		})
	}
	if _, err := os.Stat(victim); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
}

// What the person allowed does not run if its folder, its program or its script was replaced while
// the question was open, by whatever means: here by a second command, which needs no question.
func TestReplacedFilesStopAnAllowedCommand(t *testing.T) {
	p, token := openAllowing(t, `{"rules":[
		{"tool":"Bash","argv":["mv","**"],"verdict":"allow"},{"tool":"Bash","argv":["ln","**"],"verdict":"allow"},{"tool":"Bash","argv":["cp","**"],"verdict":"allow"},
		{"tool":"Write","path":"**","verdict":"allow"},{"tool":"Read","path":"**","verdict":"allow"}]}`)
	for i, c := range []struct{ command, swap string }{
		{"touch marker", "mv sub old && ln -s venv sub"},
		{"touch marker", "mv sub old && mv venv sub"},
		{"touch marker", "mv sub old && cp -r venv sub"},
		{"./build.sh", "cp venv/build.sh sub/build.sh"},
		{"./build.sh", "mv venv/build.sh sub/build.sh"},
		{"./build.sh", "ln -sf ../venv/build.sh sub/build.sh"},
		{"sh build.sh", "cp venv/build.sh sub/build.sh"},
		{"sh -e ./build.sh a", "cp venv/build.sh sub/build.sh"},
		{"cd tools && ./build.sh", "cp venv/build.sh sub/tools/build.sh"},
		{"cd tools && ./build.sh", "mv sub/tools sub/other && ln -s ../venv sub/tools"},
		{"(cd tools; ./build.sh)", "cp venv/build.sh sub/tools/build.sh"},
		{"env A=b ./build.sh", "cp venv/build.sh sub/build.sh"},
		{"timeout 5 ./build.sh", "cp venv/build.sh sub/build.sh"},
		{". ./build.sh", "cp venv/build.sh sub/build.sh"},
		{"sh <build.sh", "cp venv/build.sh sub/build.sh"},
		{"cat build.sh | sh", "cp venv/build.sh sub/build.sh"},
		{"./link.sh", "cp venv/build.sh sub/build.sh"},
		{"env -C tools ./build.sh", "cp venv/build.sh sub/tools/build.sh"},
		{"sh -c 'cd tools && ./build.sh'", "cp venv/build.sh sub/tools/build.sh"},
		{"bash -e -x build.sh", "cp venv/build.sh sub/build.sh"},
		{"find . -name x -exec ./build.sh {} +; ./build.sh", "cp venv/build.sh sub/build.sh"},
		{"X=$(./build.sh)", "cp venv/build.sh sub/build.sh"},
		{"if ./build.sh; then true; fi", "cp venv/build.sh sub/build.sh"},
		{"nohup ./build.sh >out 2>&1", "cp venv/build.sh sub/build.sh"},
	} {
		tool := []string{"box__Bash", "command"}[i%2]
		t.Run(c.command+" after "+c.swap+" with "+tool, func(t *testing.T) {
			root := fmt.Sprintf("case-%d-%s", i, tool)
			for _, name := range []string{"sub/build.sh", "sub/tools/build.sh", "venv/build.sh"} {
				p.write(root+"/"+name, "#!/bin/sh\ntouch "+filepath.Dir(filepath.Join(p.workspace, root, name))+"/marker\n")
			}
			if err := os.Symlink("build.sh", filepath.Join(p.workspace, root, "sub/link.sh")); err != nil {
				t.Fatal(err)
			}
			args := map[string]any{"command": c.command, "workdir": filepath.Join(p.workspace, root, "sub")}
			if tool == "command" {
				args["node_name"] = "box"
				args = map[string]any{"session": args}
			}
			answer, question := p.decide(token, tool, args, protocol.DecisionAllow, func() {
				_, got, _ := p.surfaces()["REST"](token, "box__Bash", fmt.Sprintf(`{"command":%q,"workdir":%q}`, c.swap, filepath.Join(p.workspace, root)))
				if !strings.Contains(got, `"exitCode":0`) {
					t.Fatalf("%s: got %s, want `\"exitCode\":0` in it", c.swap, got)
				}
			})
			if question == "" || !strings.Contains(answer, "APPROVAL_DRIFT") {
				t.Errorf("got %s after the question %q, want APPROVAL_DRIFT", answer, question)
			}
		})
	}
}

func TestQuestionsOfAnAppAreLimited(t *testing.T) {
	p := openPrograms(t)
	token := p.token("A", protocol.ScopeShell)
	ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "api.waitMs", Value: json.RawMessage(`1000`)})
	answers := make(chan string)
	for i := range 40 {
		go func() {
			_, answer, _ := p.surfaces()["REST"](token, "command", fmt.Sprintf(`{"session":{"node_name":"box","command":"echo %d"}}`, i))
			answers <- answer
		}()
	}
	refused := 0
	for range 40 {
		if code(<-answers) == string(protocol.FaultResourceExhausted) {
			refused++
		}
	}
	if n := len(p.pending()); n > 16 || refused != 40-n {
		t.Errorf("after 40 commands: got %d questions, and %d refused commands, want at most 16 questions, and the others refused", n, refused)
	}
}

func TestFileThatCannotBeReadIsNotWatched(t *testing.T) {
	p := openPrograms(t)
	s := p.connect(p.token("A", protocol.ScopeFilesRead), nil, true)
	calls := func() int { return len(ask(p.accessGateway, protocol.JournalList, protocol.JournalListParams{}).Calls) }
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://box/file" + p.workspace + "/missing"}); err == nil || calls() != 1 {
		t.Errorf("subscribing to a missing file: got %v after %d calls, want an error after one", err, calls())
	}
	other := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result := make(chan error, 1)
	go func() { result <- s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "fairlead://box/file" + other}) }()
	p.until("a question or an answer", func() bool { return len(p.pending()) == 1 || len(result) == 1 })
	for _, q := range p.pending() {
		p.answer(q, protocol.DecisionDeny)
	}
	if err := <-result; err == nil || calls() != 2 || len(p.pending()) != 0 {
		t.Errorf("subscribing to a denied file: got %v after %d calls with %d questions, want an error after two calls and no further question", err, calls(), len(p.pending()))
	}
}
