package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// trick tries to control a terminal; it is in every text of the test gateway.
const trick = "\x1b]52;c;cm0=\a\u009b2J\u202e"

// specGateway implements only the methods of the specification, with one node. Its texts contain
// [trick].
type specGateway struct {
	mu      sync.Mutex // guards the fields below
	waiting string     // the run that waits for an approval
	methods []string   // that were called
}

// specAnswers are the payloads of the methods; the others answer {}.
var specAnswers = map[string]string{
	"tools.list":      `{"tools":[{"name":"gsv__ReadFile","description":"native"},{"name":"node-mac.local__Bash","description":"Runs a command TRICK","inputSchema":{}},{"name":"node-mac.local__Read","description":"Reads","inputSchema":{}}]}`,
	"tool.invoke":     `{"result":{"output":"Darwin TRICK\n","exitCode":0}}`,
	"config.get":      `{"path":"model","value":{"provider":"anthropic","id":"claude TRICK"}}`,
	"config.set":      `{"ok":true,"path":"model.id"}`,
	"logs.get":        `{"nodeId":"node-mac.local","lines":["a TRICK"],"count":1,"truncated":false}`,
	"sessions.list":   `{"sessions":[{"sessionKey":"agent:main:main","createdAt":1,"lastActiveAt":2,"label":"TRICK"}],"count":1}`,
	"session.preview": `{"sessionKey":"agent:main:main","sessionId":"s","messageCount":0,"messages":[]}`,
	"skills.status":   `{"agentId":"main","refreshedAt":1,"nodes":[],"skills":[{"name":"git","description":"TRICK","location":"global","always":false,"eligible":true,"eligibleHosts":[],"reasons":[],"requirements":{}}]}`,
	"skills.update":   `{"agentId":"main","refreshedAt":1,"nodes":[],"skills":[{"name":"git","description":"TRICK","location":"global","always":false,"eligible":true,"eligibleHosts":[],"reasons":[],"requirements":{}}]}`,
	"channels.list":   `{"channels":[{"channel":"aa","accountId":"TRICK","connectedAt":1,"lastMessageAt":1}],"count":1}`,
	"cron.add":        `{"ok":true,"job":{"id":"j1","agentId":"main","name":"nm TRICK","enabled":true,"schedule":{"kind":"every","everyMs":3600000},"spec":{"mode":"task","message":"x"},"state":{}}}`,
	"node.forget":     `{"ok":true,"nodeId":"node-mac.local","removed":true,"disconnected":false}`,
}

func startSpecGateway(t *testing.T) (g *specGateway, url string) {
	t.Helper()
	g = new(specGateway)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer ws.Close()
		for {
			var req struct {
				ID, Method string
				Params     json.RawMessage
			}
			if ws.ReadJSON(&req) != nil {
				return
			}
			g.answer(ws, req.ID, req.Method, req.Params)
		}
	}))
	t.Cleanup(server.Close)
	return g, "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"
}

func (g *specGateway) answer(ws *websocket.Conn, id, method string, params json.RawMessage) {
	g.mu.Lock()
	g.methods = append(g.methods, method)
	g.mu.Unlock()
	send := func(format string, args ...any) {
		quoted, _ := json.Marshal(trick)
		text := strings.ReplaceAll(fmt.Sprintf(format, args...), "TRICK", strings.Trim(string(quoted), `"`))
		ws.WriteMessage(websocket.TextMessage, []byte(text))
	}
	payload := specAnswers[method]
	info, known := protocol.MethodByName(method)
	switch {
	case !known || info.Extension:
		send(`{"type":"res","id":%q,"ok":false,"error":{"code":404,"message":"Unknown method: %s"}}`, id, method)
		return
	case method == "connect":
		var methods []string
		for _, m := range protocol.Methods {
			if !m.Extension {
				methods = append(methods, `"`+m.Name+`"`)
			}
		}
		payload = `{"type":"hello-ok","protocol":1,"server":{"version":"0.0.1","connectionId":"c"},"features":{"methods":[` + strings.Join(methods, ",") + `],"events":["chat"]}}`
	case payload == "":
		payload = "{}"
	}
	if method != "chat.send" {
		send(`{"type":"res","id":%q,"ok":true,"payload":%s}`, id, payload)
		return
	}
	g.chat(send, id, params)
}

// takeMethods returns the methods that were called since the last time.
func (g *specGateway) takeMethods() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	called := g.methods
	g.methods = nil
	return called
}

// chat answers chat.send, depending on the message.
func (g *specGateway) chat(send func(format string, args ...any), id string, params json.RawMessage) {
	var p protocol.ChatSendParams
	json.Unmarshal(params, &p)
	run := string(p.RunID)
	event := func(state, rest string) {
		send(`{"type":"evt","event":"chat","payload":{"runId":%q,"sessionKey":"agent:main:main","state":%q,%s}}`, run, state, rest)
	}
	started := func() {
		send(`{"type":"res","id":%q,"ok":true,"payload":{"status":"started","runId":%q}}`, id, run)
	}
	switch p.Message {
	case "/status":
		send(`{"type":"res","id":%q,"ok":true,"payload":{"status":"command","command":"status","response":"Session: main TRICK"}}`, id)
	case "delete":
		started()
		event("partial", `"message":{"role":"assistant","content":[{"type":"text","text":"I will look."},{"type":"toolCall","id":"1","name":"node-mac.local__Bash","arguments":{}}]}`)
		event("paused", `"message":{"role":"assistant","content":[{"type":"text","text":"Run paused: reply yes or no."}]}`)
		g.mu.Lock()
		g.waiting = run
		g.mu.Unlock()
	case "yes", "no":
		send(`{"type":"res","id":%q,"ok":true,"payload":{"status":"paused","runId":"x","response":"Noted: %s"}}`, id, p.Message)
		g.mu.Lock()
		run = g.waiting
		g.mu.Unlock()
		event("final", `"message":{"role":"assistant","content":[{"type":"text","text":"All right."}]}`)
	case "fail":
		started()
		event("error", `"error":"LLM error: TRICK overloaded"`)
	case "stream":
		started()
		event("delta", `"text":"one "`)
		event("delta", `"text":"two"`)
		event("final", `"message":{"role":"assistant","content":[{"type":"text","text":"one two"}]}`)
	default:
		started()
		send(`{"type":"evt","event":"chat","payload":{"runId":"another","sessionKey":"agent:main:main","state":"final","message":{"role":"assistant","content":[{"type":"text","text":"not yours"}]}}}`)
		event("final", `"message":{"role":"assistant","content":[{"type":"text","text":"Hello TRICK there."}]}`)
	}
}

// runCommand runs the program as in a terminal.
func runCommand(t *testing.T, url string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "t")
	return runArgs(t, append([]string{"--url", url, "--home", t.TempDir()}, args...))
}

// runArgs is runCommand in the present environment.
func runArgs(t *testing.T, args []string) (stdout, stderr string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	root := newRoot()
	o, e := newOutput(&out), newOutput(&problems)
	o.terminal, e.terminal = true, true
	root.SetOut(o)
	root.SetErr(e)
	root.SetIn(strings.NewReader(""))
	root.SetArgs(args)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := root.ExecuteContext(ctx)
	var exit *exitError
	if err != nil && !(errors.As(err, &exit) && exit.printed) {
		fmt.Fprintln(e, err)
	}
	o.close()
	e.close()
	return out.String(), problems.String(), exitCode(err, false)
}

// specCases are commands and their expected output for a gateway of the specification.
var specCases = []struct {
	args string
	code int
	want string // in the output on success, otherwise in the error
}{
	{"config get model", 0, `"anthropic"`},
	{"config set model.id claude", 0, ""},
	{"config schema", 1, "does not support setting descriptions (config.schema)"},
	{"status", 0, "version 0.0.1 supports only the basic protocol"},
	{"status", 0, "anthropic/claude"},
	{"status", 0, "node-mac.local  online"},
	{"status --json", 0, `"note": "version 0.0.1`},
	{"nodes", 0, "node-mac.local  online"},
	{"nodes list --json", 0, `"id": "node-mac.local"`},
	{"nodes show node-mac.local", 0, "Bash, Read"},
	{"nodes rename node-mac.local mac", 1, "does not support a machine list (nodes.update)"},
	{"nodes forget node-mac.local", 0, ""},
	{"doctor", 0, "· gateway"},
	{"doctor", 0, "machine node-mac.local"},
	{"doctor", 0, "2 tools"},
	{"send a.txt node-mac.local:", 1, "does not support file transfers (transfer.start)"},
	{"send --from node-mac.local x .", 1, "does not support file transfers (transfer.start)"},
	{"transfers list", 1, "does not support file transfers (transfer.list)"},
	{"tools list", 0, "node-mac.local__Bash"},
	{"tools call node-mac.local__Bash {}", 0, "Darwin"},
	{"tools call node-mac.local__Bash {} --json", 0, "Darwin"},
	{"logs", 0, "a "},
	{"nodes logs node-mac.local", 0, "a "},
	{"sessions list", 0, "agent:main:main"},
	{"sessions archives", 1, "does not support earlier conversations (session.archives)"},
	{"search needle", 1, "does not support search (sessions.search)"},
	{"skills list", 0, "git"},
	{"sessions set agent:main:main --title T", 0, "Changed"},
	{"sessions set agent:main:main --title T --tags a,b", 1, "does not support --tags"},
	{"channels list", 0, "aa"},
	{"schedules add nm task --every 1h", 0, "Created “nm"},
	{"schedules add nm task --every 1h --notify news", 1, "does not support --notify"},
	{"schedules add nm task --once 18:30", 1, "does not support --once"},
	{"network", 1, "does not support device pairing (device.list)"},
	{"network on", 1, "does not support device pairing (device.list)"},
	{"network off", 1, "does not support device pairing (device.list)"},
	{"network discovery on", 1, "does not support device pairing (device.list)"},
	{"models", 1, "does not support model lists (models.list)"},
	{"journal", 1, "does not support a call journal (journal.list)"},
	{"audit", 1, "does not support an audit log (audit.list)"},
	{"approvals list", 1, "does not support questions on the command line (question.list)"},
	{"approvals watch", 1, "does not support questions on the command line (question.watch)"},
	{"usage", 1, "does not support a report of usage (usage.report)"},
	{"servers list", 1, "does not support MCP servers (servers.list)"},
	{"tokens list", 1, "does not support connected apps (apps.list)"},
	{"call fs_stat {}", 1, "does not support the tools of apps (catalog.call)"},
	{"mcp", 1, `answered "400 Bad Request" instead of MCP`},
	{"approvals rules", 1, "does not support rules (rules.list)"},
	{"pair list", 1, "does not support device pairing (device.list)"},
	{"pause", 1, "does not support pausing the agent (agent.pause)"},
	{"chat hello", 0, "Hello"},
	{"chat stream", 0, "one two\n"},
	{"chat /status", 0, "Session: main"},
	{"chat /mode read-only", 1, "does not support /mode read-only"},
	{"chat /compact undo", 1, "does not support /compact undo"},
	{"chat !ls", 1, "does not support commands that start with !"},
	{"chat fail", 1, "overloaded"},
	{"chat delete", 5, `answer with "fairlead chat yes"`},
	{"chat --approve once delete", 0, "I will look.\nRun paused: reply yes or no.\nAll right.\n"},
	{"chat --approve deny delete", 5, "Noted: no"},
}

// TestChatsOfTheSpecificationHaveNoCount: GSV does not count the messages of its chats.
func TestChatsOfTheSpecificationHaveNoCount(t *testing.T) {
	_, url := startSpecGateway(t)
	if stdout, stderr, code := runCommand(t, url, "sessions", "list"); code != 0 || strings.Contains(stdout, "messages") {
		t.Errorf("got exit code %d, output %q, error %q, want a list without counts", code, stdout, stderr)
	}
}

func TestAnotherServerIsNotCalledAMissingGateway(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, stderr, code := runCommand(t, "ws"+strings.TrimPrefix(server.URL, "http")+"/other", "status")
	if code == 0 || !strings.Contains(stderr, `answered "404 Not Found" instead of a gateway`) || strings.Contains(stderr, "start one") {
		t.Errorf("got exit code %d, error %q, want one that names the answer", code, stderr)
	}
}

func TestCommandsWorkWithAGatewayOfTheSpecification(t *testing.T) {
	g, url := startSpecGateway(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range specCases {
		t.Run(c.args, func(t *testing.T) {
			stdout, stderr, code := runCommand(t, url, strings.Fields(c.args)...)
			got := stdout
			if c.code != 0 {
				got = stderr
			}
			if code != c.code || !strings.Contains(got, c.want) {
				t.Errorf("got exit code %d, output %q and error %q, want exit code %d and %q", code, stdout, stderr, c.code, c.want)
			}
			called := g.takeMethods()
			if writes := slices.DeleteFunc(called, func(m string) bool { return m == "connect" || m == "config.get" }); strings.Contains(c.want, "does not support") && len(writes) > 0 {
				t.Errorf("a command that is not supported called %q, want nothing but reads", writes)
			}
			if all := stdout + stderr; strings.ContainsFunc(all, unsafeToPrint) {
				t.Errorf("got %+q, want no control characters", all)
			}
			if c.args == "chat stream" && strings.Count(stdout, "one") != 1 || strings.Contains(stdout, "not yours") {
				t.Errorf("got %q, want the answer of this run, once", stdout)
			}
		})
	}
}
