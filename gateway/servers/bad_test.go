//go:build unix

package servers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// asBadServer, if set, makes the test binary an MCP server without an SDK that does wrong what its
// value says.
const asBadServer = "TEST_BAD_SERVER"

// beBadServer serves standard input and output until it is closed.
func beBadServer(fault string) {
	if fault == "exit" {
		fmt.Fprintln(os.Stderr, "Error: API_KEY is not set\n    at main (index.js:3:9)\n\nNode.js v22.1.0")
		os.Exit(1)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string `json:"name"`
				RequestID any    `json:"requestId"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &r) != nil || r.Method == "" {
			continue
		}
		if r.Method == "notifications/cancelled" {
			os.WriteFile(os.Getenv("BAD_SERVER_NOTES"), fmt.Appendf(nil, "cancelled %v", r.Params.RequestID), 0o600)
		}
		if r.ID != nil {
			answerBadly(fault, r.Method, r.Params.Name, string(r.ID))
		}
	}
}

func answerBadly(fault, method, name, id string) {
	result := func(text string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, text) }
	switch method {
	case "initialize":
		fmt.Println(`{"level":"info","msg":"started"}`)
		result(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"bad","version":"1"}}`)
	case "tools/list":
		tool := func(name string) string { return `{"name":"` + name + `","inputSchema":{"type":"object"}}` }
		switch fault {
		case "duplicates":
			result(`{"tools":[` + strings.Join([]string{tool("dup"), tool("dup"), tool("dup"), tool("ok"), tool("a.b"), tool("a_b")}, ",") + `]}`)
		case "many":
			var list []string
			for i := range 400 {
				list = append(list, tool(fmt.Sprintf("t%d", i)))
			}
			result(`{"tools":[` + strings.Join(list, ",") + `]}`)
		case "cursor":
			result(`{"tools":[` + tool("one") + "," + tool("two") + `],"nextCursor":"8"}`)
		case "no_list":
			result(`{"tools":{"a":1}}`)
		case "invalid":
			result(`{"tools":[{"name":"number","description":7,"inputSchema":{}},{"name":"list","inputSchema":[]},{"description":"nameless"},null,` + tool("good") + `]}`)
		default:
			result(`{"tools":[` + strings.Join([]string{tool("good"), tool("half"), tool("long"), tool("never"), tool("bad_picture"), tool("failure"), tool("dies")}, ",") + `]}`)
		}
	case "tools/call":
		switch name {
		case "half":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"te`+"\n", id)
		case "long":
			result(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 40<<20) + `"}]}`)
		case "never":
		case "failure":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":"boom"}`+"\n", id)
		case "dies":
			fmt.Fprintln(os.Stderr, "\x1b[31mfatal: out of memory\x1b[0m")
			os.Exit(134)
		case "bad_picture":
			result(`{"content":[{"type":"text","text":"a chart"},{"type":"image","mimeType":"image/png","data":"!!"},{"type":"image","mimeType":"image/png","data":"UE5H"}]}`)
		default:
			result(`{"content":[{"type":"text","text":"fine"}]}`)
		}
	default:
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", id)
	}
}

// addBadServer adds a server that does something wrong, and waits until it is in a state.
func (h *testGateway) addBadServer(fault, state string) protocol.ServerName {
	h.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	name := protocol.ServerName(fault)
	ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: protocol.ServerSpec{
		Command: exe, Args: []string{"-test.run=^$"}, Env: map[string]string{asBadServer: fault, "BAD_SERVER_NOTES": h.work + "/notes"},
	}})
	h.untilState(name, state)
	return name
}

func (h *testGateway) log(name protocol.ServerName) string {
	h.t.Helper()
	return strings.Join(ask(h, protocol.ServerLogs, protocol.ServerParams{Name: name}).Lines, "\n")
}

// TestABadServerBreaksNoChat uses servers whose lists the APIs of models would refuse.
func TestABadServerBreaksNoChat(t *testing.T) {
	h := startGateway(t)
	for fault, want := range map[string]struct {
		tools []string
		log   string
	}{
		"duplicates": {[]string{"dup", "ok", "a_b_2e7336", "a_b"}, `Another tool "dup" is left out`},
		"cursor":     {[]string{"one", "two"}, "does not end"},
		"invalid":    {[]string{"list", "good"}, `"number", is left out`},
	} {
		name := h.addBadServer(fault, protocol.ServerReady)
		got := h.tools(name)
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want.tools))) {
			t.Errorf("%s: the tools are %q, want %q", fault, got, want.tools)
		}
		if log := h.log(name); !strings.Contains(log, want.log) || !strings.Contains(log, `{"level":"info","msg":"started"}`) {
			t.Errorf("%s: got the log:\n%s\nwant %q in it", fault, log, want.log)
		}
	}
	seen := make(map[string]bool)
	for _, one := range h.offeredTools() {
		if seen[one.Name] {
			t.Errorf("got two tools %s for the model, want one of each name", one.Name)
		}
		seen[one.Name] = true
	}
	if len(seen) < 8 {
		t.Errorf("got %d tools for the model, want at least 8", len(seen))
	}
}

// TestAProvidersLimitOfToolsHolds uses a server with more tools than OpenAI accepts.
func TestAProvidersLimitOfToolsHolds(t *testing.T) {
	h := startGateway(t)
	h.addBadServer("many", protocol.ServerReady)
	list := h.offeredTools()
	i := slices.IndexFunc(list, func(f function) bool { return f.Name == "gsv__FindTools" })
	if len(list) != 128 || i < 0 {
		t.Fatalf("the model gets %d tools and the search at %d, want 128 with the search", len(list), i)
	}
	theirs := slices.DeleteFunc(slices.Clone(list), func(f function) bool { return !strings.HasPrefix(f.Name, "many__") })
	if want := fmt.Sprintf("Left out are tools of: many (%d).", 400-len(theirs)); !strings.Contains(list[i].Description, want) {
		t.Errorf("the search is described as %q, want %q", list[i].Description, want)
	}
}

// function is a tool as the model gets it.
type function struct{ Name, Description string }

// offeredTools returns the tools in the next request to the model.
func (h *testGateway) offeredTools() (list []function) {
	h.t.Helper()
	h.model.add(reply{text: "hello"})
	ask(h, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "hi"})
	h.until("a request to the model", func() bool { return h.model.last() != "" })
	var request struct{ Tools []struct{ Function function } }
	if err := json.Unmarshal([]byte(h.model.last()), &request); err != nil {
		h.t.Fatal(err)
	}
	for _, one := range request.Tools {
		list = append(list, one.Function)
	}
	return list
}

// TestABadAnswerFailsAlone makes calls whose answers cannot be read, and others beside them.
func TestABadAnswerFailsAlone(t *testing.T) {
	h := startGateway(t)
	name := h.addBadServer("answers", protocol.ServerReady)
	since := h.status(name).Since
	for tool, want := range map[string]string{
		"half": "the answer of the server cannot be read", "long": "longer than 32 MiB", "good": "fine", "bad_picture": "a chart\n[picture, image/png, left out: it cannot be read]\n[picture, image/png, 3 bytes, left out: it is damaged",
	} {
		if got := h.invoke(protocol.NewToolName(protocol.NodeID(name), tool), `{}`); !strings.Contains(got, want) {
			t.Errorf("%s: got %.200q, want %q", tool, got, want)
		}
	}
	if got, want := h.invoke("answers__failure", `{}`), "the answer of the server cannot be read: error must be an object, not string."; !strings.Contains(got, want) {
		t.Errorf("an error that is a text: got %q, want %q", got, want)
	}
	if s := h.status(name); s.State != protocol.ServerReady || s.Since != since {
		t.Errorf("got %+v, want the connection of before\n%s", s, h.log(name))
	}
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "timeouts.toolMs", Value: []byte("1000")})
	if got := h.invoke("answers__never", `{}`); !strings.Contains(got, "timed out") {
		t.Errorf("a call without an answer: got %q, want a timeout", got)
	}
	h.until("the server learns that the call was cancelled", func() bool {
		notes, _ := os.ReadFile(h.work + "/notes")
		return strings.HasPrefix(string(notes), "cancelled")
	})
}

// TestServerThatEndsSaysWhy starts a command that ends at once.
func TestServerThatEndsSaysWhy(t *testing.T) {
	h := startGateway(t)
	name := h.addBadServer("exit", protocol.ServerFailed)
	if got := h.failure(name); got != "the command ended with exit code 1: Error: API_KEY is not set" {
		t.Errorf("got error %q, want the exit code and the last line", got)
	}
	h.addBadServer("no_list", protocol.ServerFailed)
	if got := h.failure("no_list"); got != "list the tools: the answer of the server cannot be read: tools must be a list, not object" {
		t.Errorf("got error %q, want that the list cannot be read", got)
	}
	h.addBadServer("answers", protocol.ServerReady)
	if got, want := h.invoke("answers__dies", `{}`), "was lost: the command ended with exit code 134: fatal: out of memory."; !strings.Contains(got, want) {
		t.Errorf("a call during which the command ended: got %q, want %q", got, want)
	}
}
