package native

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestElevenToolsComeFirstInTheOriginalsOrder(t *testing.T) {
	var names []string
	k := open(t)
	for _, s := range k.Tools() {
		if s.Description == "" || len(s.InputSchema) == 0 {
			t.Errorf("%s has no description or schema", s.Name)
		}
		// GSV's tests look for this word.
		if s.Name == "gsv__Transfer" && !strings.Contains(s.Description, "Transfer") {
			t.Errorf("description of %s: got %q, want one with the word Transfer", s.Name, s.Description)
		}
		names = append(names, s.Name)
	}
	want := "gsv__ReadFile gsv__WriteFile gsv__EditFile gsv__DeleteFile gsv__ConfigGet gsv__LogsGet gsv__Cron gsv__Message gsv__SessionsList gsv__SessionSend gsv__Transfer"
	want += " gsv__ServicePublish gsv__ServiceUpdate gsv__ServiceShare gsv__ServiceDelete gsv__ServiceList gsv__NetworkCreate gsv__NetworkDelete gsv__NodeProvision gsv__NodeDeprovision" // extensions
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tools = %s, want %s", got, want)
	}
	if _, err := k.Lookup("gsv__readfile"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("another case: %v", err)
	}
}

func TestFilesAreWrittenReadEditedAndDeleted(t *testing.T) {
	k := open(t)
	k.want("WriteFile", `{"path":"notes/a.md","content":"costs $1"}`, `{"ok":true,"result":{"path":"notes/a.md","size":8,"written":true}}`)
	k.want("EditFile", `{"path":"notes/a.md","oldString":"$1","newString":"$& $$ $1"}`, `"replacements":1,"edited":true`)
	k.want("ReadFile", `{"path":"notes/a.md"}`, `"content":"costs $& $$ $1"`, `"size":14`, `"lastModified":"20`)
	k.want("EditFile", `{"path":"notes/a.md","oldString":"$","newString":"x"}`, `"ok":false`, "found 4 times")
	k.want("EditFile", `{"path":"notes/a.md","oldString":"$","newString":"x","replaceAll":true}`, `"replacements":4`)
	k.want("EditFile", `{"path":"notes/a.md","oldString":"nowhere","newString":"x"}`, `"ok":false`, "oldString not found")
	k.want("EditFile", `{"path":"notes/a.md","oldString":"","newString":"x"}`, "must not be empty")
	k.want("EditFile", `{"path":"notes","oldString":"a","newString":"x"}`, "is a folder")
	k.want("EditFile", `{"path":"none","oldString":"a","newString":"x"}`, "Not found: none")
	k.want("ReadFile", `{}`, `"path":"/"`, `"SOUL.md"`, `"notes/"`)
	k.want("ReadFile", `{"path":"/"}`, `"SOUL.md"`)
	k.want("ReadFile", `{"path":"notes/"}`, `"files":["notes/a.md"],"directories":[]`)
	k.want("DeleteFile", `{"path":"notes/a.md"}`, `{"ok":true,"result":{"path":"notes/a.md","deleted":true}}`)
	k.want("DeleteFile", `{"path":"notes/a.md"}`, `{"ok":false,"error":"File not found: notes/a.md"}`)
	k.want("ReadFile", `{"path":"notes/a.md"}`, `"error":"Not found: notes/a.md"`)
	for _, bad := range []string{"../x", "a/../../x", `..\\x`, "notes/../.."} {
		k.want("WriteFile", `{"path":"`+bad+`","content":""}`, "Path traversal not allowed")
	}
	k.want("WriteFile", `{"path":7,"content":""}`, "input: ")
	if _, err := os.Stat(filepath.Join(k.home, "agents", "x")); err == nil {
		t.Error("something was written outside")
	}
}

func TestReadFileNamesTheFileThatLooksTheSame(t *testing.T) {
	k := open(t)
	for escaped, asked := range map[string]string{
		`it\u2019s.md`: `it's.md`, `cafe\u0301/a\u2013b.md`: `café/a-b.md`, `skills/My\u00a0skill/SKILL.md`: `skills/My skill/SKILL.md`, `memory/my\u00a0day.md`: `memory/my day.md`,
	} {
		k.want("WriteFile", `{"path":"`+escaped+`","content":"text"}`, `"written":true`)
		k.want("ReadFile", `{"path":"`+asked+`"}`, "Not found: "+asked+". A name there looks the same", `as a JSON string: \"`+strings.ReplaceAll(escaped, `\`, `\\`)+`\"`)
	}
	k.want("WriteFile", `{"path":"one\u00a0x","content":"text"}`, `"written":true`)
	k.want("WriteFile", `{"path":"one\u2009x","content":"text"}`, `"written":true`)
	for _, path := range []string{"one x", `mem\u200bory/my day.md`, "other.md"} { // two, one for the person alone, none
		if got := k.call("ReadFile", `{"path":"`+path+`"}`); !strings.Contains(got, "Not found: ") || strings.Contains(got, "looks the same") {
			t.Errorf("%s: got %s, want an error that names no other file", path, got)
		}
	}
}

func TestSharedSkillsAreVisibleAndReadOnly(t *testing.T) {
	k := open(t)
	shared := filepath.Join(k.home, "skills", "sum", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(shared), 0o700); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(shared, []byte("shared"), 0o600)
	k.want("ReadFile", `{}`, `"skills/"`)
	k.want("ReadFile", `{"path":"skills/sum/SKILL.md"}`, `"content":"shared"`, `"resolvedPath":"skills/sum/SKILL.md","resolvedSource":"global"`)
	k.want("EditFile", `{"path":"skills/sum/SKILL.md","oldString":"shared","newString":"mine"}`, `"edited":true`, `"resolvedSource":"global"`)
	k.want("ReadFile", `{"path":"skills/sum/SKILL.md"}`, `"content":"mine"`, `"resolvedPath":"agents/main/skills/sum/SKILL.md","resolvedSource":"agent"`)
	k.want("WriteFile", `{"path":"skills/own/SKILL.md","content":"x"}`, `"written":true`)
	k.want("ReadFile", `{"path":"skills"}`, `"skills/own/","skills/review-changes/","skills/sum/"`)
	k.want("DeleteFile", `{"path":"skills/sum/SKILL.md"}`, `"deleted":true`)
	k.want("ReadFile", `{"path":"skills/sum/SKILL.md"}`, `"content":"shared"`)
	k.want("DeleteFile", `{"path":"skills/sum/SKILL.md"}`, "File not found")
	if data, _ := os.ReadFile(shared); string(data) != "shared" {
		t.Errorf("the shared skill became %q, want it unchanged", data)
	}
}

func TestLinksOutOfTheWorkspaceAreRefused(t *testing.T) {
	k := open(t)
	k.call("ReadFile", `{}`)
	secret := filepath.Join(k.home, "secret")
	os.WriteFile(secret, []byte("s3cret"), 0o600)
	if err := os.Symlink(secret, filepath.Join(k.home, "agents", "main", "link")); err != nil {
		t.Skip("no links here:", err)
	}
	if got := k.call("ReadFile", `{"path":"link"}`); strings.Contains(got, "s3cret") || !strings.Contains(got, `"ok":false`) {
		t.Errorf("got %v; want no \"s3cret\" and `\"ok\":false` in it", got)
	}
	k.call("WriteFile", `{"path":"link","content":"changed"}`)
	if data, _ := os.ReadFile(secret); string(data) != "s3cret" {
		t.Error("the target was changed")
	}
}

func TestAnAgentSeesOnlyItsOwnFiles(t *testing.T) {
	k := open(t)
	k.want("WriteFile", `{"path":"MEMORY.md","content":"of main"}`, `"written":true`)
	raw, err := k.own("ReadFile").Execute(t.Context(), tool.Call{Args: json.RawMessage(`{"path":"MEMORY.md"}`), Session: "agent:helper:main"})
	if err != nil || strings.Contains(string(raw), "of main") {
		t.Errorf(`got %s %v; want no error and no "of main"`, raw, err)
	}
}

func TestPreviewShowsWhatAChangeWouldDo(t *testing.T) {
	k := open(t)
	k.call("WriteFile", `{"path":"a.md","content":"one\ntwo\n"}`)
	for _, c := range []struct{ name, args, diff, problem string }{
		{"WriteFile", `{"path":"a.md","content":"one\n2\n"}`, "+2\n", ""},
		{"WriteFile", `{"path":"new.md","content":"x\n"}`, "+x\n", ""},
		{"EditFile", `{"path":"a.md","oldString":"two","newString":"2"}`, "-two\n+2\n", ""},
		{"EditFile", `{"path":"a.md","oldString":"three","newString":"2"}`, "", "not found"},
		{"EditFile", `{"path":"none.md","oldString":"three","newString":"2"}`, "", "Not found: none.md"},
		{"DeleteFile", `{"path":"none.md"}`, "", "Not found: none.md"},
		{"DeleteFile", `{"path":"a.md"}`, "-one\n-two\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, ok, err := k.own(c.name).Preview(t.Context(), tool.Call{}, json.RawMessage(c.args))
			if err != nil || !ok || !strings.Contains(p.Diff, c.diff) || !strings.Contains(p.Problem, c.problem) || c.problem == "" && p.Problem != "" || p.Outside {
				t.Errorf("%s %s: got %+v %v %v; want no error, %q in Diff, %q in Problem, and not Outside", c.name, c.args, p, ok, err, c.diff, c.problem)
			}
		})
	}
}

func TestAPreviewIsOfTheAgentsOwnFiles(t *testing.T) {
	k := open(t)
	k.call("WriteFile", `{"path":"a.md","content":"of main\n"}`)
	change := tool.Call{Args: json.RawMessage(`{"path":"a.md","content":"of work\n"}`), Session: "agent:work:main"}
	if p, ok, err := k.own("WriteFile").Preview(t.Context(), change, change.Args); err != nil || !ok || !p.NewFile || strings.Contains(p.Diff, "of main") {
		t.Errorf(`got %+v %v %v; want no error, ok, NewFile and no "of main" in Diff`, p, ok, err)
	}
	if _, err := k.own("WriteFile").Execute(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(filepath.Join(k.home, "agents", "main", "a.md"))
	work, workErr := os.ReadFile(filepath.Join(k.home, "agents", "work", "a.md"))
	if err != nil || workErr != nil || string(main) != "of main\n" || string(work) != "of work\n" {
		t.Errorf(`got %q %v, %q %v; want no error, no workErr, main "of main\n" and work "of work\n"`, main, err, work, workErr)
	}
}

// TestPrivateFilesNeedApprovalInSharedChats: a member of a group needs the person's
// approval to reach the person's memory and other chats through the agent's tools; the prompt of a
// shared chat does not contain them either.
func TestPrivateFilesNeedApprovalInSharedChats(t *testing.T) {
	k := open(t)
	personal := func(name, args string, key protocol.SessionKey) bool {
		t.Helper()
		p, ok, err := k.own(name).Preview(t.Context(), tool.Call{Session: key}, json.RawMessage(args))
		if err != nil || !ok {
			t.Errorf("%s %s: got %v %v; want no error and ok", name, args, ok, err)
		}
		return p.Personal
	}
	const group = "agent:main:irc:group:1"
	for _, path := range []string{"MEMORY.md", "/memory.MD", "./MEMORY.md", "memory", "memory/", "Memory/2026-03-01.md", "HEARTBEAT.md", "x/../memory"} {
		t.Run(path, func(t *testing.T) {
			args := `{"path":"` + path + `"}`
			if got, refused := personal("ReadFile", args, group), strings.Contains(path, ".."); got == refused {
				t.Errorf("%s in a group: got %v, want a refusal: %v", path, got, refused)
			}
			if personal("ReadFile", args, protocol.MainSession) || personal("ReadFile", args, "") {
				t.Errorf("%s needs an approval in the person's own chat, want none", path)
			}
		})
	}
	for _, path := range []string{"", "/", "SOUL.md", "skills/memory/SKILL.md", "notes/MEMORY.md", "memory.txt"} {
		if personal("ReadFile", `{"path":"`+path+`"}`, group) {
			t.Errorf("%q is asked about in a group", path)
		}
	}
	if !personal("SessionsList", `{}`, group) || personal("SessionsList", `{}`, protocol.MainSession) {
		t.Error("the list of chats")
	}
}

func TestSecretsAreMaskedForTheAgent(t *testing.T) {
	k := open(t)
	k.want("ConfigGet", `{}`, `{"ok":true,"result":{"config":{"auth":{"token":"***"}}}}`)
	k.want("ConfigGet", `{"path":"auth.token"}`, `{"ok":true,"result":{"path":"auth.token","value":"***"}}`)
	k.want("ConfigGet", `{"path":"none"}`, `{"ok":true,"result":{"path":"none"}}`)
}

func TestLogsNeedAMachine(t *testing.T) {
	k := open(t)
	k.want("LogsGet", `{}`, `{"ok":false,"error":"No nodes connected"}`)
	k.want("LogsGet", `{"nodeId":"a"}`, "Node not connected: a")
	k.want("LogsGet", `{"lines":0}`, "lines must be a positive number")
}

func TestSessionsListKeepsItsLimits(t *testing.T) {
	k := open(t)
	for args, want := range map[string]int{`{}`: 20, `{"limit":3}`: 3, `{"limit":1000}`: 100, `{"limit":2.9}`: 2} {
		t.Run(args, func(t *testing.T) {
			var out struct{ Result sessionsOut }
			if err := json.Unmarshal([]byte(k.call("SessionsList", args)), &out); err != nil || len(out.Result.Sessions) != want || out.Result.Count != 250 {
				t.Errorf("%s: got %d chats of %d, error %v; want %d of 250", args, len(out.Result.Sessions), out.Result.Count, err, want)
			}
		})
	}
	k.want("SessionsList", `{"limit":1,"offset":7,"messageLimit":2}`, `"sessionKey":"k7"`, `"messages":[{"role":"user","text":"0"},{"role":"user","text":"1"}]`)
	k.want("SessionsList", `{"limit":-1}`, "limit must be 0 or more")
}

func TestSendWaitsForItsOwnRunOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := open(t)
		k.want("SessionSend", `{"sessionKey":"other","message":"hi","waitSeconds":0}`, `"status":"sent"`)
		k.want("SessionSend", `{"sessionKey":"other","message":"hi"}`, `"status":"timeout"`)
		k.want("SessionSend", `{"sessionKey":"other","message":"hi","waitSeconds":9999}`, `"status":"timeout"`)
		k.answer = func(protocol.ChatSendParams) *protocol.ChatEvent {
			return &protocol.ChatEvent{State: protocol.ChatFinal, Message: assistantText("hello")}
		}
		k.want("SessionSend", `{"sessionKey":"other","message":"hi"}`, `"status":"replied","reply":"hello"`)
		k.answer = func(protocol.ChatSendParams) *protocol.ChatEvent {
			return &protocol.ChatEvent{State: protocol.ChatErrState, Error: "no model"}
		}
		k.want("SessionSend", `{"sessionKey":"other","message":"hi"}`, `"status":"failed","error":"no model"`)
		k.want("SessionSend", `{"sessionKey":"","message":"hi"}`, "sessionKey and message required")
		k.want("SessionSend", `{"sessionKey":"x","message":"hi","waitSeconds":-1}`, "waitSeconds must be 0 or more")
		if k.from.Kind != auth.KindAgent || k.from.Session != protocol.MainSession {
			t.Errorf("sent by %v, want the agent in its main chat", k.from)
		}
	})
}

func TestMessageAndTransferCheckTheirArguments(t *testing.T) {
	k := open(t)
	k.want("Message", `{"text":" "}`, "text required")
	if toolkit.Validate(k.own("Message").Spec.InputSchema, json.RawMessage(`{"text":"hi","peerKind":"fax"}`)) == nil {
		t.Error("an unknown peerKind is valid")
	}
	k.want("Transfer", `{"source":"gsv:y"}`, "input: ")
}

func TestEveryToolStatesItsScope(t *testing.T) {
	for _, own := range open(t).tools {
		if own.Scope == "" {
			t.Errorf("%s has no scope, which only the owner's own windows have", own.Spec.Name)
		}
	}
}
