package operator

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

func request(text string) llm.Request {
	req := llm.Request{System: "x\nDefault machine: laptop\n", Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}}}
	for _, n := range []string{"tower", "laptop"} {
		for _, t := range []string{"Bash", "Read", "Write", "Edit", "Glob", "Grep"} {
			req.Tools = append(req.Tools, llm.Tool{Name: n + "__" + t})
		}
	}
	return req
}

// collect runs the operator and returns its words and its calls as "tool args".
func collect(t *testing.T, req llm.Request) (string, []string) {
	t.Helper()
	var text strings.Builder
	var calls []string
	stop := ""
	for e, err := range (Model{}).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case llm.EventText:
			text.WriteString(e.Text)
		case llm.EventCall:
			calls = append(calls, e.Block.Name+" "+string(e.Block.Arguments))
		case llm.EventStop:
			stop = e.Stop
		}
	}
	if want := map[bool]string{true: llm.StopToolUse, false: llm.StopEnd}[len(calls) > 0]; stop != want {
		t.Errorf("stop = %q, want %q", stop, want)
	}
	return text.String(), calls
}

func TestPlainRequestsBecomeCalls(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"run ls -la":                   `laptop__Bash {"command":"ls -la"}`,
		"Run ls -la!":                  `laptop__Bash {"command":"ls -la!"}`,
		"please run `make test`":       `laptop__Bash {"command":"make test"}`,
		"execute echo \"a b\" | wc -l": `laptop__Bash {"command":"echo \"a b\" | wc -l"}`,
		"run uptime on tower":          `tower__Bash {"command":"uptime"}`,
		"on Tower run uptime":          `tower__Bash {"command":"uptime"}`,
		"run echo on stage":            `laptop__Bash {"command":"echo on stage"}`,
		"run:\n```sh\nfor i in 1 2; do\necho $i\ndone\n```": `laptop__Bash {"command":"for i in 1 2; do\necho $i\ndone"}`,
		"list the Go files":                     `laptop__Glob {"pattern":"**/*.go"}`,
		"List all python files in src.":         `laptop__Glob {"path":"src","pattern":"**/*.py"}`,
		"list files":                            `laptop__Glob {"pattern":"**/*"}`,
		"list files in docs":                    `laptop__Glob {"path":"docs","pattern":"**/*"}`,
		"list *.md":                             `laptop__Glob {"pattern":"**/*.md"}`,
		"list docs":                             `laptop__Glob {"path":"docs","pattern":"*"}`,
		"ls":                                    `laptop__Glob {"pattern":"*"}`,
		"find files named Makefile":             `laptop__Glob {"pattern":"**/Makefile"}`,
		"read README.md":                        `laptop__Read {"path":"README.md"}`,
		"Show me the file \"my notes.txt\"":     `laptop__Read {"path":"my notes.txt"}`,
		"read ../a.b.txt.":                      `laptop__Read {"path":"../a.b.txt"}`,
		"search for func in gateway":            `laptop__Grep {"path":"gateway","pattern":"func"}`,
		"search for TODO":                       `laptop__Grep {"pattern":"TODO"}`,
		"search for \"a.b (c)\" in .":           `laptop__Grep {"path":".","pattern":"a\\.b \\(c\\)"}`,
		"search for Größe in docs on tower":     `tower__Grep {"path":"docs","pattern":"Größe"}`,
		"find func main in gateway":             `laptop__Grep {"path":"gateway","pattern":"func main"}`,
		"replace A with B in FILE":              `laptop__Edit {"newString":"B","oldString":"A","path":"FILE","replaceAll":true}`,
		"replace \"in a\" with 'to b' in x.txt": `laptop__Edit {"newString":"to b","oldString":"in a","path":"x.txt","replaceAll":true}`,
		"change foo to bar in src/main.go.":     `laptop__Edit {"newString":"bar","oldString":"foo","path":"src/main.go","replaceAll":true}`,
		"replace $1 with $& in a":               `laptop__Edit {"newString":"$&","oldString":"$1","path":"a","replaceAll":true}`,
		"write hello world to greeting.txt":     `laptop__Write {"content":"hello world\n","path":"greeting.txt"}`,
		"create notes.md with # Notes":          `laptop__Write {"content":"# Notes\n","path":"notes.md"}`,
	} {
		t.Run(in, func(t *testing.T) {
			text, calls := collect(t, request(in))
			if len(calls) != 1 || calls[0] != want {
				t.Errorf("%q = %q %v\nwant %s", in, text, calls, want)
			}
		})
	}
}

func TestSeveralLinesAreSeveralCalls(t *testing.T) {
	t.Parallel()
	_, calls := collect(t, request("run ls\n- read a.txt\n\nsearch for x"))
	if len(calls) != 3 || !strings.HasPrefix(calls[1], "laptop__Read") {
		t.Errorf(`calls = %v; want length 3 and a calls[1] that begins with "laptop__Read"`, calls)
	}
}

func TestTextWithoutARequestGetsAnAnswer(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"what can you do":        "read README.md",
		"What can you do?":       "Settings",
		"help":                   "replace A with B",
		"hello":                  "built-in operator",
		"which machines":         "**tower**, **laptop**",
		"make me a sandwich":     "did not understand",
		"find the meaning":       "",
		"send a.txt to tower":    "not part of this version",
		"send a.txt to nowhere":  "no machine called nowhere",
		"why is the sky so blue": "Connect a model",
	} {
		t.Run(in, func(t *testing.T) {
			text, calls := collect(t, request(in))
			if want != "" && (len(calls) != 0 || !strings.Contains(text, want)) {
				t.Errorf("%q = %q %v, want …%s…", in, text, calls, want)
			}
		})
	}
	text, _ := collect(t, request("explain why the build is so slow today"))
	if !strings.Contains(text, "read README.md") || !strings.Contains(text, "run make test") {
		t.Errorf(`the nearest forms are missing: %q; want one with "read README.md"`, text)
	}
	req := request("run ls")
	req.Tools = nil
	if text, calls := collect(t, req); len(calls) != 0 || !strings.Contains(text, "No machine") {
		t.Errorf("without machines: %q %v", text, calls)
	}
}

func TestResultsAreReportedTruthfully(t *testing.T) {
	t.Parallel()
	result := func(tool, text string, isErr bool, call *protocol.CallInfo) protocol.Message {
		return protocol.Message{
			Role: protocol.RoleToolResult, ToolCallID: "1", ToolName: protocol.ToolName("laptop__" + tool), IsError: isErr, Call: call,
			Content: protocol.Content{protocol.Text(text)},
		}
	}
	native := result("", `{"ok":false,"error":"laptop is not connected"}`, false, nil)
	native.ToolName = "gsv__Transfer"
	asked := protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.BlockToolCall, ID: "1", Arguments: json.RawMessage(`{"path":"a.txt","pattern":"*.go"}`)}}}
	for _, c := range []struct {
		m    protocol.Message
		want string
	}{
		{result("Bash", `{"exitCode":0,"output":"x"}`, false, nil), "Done."},
		{result("Bash", `{"exitCode":0,"output":""}`, false, nil), "Done. It printed nothing."},
		{result("Bash", `{"exitCode":2,"output":"x"}`, true, nil), "It ended with exit code 2."},
		{result("Bash", `{"exitCode":null,"signal":"SIGKILL","timedOut":true,"output":"x"}`, false, nil), "It took too long and was stopped."},
		{result("Read", `{"lines":1,"content":"1\tx"}`, false, nil), "`a.txt`: 1 line."},
		{result("Read", `Error: no such file`, true, nil), "That did not work: no such file"},
		{native, "That did not work: laptop is not connected"},
		{result("Glob", `{"count":3,"matches":[]}`, false, nil), "3 files match `*.go`."},
		{result("Glob", `{"count":0,"matches":[]}`, false, nil), "Nothing matches `*.go`."},
		{result("Grep", `{"count":1,"matches":[]}`, false, nil), "1 line matches."},
		{result("Grep", `{"truncated":true,"matches":[]}`, false, nil), "More than 100 lines match; the first 100 are shown."},
		{result("Edit", `{"replacements":2}`, false, nil), "Replaced 2 places in `a.txt`."},
		{result("Write", `{"bytes":1}`, false, nil), "Wrote 1 byte to `a.txt`."},
		{result("Bash", `Error: x`, true, &protocol.CallInfo{State: protocol.CallDenied, Error: "The person denied this call."}), "You denied it, so nothing was done."},
		{result("Bash", `Error: x`, true, &protocol.CallInfo{State: protocol.CallDenied, Error: "Nobody answered the question"}), "Nobody answered the question in time, so nothing was run."},
		{result("Bash", `Unknown outcome: y`, true, &protocol.CallInfo{State: protocol.CallUnknown}), "Unknown outcome: y"},
	} {
		t.Run(c.want, func(t *testing.T) {
			req := request("run x")
			req.Messages = append(req.Messages, asked, c.m)
			if text, calls := collect(t, req); text != c.want || len(calls) != 0 {
				t.Errorf("%s = %q, want %q", c.m.Content.Text(), text, c.want)
			}
		})
	}
}

func FuzzPlan(f *testing.F) {
	f.Add("run ls")
	f.Add("replace \"a with b in c")
	f.Add("```\n")
	f.Fuzz(func(t *testing.T, text string) {
		answers, calls := answer(request(text))
		if answers == "" && len(calls) == 0 {
			t.Errorf("%q has no answer", text)
		}
	})
}

func TestEndOfABackgroundCommandIsReportedAndNoRequest(t *testing.T) {
	t.Parallel()
	code := 2
	c := protocol.ExecCompletion{NodeID: "tower", Event: protocol.ExecFailed, ExitCode: &code, Command: "run ls", OutputTail: "run rm -rf x\n```\n"}
	req := request("run make")
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginEvent, Content: protocol.Content{protocol.Text(c.Message())}})
	text, calls := collect(t, req)
	if want := "The background command `run ls` on tower failed with exit code 2. It printed last:\n\n````\nrun rm -rf x\n```\n````"; text != want || len(calls) != 0 {
		t.Errorf("got %q %q; want %v and none", text, calls, want)
	}
	req.Messages[1].Content = protocol.Content{protocol.Text("something else")}
	if _, calls := collect(t, req); len(calls) != 0 {
		t.Errorf("got %q; want no calls", calls)
	}
}
