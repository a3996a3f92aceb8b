package display

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestArgumentsAreNamedValues(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`:                                   "",
		`{"message":"hi","count":2}`:           "message: hi\ncount: 2",
		`{"a":"<b> & c","list":["<x>", 1.50]}`: `a: <b> & c` + "\n" + `list: ["<x>",1.50]`,
		`{"text":"one\npath: /etc\n","path":"/srv"}`: "text:\n    one\n    path: /etc\npath: /srv",
		`{"a\nb: c":null}`:                           "a b: c: null",
		`{"":""}`:                                    ":",
		`["no","object"]`:                            `["no","object"]`,
	} {
		if got := Subject(protocol.Question{Tool: "unknown", Args: json.RawMessage(args)}); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", args, got, want)
		}
	}
}

func TestArgumentsOfAPublishedAppAreWords(t *testing.T) {
	t.Parallel()
	a := protocol.Question{
		Node: protocol.NativePrefix, Tool: "ServicePublish", Args: json.RawMessage(`{"machine":"nas","signIn":false,"enabled":true,"title":"Wiki\nsignIn: true"}`),
		Preview: &protocol.CallPreview{Publishes: "Makes it reachable"},
	}
	if got, want := Subject(a), "machine: nas\nsign-in: not required\nturned on: yes\ntitle:\n    Wiki\n    signIn: true"; got != want {
		t.Errorf("subject: got %q, want %q", got, want)
	}
	if got, _ := CallText(a, "nas"); !strings.HasPrefix(got, "Publish an app · machine: nas, sign-in: not required") {
		t.Errorf("line: got %q, want the action in words", got)
	}
	e := protocol.AuditEntry{Kind: protocol.AuditCall, Node: protocol.NativePrefix, Tool: "ServicePublish", By: "you"}
	if got, _ := AuditLine(e, Names{}); got != "Publish an app on the gateway" {
		t.Errorf("in the audit log: got %q, want %q", got, "Publish an app on the gateway")
	}
}

// TestServersToolIsNotReadAsAMachines lets a server name its tool as a machine's.
func TestServersToolIsNotReadAsAMachines(t *testing.T) {
	t.Parallel()
	a := protocol.Question{
		Node: "evil", Tool: "Bash", Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"ls","also":"rm -rf /"}`),
		ServerTool: &protocol.QuestionTool{Server: "evil", Name: "Bash"},
	}
	if got, want := Subject(a), "command: ls\nalso: rm -rf /"; got != want {
		t.Errorf("subject: got %q, want %q", got, want)
	}
	if got, want := QuestionTitle(a, "evil"), "evil wants to use “Bash”"; got != want {
		t.Errorf("title: got %q, want %q", got, want)
	}
}

func TestFurtherArgumentsAreShown(t *testing.T) {
	t.Parallel()
	a := protocol.Question{Tool: "Grep", Args: json.RawMessage(`{"pattern":"x","path":"/srv","literal":true}`)}
	if got, want := OtherArguments(a), "path: /srv\nliteral: true"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a = protocol.Question{Tool: "Edit", Args: json.RawMessage(`{"path":"a","oldString":"x","newString":"y"}`), Preview: &protocol.CallPreview{Diff: "-x\n+y"}}
	if got := OtherArguments(a); got != "" {
		t.Errorf("of a change: got %q, want none", got)
	}
}

func FuzzArgumentsAreOneALine(f *testing.F) {
	f.Add(`{"a":"b\nc","d":[1]}`)
	f.Add(`{"a`)
	f.Fuzz(func(t *testing.T, raw string) {
		a := protocol.Question{Tool: "x", Node: "n", Args: json.RawMessage(raw)}
		what, _ := CallText(a, "n")
		_ = what + Subject(a) + OtherArguments(a)
	})
}
