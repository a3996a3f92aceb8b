//go:build desktop && gallery

package desktoptest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// startOllama starts an Ollama server with a model, for the page of models.
func startOllama(t *testing.T) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/version":
			io.WriteString(w, `{"version":"0.12.3"}`)
		case "/api/tags":
			io.WriteString(w, `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","size":5200000000}]}`)
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"qwen3:8b"}]}`)
		case "/":
			io.WriteString(w, "Ollama is running")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	t.Setenv("OLLAMA_HOST", s.Listener.Addr().String())
}

// fill adds the data that a person has after some weeks.
func (g *gallery) fill() {
	g.t.Helper()
	g.fillFolder()
	g.startMachineInWorkspace(g.c, "server")
	_, stop := g.startMachine(g.c, "nas")
	here := g.thisComputer()
	g.fillChats()
	g.fillTransfers(string(here))
	stop()
	for _, policy := range []string{`{"tool":"Bash","argv":["git","status","**"],"verdict":"allow"}`, `{"tool":"Write","path":"/etc/**","verdict":"deny"}`} {
		call(g, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(policy)})
	}
	every, task := &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000}, &protocol.CronMode{Mode: protocol.CronTask, Message: "read README.md"}
	call(g, protocol.CronAdd, protocol.CronAddParams{Name: "Look at the backups", Schedule: every, Spec: task})
	call(g, protocol.CronAdd, protocol.CronAddParams{
		Name:     "Every working day, before the others come, a report of what was done the day before",
		Schedule: &protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 8 * * 1-5"}, Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "read notes.txt"},
	})
	g.publish(here, `"title":"Wiki","proxy_target_url":"3000","authorized_emails":["ann@company.com","*@company.com"]`)
	g.publish(here, `"title":"Demo","proxy_target_url":"5173","auth_required":false`)
	g.fillWaysIn()
	exe, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := setConfig(g.c, "mcp.servers.notes", map[string]any{"command": exe, "env": map[string]string{serverVariable: "yes"}}); err != nil {
		g.t.Fatal(err)
	}
}

// publish publishes an app of a machine, and answers the question about it.
func (g *gallery) publish(node protocol.NodeID, args string) {
	g.t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := client.Call(context.Background(), g.c, protocol.CatalogCall, protocol.CatalogCallParams{Tool: "service_publish", Args: json.RawMessage(`{"node_id":"` + string(node) + `",` + args + `}`)})
		done <- err
	}()
	g.allow(protocol.AskCall)
	if err := <-done; err != nil {
		g.t.Fatal(err)
	}
}

// allow answers a question of a kind once it is asked.
func (g *gallery) allow(kind string) {
	g.t.Helper()
	var asked protocol.Question
	g.waitFor("a question of the kind "+kind, func() bool {
		list := call(g, protocol.QuestionList, protocol.Empty{}).Questions
		i := slices.IndexFunc(list, func(q protocol.Question) bool { return q.Kind == kind })
		if i >= 0 {
			asked = list[i]
		}
		return i >= 0
	})
	call(g, protocol.QuestionAnswer, allowAnswer(asked))
}

// fillWaysIn opens ways in of the kinds that are not open yet: a channel, a token, an app, a paired
// machine and a forward.
func (g *gallery) fillWaysIn() {
	g.t.Helper()
	g.connectChannel()
	call(g, protocol.TokenCreate, protocol.TokenCreateParams{Name: "Backup script", Scopes: []protocol.Scope{protocol.ScopeFilesRead}})
	(&browser{g.program, "http://" + g.addr}).signIn("Paper editor", "network.read fs.read")
	g.allow(protocol.AskApp)
	g.takePairing()
	g.allow(protocol.AskPair)
	g.openByPalette("Forward a port")
	g.waitTextIn(mainWindow, "Port of the machine", content)
	_, port, _ := strings.Cut(porttest.Free(g.t), ":") // the form suggests the same one on this computer
	g.typeText(port)
	g.keys("Return")
	g.waitFor("a forward", func() bool { return len(call(g, protocol.ForwardList, protocol.Empty{}).Forwards) == 1 })
}

func (g *gallery) fillFolder() {
	g.t.Helper()
	for name, size := range map[string]int64{"photos.tar": 700 << 20, "A long name of a file that someone gave a report about the second quarter of the year (final, corrected).pdf": 90 << 10, "notes.txt": 400} {
		path := filepath.Join(g.workspace, name)
		if err := os.WriteFile(path, []byte("Some notes.\n"), 0o644); err != nil {
			g.t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(g.workspace, "src", "parser"), 0o755); err != nil {
		g.t.Fatal(err)
	}
	text := "package parser\n\n// Lex reads tokens.\nfunc Lex(s string) []string { return nil }\n"
	if err := os.WriteFile(filepath.Join(g.workspace, "src", "parser", "lex.go"), []byte(text), 0o644); err != nil {
		g.t.Fatal(err)
	}
}

// fillChats makes chats, one with an earlier conversation.
func (g *gallery) fillChats() {
	g.t.Helper()
	name := "Main chat"
	call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: protocol.MainSession, Label: &name})
	for _, text := range []string{"list the Go files", "what can you do", "read main.go and tell me whether this is all that there is to it, because I had thought that there was more", "search for package"} {
		g.sendAndWait(protocol.SessionKey("agent:main:c"+strconv.Itoa(len(text))), text)
	}
	say := func(text string) {
		call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text})
		g.waitFor("the end of "+text, func() bool {
			m := g.messages(protocol.MainSession)
			return len(m) > 0 && m[len(m)-1].Role == protocol.RoleAssistant
		})
	}
	say("read main.go")
	call(g, protocol.SessionReset, protocol.SessionParams{SessionKey: protocol.MainSession})
	for _, text := range []string{"what can you do", "read README.md", "list the files"} {
		say(text)
	}
}

// fillTransfers makes transfers: done, failed, waiting for a machine, cancelled, and paused.
func (g *gallery) fillTransfers(here string) {
	g.t.Helper()
	send := func(name, to string) protocol.Transfer {
		return call(g, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{here + ":" + filepath.Join(g.workspace, name)}, Destination: to, Into: true})
	}
	for _, name := range []string{"README.md", "src", "no-such-file"} {
		t := send(name, "server:")
		g.waitFor("the end of a transfer", func() bool {
			t = call(g, protocol.TransferGet, protocol.TransferParams{ID: t.ID})
			return t.EndedAt != 0
		})
	}
	for _, isCancelled := range []bool{true, false} {
		big := send("photos.tar", "server:")
		g.waitFor("a transfer on its way", func() bool {
			t := call(g, protocol.TransferGet, protocol.TransferParams{ID: big.ID})
			return t.EndedAt != 0 || t.State == protocol.TransferRunning
		})
		// It may have finished before.
		if isCancelled {
			client.Call(context.Background(), g.c, protocol.TransferCancel, protocol.TransferParams{ID: big.ID})
		} else {
			client.Call(context.Background(), g.c, protocol.TransferPause, protocol.TransferParams{ID: big.ID})
		}
	}
}

// addWaitingTransfer sends a file to a machine that is offline.
func (g *gallery) addWaitingTransfer() {
	g.t.Helper()
	call(g, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{string(g.thisComputer()) + ":" + filepath.Join(g.workspace, "notes.txt")}, Destination: "nas:", Into: true, Later: true})
}

// thisComputer returns the ID of this computer, once it and the server are online.
func (g *gallery) thisComputer() (id protocol.NodeID) {
	g.t.Helper()
	g.waitFor("this computer and the server", func() bool {
		isServerUp := false
		for _, n := range call(g, protocol.NodesList, protocol.Empty{}).Nodes {
			if n.Local && n.Online {
				id = n.ID
			}
			isServerUp = isServerUp || n.Online && strings.HasPrefix(string(n.ID), "server")
		}
		return id != "" && isServerUp
	})
	return id
}
