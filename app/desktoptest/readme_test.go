//go:build desktop && gallery

package desktoptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

type turn struct{ text, tool, args string }

// buildTurns are the responses of the model for the picture of the README: a text, and a tool of
// the machine "server" with its arguments.
var buildTurns = []turn{
	{"I'll look at the last build log first.", "Read", `{"path":"build.log"}`},
	{"", "Edit", `{"path":"src/parse.c","oldString":"token_next(s, out)","newString":"token_next(s, out, pos)"}`},
	{"", "Bash", `{"command":"make -j4"}`},
	{"The build works again. `parse.c` called `token_next` with **two** arguments, but `token.h` declares three since Tuesday's change.\n\n" +
		"| File | Change |\n|---|---|\n| `src/parse.c` | passes the position of the scanner |\n\nAll 214 tests pass on *server*. Shall I restart the service?", "", ""},
}

// restartTurn is its response to what the person says after the repair.
var restartTurn = turn{"", "Bash", `{"command":"make -j4 && sudo systemctl restart parser"}`}

// buildModel is a model that repairs a build.
func buildModel(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role string } `json:"messages"`
			Tools    []json.RawMessage       `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.Write([]byte(`{"data":[{"id":"maple-large","context_length":128000}]}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(format string, a ...any) { fmt.Fprintf(w, "data: "+format+"\n\n", a...) }
		n := 0
		for _, m := range in.Messages {
			if m.Role == "tool" {
				n++
			}
		}
		turn := buildTurns[min(n, len(buildTurns)-1)]
		if n > 0 && in.Messages[len(in.Messages)-1].Role == "user" {
			turn = restartTurn
		}
		text, _ := json.Marshal(turn.text)
		say(`{"choices":[{"delta":{"content":%s}}]}`, text)
		end := "stop"
		if turn.tool != "" && len(in.Tools) > 0 {
			end = "tool_calls"
			say(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"server__%s","arguments":%q}}]}}]}`, n, turn.tool, turn.args)
		}
		say(`{"choices":[{"delta":{},"finish_reason":"%s"}],"usage":{"prompt_tokens":18900,"completion_tokens":70}}`, end)
		say("[DONE]")
	}))
	t.Cleanup(s.Close)
	return s
}

// TestGalleryOfTheReadme takes the pictures docs/chat.png and docs/approval.png.
func TestGalleryOfTheReadme(t *testing.T) {
	g := newGallery(t, "readme")
	g.clickText(mainWindow, "Start now")
	t.Setenv("HOME", t.TempDir())                   // the person's own profile may print something
	server := filepath.Join(os.TempDir(), "parser") // a short path for the pictures
	if err := os.Mkdir(server, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(server) })
	token, err := keychain.Open(g.home).Get(gateway.TokenName)
	if err != nil {
		t.Fatal(err)
	}
	runMachine(t, "server", server, g.addr, token.Reveal())
	here := g.thisComputer()
	for name, text := range map[string]string{
		"build.log":   "src/parse.c:2: too few arguments to function token_next\n",
		"src/parse.c": "int parse(scanner *s, tokens *out, int pos) {\n\treturn token_next(s, out);\n}\n",
		"Makefile": "all:\n\t@echo 'cc -O2 -c src/lex.c'\n\t@echo 'cc -O2 -c src/parse.c'\n\t@echo 'cc -o parser lex.o parse.o'\n" +
			"\t@printf '\\033[32mok\\033[0m   lex    0.12 s\\n\\033[32mok\\033[0m   parse  0.41 s\\n\\033[1m214 tests, none failed\\033[0m\\n'\n",
	} {
		path := filepath.Join(server, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, title := range []string{"Invoices of the quarter", "Holiday photos by year"} {
		key := protocol.SessionKey(fmt.Sprintf("agent:main:c%d", i))
		g.sendAndWait(key, "what can you do")
		call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: key, Label: &title})
	}
	for _, policy := range []string{`{"tool":"Edit","path":"**","verdict":"allow"}`, `{"tool":"Bash","argv":["make","-j4"],"verdict":"allow"}`} {
		call(g, protocol.RulePut, protocol.RulePutParams{Policy: json.RawMessage(policy)})
	}
	laptop := "laptop"
	call(g, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: here, Name: &laptop})
	for path, value := range map[string]any{
		"providers.compatible.baseUrl": buildModel(t).URL + "/v1", "model": map[string]string{"provider": "compatible", "id": "maple-large"}, "ui.theme": "light",
	} {
		if err := setConfig(g.c, path, value); err != nil {
			t.Fatal(err)
		}
	}
	const chat = protocol.SessionKey("agent:main:build")
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: chat, Message: "Why does the build fail on the server?"})
	g.waitFor("the answer", func() bool {
		all := g.messages(chat)
		return len(all) > 0 && strings.Contains(all[len(all)-1].Content.Text(), "restart the service")
	})
	title := "Failing build on the server"
	call(g, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: chat, Label: &title})
	w := g.resize(mainWindow, windowSizes[0])
	g.activate(w)
	for _, name := range []string{"Invoices", "Holiday", "Failing build"} { // none stays unread
		g.click(g.waitTextIn(mainWindow, name, sidebar))
	}
	g.waitTextIn(mainWindow, "none failed", content)
	g.moveMouseOut(mainWindow)
	g.savePicture(mainWindow, "chat")
	call(g, protocol.ChatSend, protocol.ChatSendParams{SessionKey: chat, Message: "Yes, please"})
	g.waitWindow(question)
	g.waitFor("a button that can be pressed", func() bool { return len(g.colouredAreas(buttonRow(g.waitWindow(question)))) > 0 })
	g.moveMouseOut(question)
	g.savePicture(question, "approval")
}
