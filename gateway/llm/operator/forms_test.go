package operator

import (
	"context"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

func TestFormsInTheirManySpellings(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"RUN make test":                               `laptop__Bash {"command":"make test"}`,
		"$ git status":                                `laptop__Bash {"command":"git status"}`,
		"run: git add .":                              `laptop__Bash {"command":"git add ."}`,
		"could you please run `ls | wc -l`":           `laptop__Bash {"command":"ls | wc -l"}`,
		"run \"my prog\" --x":                         `laptop__Bash {"command":"\"my prog\" --x"}`,
		"hey run ls":                                  `laptop__Bash {"command":"ls"}`,
		"@tower run uptime":                           `tower__Bash {"command":"uptime"}`,
		"on my tower, run uptime":                     `tower__Bash {"command":"uptime"}`,
		"run tail -f x on TOWER.":                     `tower__Bash {"command":"tail -f x"}`,
		"execute:\n```\necho `date`\n\necho 2\n```":   "laptop__Bash {\"command\":\"echo `date`\\n\\necho 2\"}",
		"on tower run this:\n```bash\nls\n```":        `tower__Bash {"command":"ls"}`,
		"run ```make```":                              "laptop__Bash {\"command\":\"```make```\"}",
		"find *.go in gateway":                        `laptop__Glob {"path":"gateway","pattern":"**/*.go"}`,
		"find README.md":                              `laptop__Glob {"pattern":"**/README.md"}`,
		"where is main.go in cmd?":                    `laptop__Glob {"path":"cmd","pattern":"**/main.go"}`,
		"find os.Open in node":                        `laptop__Grep {"path":"node","pattern":"os\\.Open"}`,
		"list all .md files":                          `laptop__Glob {"pattern":"**/*.md"}`,
		"list the Go source files in gateway":         `laptop__Glob {"path":"gateway","pattern":"**/*.go"}`,
		"list *.md files in docs":                     `laptop__Glob {"path":"docs","pattern":"**/*.md"}`,
		"show me all the typescript files":            `laptop__Glob {"pattern":"**/*.{ts,tsx}"}`,
		"list the folder src/app":                     `laptop__Glob {"path":"src/app","pattern":"*"}`,
		"list the Go files on tower":                  `tower__Glob {"pattern":"**/*.go"}`,
		"search for TODO in the Go files":             `laptop__Grep {"include":"*.go","pattern":"TODO"}`,
		"search for TODO in *.md":                     `laptop__Grep {"include":"*.md","pattern":"TODO"}`,
		"grep TODO in all python files in src":        `laptop__Grep {"include":"*.py","path":"src","pattern":"TODO"}`,
		"look for “a in b” in gateway":                `laptop__Grep {"path":"gateway","pattern":"a in b"}`,
		"search for 日本 in ドキュメント":                     `laptop__Grep {"path":"ドキュメント","pattern":"日本"}`,
		"read the README.md":                          `laptop__Read {"path":"README.md"}`,
		"Read Überblick.md!":                          `laptop__Read {"path":"Überblick.md"}`,
		"what is in notes.txt?":                       `laptop__Read {"path":"notes.txt"}`,
		"show lines 5-9 of main.go":                   `laptop__Read {"limit":5,"offset":4,"path":"main.go"}`,
		"read the first 20 lines of \"a b.txt\"":      `laptop__Read {"limit":20,"offset":0,"path":"a b.txt"}`,
		"read line 3 of x":                            `laptop__Read {"limit":1,"offset":2,"path":"x"}`,
		"replace \"x\" with \"\" in a.txt":            `laptop__Edit {"newString":"","oldString":"x","path":"a.txt","replaceAll":true}`,
		"replace all foo with bar in a.txt":           `laptop__Edit {"newString":"bar","oldString":"foo","path":"a.txt","replaceAll":true}`,
		"replace a in b with c in d.txt":              `laptop__Edit {"newString":"c","oldString":"a in b","path":"d.txt","replaceAll":true}`,
		"replace « alt » with «neu» in \"x y\"":       `laptop__Edit {"newString":"neu","oldString":" alt ","path":"x y","replaceAll":true}`,
		"write meet in Paris to notes.txt":            `laptop__Write {"content":"meet in Paris\n","path":"notes.txt"}`,
		"create an empty file called a.txt":           `laptop__Write {"content":"","path":"a.txt"}`,
		"create a file notes.md with Hi there!":       `laptop__Write {"content":"Hi there!\n","path":"notes.md"}`,
		"write to a.sh:\n```sh\n#!/bin/sh\n\tls\n```": `laptop__Write {"content":"#!/bin/sh\n\tls\n","path":"a.sh"}`,
		"create a.txt with\n```\nx\n```":              `laptop__Write {"content":"x\n","path":"a.txt"}`,
		"1. run ls":                                   `laptop__Bash {"command":"ls"}`,
	} {
		text, calls := collect(t, request(in))
		if len(calls) != 1 || calls[0] != want {
			t.Errorf("%q = %q %v\nwant %s", in, text, calls, want)
		}
	}
}

func TestOneUnclearLineStopsAll(t *testing.T) {
	t.Parallel()
	text, calls := collect(t, request("run rm -r build\nand wait until the moon is up\nrun make"))
	if len(calls) != 0 || !strings.Contains(text, "I have done nothing") || !strings.Contains(text, "Line 2") || !strings.Contains(text, "Settings") {
		t.Errorf(`got %q %v; want none, "I have done nothing" in it, "Line 2" in it and "Settings" in it`, text, calls)
	}
	text, calls = collect(t, request("hello\nrun make\nread a.txt."))
	if len(calls) != 2 || !strings.HasPrefix(text, "Hello.") {
		t.Errorf(`got %q %v; want length 2 and a text that begins with "Hello."`, text, calls)
	}
	if text, calls = collect(t, request("```\nrm -rf x\n```")); len(calls) != 0 || text == "" {
		t.Errorf("a block without a request was run: %v", calls)
	}
}

func TestMachinesAreNamedHonestly(t *testing.T) {
	t.Parallel()
	text, calls := collect(t, request("on moon run ls"))
	if len(calls) != 0 || !strings.Contains(text, "no machine called moon") || !strings.Contains(text, "**tower**") {
		t.Errorf(`got %q %v; want none, "no machine called moon" in it and "**tower**" in it`, text, calls)
	}
	req := request("run ls")
	req.System = ""
	req.Tools = []llm.Tool{{Name: "gsv__Transfer"}, {Name: "search-only__Grep"}, {Name: "box__Bash"}}
	if _, calls := collect(t, req); len(calls) != 1 || !strings.HasPrefix(calls[0], "box__Bash") {
		t.Errorf("the machine that has the tool was not taken: %v", calls)
	}
	req.Messages[0].Content[0].Text = "on search-only run ls"
	if text, calls := collect(t, req); len(calls) != 0 || !strings.Contains(text, "search-only cannot do that") {
		t.Errorf(`got %q %v; want none and "search-only cannot do that" in it`, text, calls)
	}
	req.Messages[0].Content[0].Text = "read a.txt"
	if text, calls := collect(t, req); len(calls) != 0 || !strings.Contains(text, "no Read tool") {
		t.Errorf(`got %q %v; want none and "no Read tool" in it`, text, calls)
	}
	req.Messages[0].Content[0].Text = "which machines are connected?"
	if text, _ := collect(t, req); !strings.HasPrefix(text, "2 machines") || strings.Contains(text, "gsv") {
		t.Errorf(`got %v; want a text that begins with "2 machines" and no "gsv"`, text)
	}
	req.Messages[0].Content[0].Text = "send notes/a.txt to box"
	if _, calls := collect(t, req); len(calls) != 1 || calls[0] != `gsv__Transfer {"destination":"box:notes/a.txt","source":"search-only:notes/a.txt"}` {
		t.Errorf("got %v; want length 1 and calls[0] `gsv__Transfer {\"destination\":\"box:notes/a.txt\",\"source\":\"search-only:notes/a.txt\"}`", calls)
	}
}

func TestThePersonsOwnCommandsAreNoRequests(t *testing.T) {
	t.Parallel()
	req := request("run ls")
	req.Messages = append(req.Messages,
		protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.BlockToolCall, ID: "1", Name: "laptop__Bash", Arguments: []byte(`{"command":"ls"}`)}}},
		protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "1", ToolName: "laptop__Bash", Content: protocol.Content{protocol.Text(`{"exitCode":0,"output":"x"}`)}},
		protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginDirect, Content: protocol.Content{protocol.Text("!pwd")}},
		protocol.Message{Role: protocol.RoleUser, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("stopped")}})
	for _, messages := range [][]protocol.Message{req.Messages, llm.Repair(req.Messages, Info)} {
		req.Messages = messages
		if text, calls := collect(t, req); text != "Done." || len(calls) != 0 {
			t.Errorf(`got %q %v; want "Done." and none`, text, calls)
		}
	}
}

func TestSeveralResultsSayWhichIsWhich(t *testing.T) {
	t.Parallel()
	req := request("run a\nrun b")
	req.Messages = append(req.Messages, protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{
		{Type: protocol.BlockToolCall, ID: "1", Name: "laptop__Bash", Arguments: []byte(`{"command":"make\nall"}`)},
		{Type: protocol.BlockToolCall, ID: "2", Name: "laptop__Bash", Arguments: []byte(`{"command":"false"}`)},
	}})
	code := 1
	for i, m := range []protocol.Message{
		{Call: &protocol.CallInfo{State: protocol.CallDenied, Error: "The answer was for a different call. Nothing was run."}},
		{Call: &protocol.CallInfo{State: protocol.CallFailed, ExitCode: &code}, Content: protocol.Content{protocol.Text(`{"exitCode": [… 9 bytes left out …]`)}},
	} {
		m.Role, m.ToolName, m.ToolCallID = protocol.RoleToolResult, "laptop__Bash", string(rune('1'+i))
		req.Messages = append(req.Messages, m)
	}
	want := "- `make`: The answer was for a different call. Nothing was run.\n- `false`: It ended with exit code 1."
	if text, _ := collect(t, req); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestStreamStopsWithItsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	pieces := 0
	for _, err := range (Model{}).Stream(ctx, request("what can you do")) {
		pieces++
		last = err
		cancel()
	}
	if pieces != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %v, %v; want pieces 2 and error Canceled", pieces, last)
	}
	cancel()
}
