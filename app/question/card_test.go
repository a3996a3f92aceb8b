package question

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// TestCardAllowsOnlyWhatItShows covers each kind of question: what has a risk, a floor, a choice or
// a warning is allowed in the dialog only.
func TestCardAllowsOnlyWhatItShows(t *testing.T) {
	command := func() protocol.Question {
		return protocol.Question{
			Kind: protocol.AskCall, Tool: "Bash", Node: "nas", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"make -j4"}`),
			Choices: []string{protocol.ScopeOnce, protocol.ScopeAlways}, Preview: &protocol.CallPreview{Folder: "/srv"}, Sandbox: "files workspace-write, network blocked",
			Parts: []protocol.QuestionPart{{Kind: "command", Text: "make -j4", Argv: []string{"make", "-j4"}}}, AskedBy: protocol.AskedBy{Kind: "chat"},
			Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Lends: true, Summary: "contained"}},
		}
	}
	edit := func(diff string) func(*protocol.Question) {
		return func(q *protocol.Question) {
			q.Tool, q.Effect, q.Parts = "Edit", protocol.EffectWrite, nil
			q.Args = json.RawMessage(`{"path":"a.go","edits":[{"oldString":"a","newString":"b"},{"oldString":"c","newString":"d"}]}`)
			q.Preview = &protocol.CallPreview{Path: "/srv/a.go", Diff: diff}
		}
	}
	const hunk = "@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct {
		change func(*protocol.Question)
		want   bool
	}{
		"a plain command":      {func(*protocol.Question) {}, true},
		"a question of an app": {func(q *protocol.Question) { q.AskedBy = protocol.AskedBy{Kind: protocol.AskedByApp, Name: "x"} }, true},
		"to continue":          {func(q *protocol.Question) { *q = protocol.Question{Kind: protocol.AskContinue} }, true},
		"a change":             {edit("--- a.go\n+++ a.go\n" + hunk), true},
		"a change in parts":    {edit("--- a.go\n+++ a.go\n" + hunk + "@@ -9 +9 @@\n-c\n+d\n"), false},
		"a server's tool": {func(q *protocol.Question) {
			q.ServerTool, q.Parts = &protocol.QuestionTool{Server: "s", Name: "echo"}, nil
		}, true},
		"a server's long description": {func(q *protocol.Question) {
			q.ServerTool = &protocol.QuestionTool{Server: "s", Name: "echo", Description: strings.Repeat("long ", 200)}
		}, false},
		"a risk":                      {func(q *protocol.Question) { q.Parts[0].Risk = "runs as administrator (sudo)" }, false},
		"a finding":                   {func(q *protocol.Question) { q.Parts[0].Kind, q.Parts[0].Reason = "finding", "defines a function" }, false},
		"a floor":                     {func(q *protocol.Question) { q.Floor = true }, false},
		"a floor of a part":           {func(q *protocol.Question) { q.Parts[0].Floor = true }, false},
		"a part that is stopped":      {func(q *protocol.Question) { q.Parts[0].NoNetwork = true }, false},
		"network access":              {func(q *protocol.Question) { q.Args = json.RawMessage(`{"command":"make -j4","network":true}`) }, false},
		"a folder":                    {func(q *protocol.Question) { q.Preview.Folders = []protocol.FolderAccess{{Path: "/x"}} }, false},
		"outside the workspace":       {func(q *protocol.Question) { q.Preview.Outside = true }, false},
		"a place for keys":            {func(q *protocol.Question) { q.Preview.Secret = "~/.ssh" }, false},
		"personal files":              {func(q *protocol.Question) { q.Preview.Personal = true }, false},
		"a problem":                   {func(q *protocol.Question) { q.Preview.Problem = "not found" }, false},
		"a change that was cut":       {func(q *protocol.Question) { q.Preview.Truncated = true }, false},
		"an edited call":              {func(q *protocol.Question) { q.Edited = json.RawMessage(`{}`) }, false},
		"file rules that do not hold": {func(q *protocol.Question) { q.Files = "the code it runs can read all files" }, false},
		"invisible characters":        {func(q *protocol.Question) { q.Args = json.RawMessage(`{"command":"make \u202e"}`) }, false},
		"letters that look alike":     {func(q *protocol.Question) { q.Args = json.RawMessage(`{"command":"m\u0430ke"}`) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := command()
			c.change(&q)
			if got := FitsOnCard(q); got != c.want {
				t.Errorf("fits on a card: got %t, want %t", got, c.want)
			}
			if _, allow := WholeQuestion(feed.View{}, q); allow && !c.want {
				t.Error("the notification allows what the card does not")
			}
		})
	}
}

func TestCardSaysTheSameAsTheDialog(t *testing.T) {
	q := protocol.Question{
		Kind: protocol.AskCall, Tool: "Bash", Node: "nas", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"curl x | sh","timeout":9,"workdir":"/srv"}`),
		Preview: &protocol.CallPreview{Folder: "/srv"}, Sandbox: protocol.NotEnforced, Why: "Commands need your approval",
		AskedBy: protocol.AskedBy{Kind: protocol.AskedByApp, Name: "MCP CLI Proxy"},
		Parts:   []protocol.QuestionPart{{Kind: "command", Text: "curl x | sh", Argv: []string{"sh"}, Risk: "runs a script from the internet"}},
	}
	want := "asked by app “MCP CLI Proxy” · timeout: 9 · curl … | sh: runs a script from the internet · in /srv · sandbox " + NotConfinedText + " · Commands need your approval"
	if got := CardFacts(q); got != want {
		t.Errorf("facts:\ngot  %s\nwant %s", got, want)
	}
}

func TestANotificationAllowsOnlyWholeHarmlessQuestions(t *testing.T) {
	t.Parallel()
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "server", Name: "Server"}}}
	question := func(change func(*protocol.Question)) protocol.Question {
		a := protocol.Question{
			Kind: protocol.AskCall, Tool: "Bash", Node: "server", Effect: protocol.EffectExec, AskedBy: protocol.AskedBy{Kind: "chat"}, Choices: []string{protocol.ScopeOnce},
			Args: []byte(`{"command":"make -j4"}`), Preview: &protocol.CallPreview{Folder: "/srv/parser"}, Parts: []protocol.QuestionPart{{Kind: "command", Argv: []string{"make", "-j4"}}},
			Sandbox: "files workspace-write, network blocked",
		}
		change(&a)
		return a
	}
	if text, ok := WholeQuestion(v, question(func(*protocol.Question) {})); !ok || text != "make -j4 on Server, in /srv/parser" {
		t.Errorf(`got %q, %v; want ok and "make -j4 on Server, in /srv/parser"`, text, ok)
	}
	for name, change := range map[string]func(*protocol.Question){
		"another tool": func(a *protocol.Question) { a.Tool = "Write" },
		"a floor":      func(a *protocol.Question) { a.Floor = true },
		"a schedule":   func(a *protocol.Question) { a.AskedBy.Kind = protocol.AskedBySchedule },
		"the network":  func(a *protocol.Question) { a.Preview = &protocol.CallPreview{Network: true} },
		"another folder": func(a *protocol.Question) {
			a.Preview = &protocol.CallPreview{Folders: []protocol.FolderAccess{{Path: "/x"}}}
		},
		"no preview":   func(a *protocol.Question) { a.Preview = nil },
		"two programs": func(a *protocol.Question) { a.Parts = append(a.Parts, a.Parts[0]) },
		"a deletion": func(a *protocol.Question) {
			a.Parts = []protocol.QuestionPart{{Kind: "command", Argv: []string{"/bin/RM", "x"}}}
		},
		"another argument":    func(a *protocol.Question) { a.Args = []byte(`{"command":"make","yieldMs":10}`) },
		"two lines":           func(a *protocol.Question) { a.Args = []byte(`{"command":"make\nls"}`) },
		"runs of blanks":      func(a *protocol.Question) { a.Args = []byte(`{"command":"make   x"}`) },
		"invisible letters":   func(a *protocol.Question) { a.Args = []byte(`{"command":"make \u202ex"}`) },
		"lookalikes":          func(a *protocol.Question) { a.Args = []byte(`{"command":"m\u0430ke"}`) },
		"a long text":         func(a *protocol.Question) { a.Preview = &protocol.CallPreview{Folder: "/" + string(make([]byte, 200))} },
		"a finding":           func(a *protocol.Question) { a.Parts = []protocol.QuestionPart{{Kind: "finding"}} },
		"not allowed at once": func(a *protocol.Question) { a.Choices = nil },
	} {
		t.Run(name, func(t *testing.T) {
			if text, ok := WholeQuestion(v, question(change)); ok {
				t.Errorf("it can be allowed as %q", text)
			}
		})
	}
}
