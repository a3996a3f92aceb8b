package question

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

var exampleQuestion = protocol.Question{
	ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending, Node: "nas", Tool: "Bash",
	Args: json.RawMessage(`{"command":"make -j4\nmake install"}`), Effect: protocol.EffectExec, Hash: "h", Choices: []string{protocol.ScopeOnce},
}

func TestQuestionIsInPlainWords(t *testing.T) {
	edit := protocol.Question{Tool: "Edit", Node: "nas", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"path":"/srv/app/config.go"}`)}
	echo := protocol.Question{
		Tool: "echo", Node: "everything", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"message":"hi"}`),
		ServerTool: &protocol.QuestionTool{Server: "everything", Name: "echo", Description: "Echoes back the input"},
	}
	by := func(q protocol.Question, kind, name string) protocol.Question {
		q.AskedBy = protocol.AskedBy{Kind: kind, Name: name}
		return q
	}
	made := edit
	made.Preview = &protocol.CallPreview{NewFile: true}
	for _, c := range []struct {
		q           protocol.Question
		title, line string
	}{
		{exampleQuestion, "Fairlead wants to run a command", "Run make -j4 on nas"},
		{edit, "Fairlead wants to change a file", "Edit config.go on nas"},
		{made, "Fairlead wants to create a file", "Edit config.go on nas"},
		{protocol.Question{Tool: "Cron", Node: "gsv", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"action":"add"}`)}, "Fairlead wants to use Cron", "Cron · action: add on the gateway"},
		{protocol.Question{Tool: "SessionsList", Node: "gsv", Effect: protocol.EffectRead, Args: json.RawMessage(`{}`)}, "Fairlead wants to use SessionsList", "SessionsList on the gateway"},
		{protocol.Question{Tool: "ReadFile", Node: "gsv", Effect: protocol.EffectRead, Args: json.RawMessage(`{"path":"MEMORY.md"}`)}, "Fairlead wants to read a file", "Read a file · path: MEMORY.md on the gateway"},
		{protocol.Question{Tool: "fs_write", Node: "nas", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"chunk":"x","path":"/srv/a.txt"}`)}, "Fairlead wants to change a file", "Write a.txt on nas"},
		{protocol.Question{Tool: "fs_delete", Node: "nas", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"path":"/srv/a"}`)}, "Fairlead wants to delete a file or folder", "Delete a on nas"},
		{protocol.Question{Tool: "fs_mkdir", Node: "nas", Effect: protocol.EffectWrite, Args: json.RawMessage(`{"path":"/srv/b"}`)}, "Fairlead wants to create a folder", "Create b on nas"},
		{protocol.Question{Tool: "command", Node: "nas", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"make"}`)}, "Fairlead wants to run a command", "Run make on nas"},
		{echo, "everything wants to use “echo”", "Use “echo” · message: hi (everything)"},
		{by(echo, protocol.AskedByApp, "MCP CLI Proxy"), "MCP CLI Proxy wants to use “echo” (everything)", "Use “echo” · message: hi (everything)"},
		{by(exampleQuestion, protocol.AskedByApp, "MCP CLI Proxy"), "MCP CLI Proxy wants to run a command on nas", "Run make -j4 on nas"},
		{by(exampleQuestion, protocol.AskedBySchedule, "Backup"), "The schedule “Backup” wants to run a command on nas", "Run make -j4 on nas"},
		{by(exampleQuestion, protocol.AskedByChannel, "xmpp ann@town.test"), "ann@town.test (XMPP) wants to run a command on nas", "Run make -j4 on nas"},
		{protocol.Question{Kind: protocol.AskContinue, AskedBy: protocol.AskedBy{Kind: protocol.AskedBySchedule, Name: "Backup"}}, "The schedule “Backup” missed its run", "Continue the run"},
		{protocol.Question{Kind: protocol.AskContinue}, "Fairlead wants to continue", "Continue the run"},
		{protocol.Question{Tool: "Teleport", Node: "nas", Args: json.RawMessage(`{"to":"moon"}`)}, "Fairlead wants to use Teleport", "Teleport · to: moon on nas"},
		{protocol.Question{Tool: "Bash", Node: "nas", Args: json.RawMessage(`"no object"`)}, "Fairlead wants to use Bash", `Run · "no object" on nas`},
	} {
		t.Run(c.title, func(t *testing.T) {
			if got := display.QuestionTitle(c.q, string(c.q.Node)); got != c.title {
				t.Errorf("title %q, want %q", got, c.title)
			}
			if got := QuestionLine(c.q, string(c.q.Node)); got != c.line {
				t.Errorf("line %q, want %q", got, c.line)
			}
		})
	}
}

func TestEndOfAQuestionIsInPlainWords(t *testing.T) {
	for _, c := range []struct {
		state, by, scope, want string
	}{
		{protocol.QuestionAllowed, "owner desktop-12", "", "allowed in another window"},
		{protocol.QuestionAllowed, "owner cli-12", protocol.ScopeSession, "allowed in this chat on the command line"},
		{protocol.QuestionDenied, "owner", "", "denied"},
		{protocol.QuestionDenied, "owner this computer", "", "denied on this computer"},
		{protocol.QuestionExpired, "", "", "not answered in time"},
		{protocol.QuestionCancelled, "", "", "no longer needed"},
	} {
		if got := OutcomeText(protocol.Question{State: c.state, AnsweredBy: c.by, Scope: c.scope}); got != c.want {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}

func TestLookalikeLettersAreMarked(t *testing.T) {
	if got := Lookalikes("curl https://аpple.com"); len(got) != 1 || got[0] != "аpple (а is U+0430)" || Lookalikes("привет world") != nil || Lookalikes("ls -la") != nil {
		t.Error("the note on letters that look alike is wrong")
	}
}

func TestAPublishedAppIsAskedAboutInWords(t *testing.T) {
	q := protocol.Question{Kind: protocol.AskCall, Node: protocol.NativePrefix, Tool: "ServicePublish", Preview: &protocol.CallPreview{Publishes: "Makes http://127.0.0.1:3000/ reachable for you alone"}}
	if got := QuestionLine(q, "gsv"); got != q.Preview.Publishes {
		t.Errorf("the line: got %q, want what the call changes", got)
	}
	if got := AskerText(protocol.AskedBy{}); got != "you" {
		t.Errorf("asked by: got %q, want the person", got)
	}
}
