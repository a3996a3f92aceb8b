//go:build desktop

package desktoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// serverVariable, if set, makes the test program an MCP server on its standard input and output.
// With the value "asks", it has a tool that asks the person.
const serverVariable = "TEST_SERVER"

func TestMain(m *testing.M) {
	kind := os.Getenv(serverVariable)
	if kind == "" {
		os.Exit(m.Run())
	}
	server := newNotes()
	if kind == "asks" {
		server = newShop()
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type note struct {
	Text string `json:"text"`
}

// newNotes makes an MCP server with two tools.
func newNotes() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Title: "Paper notes", Version: "1.0"}, nil)
	for _, tool := range []mcp.Tool{{Name: "jot", Description: "Saves a note."}, {Name: "erase", Description: "Erases every note."}} {
		mcp.AddTool(s, &tool, func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "saved: " + in.Text}}}, nil, nil
		})
	}
	return s
}

// newShop makes an MCP server with a tool that asks the person what to order.
func newShop() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "shop", Title: "Paper shop", Version: "1.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "order", Description: "Orders paper."}, func(_ context.Context, r *mcp.CallToolRequest, _ note) (*mcp.CallToolResult, any, error) {
		if len(r.Params.InputResponses) == 0 {
			form := &mcp.ElicitParams{Mode: "form", Message: "Which paper shall I order?", RequestedSchema: json.RawMessage(`{"type":"object","required":["sheets"],"properties":{
				"sheets":{"type":"integer","title":"Number of sheets","minimum":1,"maximum":500,"description":"A pack has 500."},
				"colour":{"type":"string","title":"Colour","enum":["white","cream"]},
				"gift":{"type":"boolean","title":"Wrap it as a gift"}}}`)}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"paper": form}}, nil, nil
		}
		a := r.Params.InputResponses["paper"].(*mcp.ElicitResult)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("%s: %v sheets, gift %v", a.Action, a.Content["sheets"], a.Content["gift"])}}}, nil, nil
	})
	return s
}

// TestTheFormOfAnMCPServerIsAnswered lets the agent call a tool whose server asks the person, and
// fills in its form: first wrongly, then rightly.
func TestTheFormOfAnMCPServerIsAnswered(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	p.useDarkTheme(c)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	model := fakeModel(t, callOnce(modelCall{"shop__order", `{"text":"paper"}`}), "The paper model ordered it.")
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model":            map[string]string{"provider": "compatible", "id": "paper-model"},
		"mcp.servers.shop": map[string]any{"command": exe, "env": map[string]string{serverVariable: "asks"}},
	} {
		if err := setConfig(c, path, value); err != nil {
			t.Fatal(err)
		}
	}
	p.waitFor("the server", func() bool {
		r, err := client.Call(context.Background(), c, protocol.ServersList, protocol.Empty{})
		return err == nil && len(r.Servers) == 1 && r.Servers[0].State == protocol.ServerReady
	})
	p.activate(p.waitWindow(mainWindow))
	p.typeText("order paper")
	p.keys("Return")
	p.waitWindow(question)
	p.clickAction("Allow once")
	p.waitNoWindow(question)

	const asks = "asks you a question$"
	p.activate(p.waitWindow(asks))
	p.waitText(asks, "Which paper")
	p.screenshot("form")
	field := p.waitText(asks, "Number of sheets").Add(image.Pt(0, 30))
	p.click(field)
	p.typeText("501")
	send := func() {
		if now, ok := p.windowNamed(asks); ok {
			if areas := p.colouredAreas(buttonRow(now)); len(areas) > 0 {
				p.click(areas[0].Min.Add(areas[0].Size().Div(2)))
			}
		}
	}
	p.waitFor("what is wrong", func() bool {
		send()
		w, _ := p.windowNamed(asks)
		_, isSaid := find(p.readOnce(w, ""), "1 to 500")
		return isSaid
	})
	p.screenshot("wrong")
	p.click(field)
	p.keys("ctrl+a")
	p.typeText("250")
	p.clickText(asks, "Wrap it as a gift")
	p.screenshot("filled-in")
	p.waitFor("the answer", func() bool {
		send()
		_, isOpen := p.windowNamed(asks)
		return !isOpen
	})
	p.waitFor("the result", func() bool { return lastResult(p, c, "shop__order").Call != nil })
	if m := lastResult(p, c, "shop__order"); !strings.Contains(m.Content.Text(), "accept: 250 sheets, gift true") {
		t.Errorf("the result is %q, %+v", m.Content.Text(), m.Call)
	}
	p.waitText(mainWindow, "ordered it")
	p.screenshot("result")
}

// TestAnMCPServerServesTheAgent adds a server by its command, turns one of its tools off, lets the
// agent use the other one, and removes the server.
func TestAnMCPServerServesTheAgent(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	p.waitFor("this computer", func() bool {
		r, err := client.Call(context.Background(), c, protocol.NodesList, protocol.Empty{})
		return err == nil && len(r.Nodes) > 0 && r.Nodes[0].Online
	})
	p.useDarkTheme(c)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(p.workspace, "mcp-server-paper") // a short command to type
	if err := os.Symlink(exe, command); err != nil {
		t.Fatal(err)
	}
	servers := func() []protocol.ServerStatus {
		r, err := client.Call(context.Background(), c, protocol.ServersList, protocol.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Servers
	}

	p.openPage("Tools")
	p.waitTextIn(mainWindow, "No MCP servers yet", content)
	p.screenshot("empty")
	p.click(p.waitTextIn(mainWindow, "Add a server", contentTop))
	p.waitTextIn(mainWindow, "JSON snippet", content)
	p.typeText(serverVariable + "=yes " + command)
	p.waitTextIn(mainWindow, "With the variable", content)
	p.screenshot("add")
	p.click(p.waitTextIn(mainWindow, "Name", content).Add(image.Pt(20, 30)))
	p.keys("ctrl+a")
	p.typeText("notes")
	p.keys("Return")
	p.waitFor("the server", func() bool {
		list := servers()
		return len(list) == 1 && list[0].Name == "notes" && list[0].State == protocol.ServerReady
	})
	p.waitTextIn(mainWindow, "2 tools", content)
	p.screenshot("list")

	// Each tool has a switch.
	p.click(p.waitTextIn(mainWindow, "Paper notes", content))
	p.waitTextIn(mainWindow, "Saves a note", content)
	p.click(p.waitTextIn(mainWindow, "erase", content))
	p.waitFor("the tool that is off", func() bool { return slices.Equal(servers()[0].Spec.DisabledTools, []string{"erase"}) })
	p.screenshot("server")

	// The agent has the other tool. Its call asks, and the dialog names the server.
	var mu sync.Mutex
	var offered []string
	model := fakeModel(t, func(tools []string, done int) []modelCall {
		mu.Lock()
		defer mu.Unlock()
		offered = tools
		return callOnce(modelCall{"notes__jot", `{"text":"buy milk"}`})(tools, done)
	}, "The paper model wrote it down.")
	for path, value := range map[string]any{
		"apiKeys.compatible": "sk-desktop-test-key", "providers.compatible.baseUrl": model.URL + "/v1",
		"model": map[string]string{"provider": "compatible", "id": "paper-model"},
	} {
		if err := setConfig(c, path, value); err != nil {
			t.Fatal(err)
		}
	}
	p.click(p.waitTextIn(mainWindow, "Main chat", sidebar))
	p.waitText(mainWindow, "What would you")
	p.typeText("note that I have to buy milk")
	p.keys("Return")
	p.waitWindow(question)
	p.waitText(question, "notes")
	p.waitText(question, "buy milk")
	p.screenshot("question")
	p.clickAction("Allow once")
	p.waitNoWindow(question)
	if m := lastResult(p, c, "notes__jot"); m.Call == nil || m.Call.State != protocol.CallDone || !strings.Contains(m.Content.Text(), "saved: buy milk") {
		t.Errorf("the result is %q, %+v", m.Content.Text(), m.Call)
	}
	p.waitText(mainWindow, "wrote it down")
	p.screenshot("result")
	mu.Lock()
	if !slices.Contains(offered, "notes__jot") || slices.Contains(offered, "notes__erase") {
		t.Errorf("the agent has the tools %q", offered)
	}
	mu.Unlock()

	p.openPage("Tools")
	p.click(p.waitTextIn(mainWindow, "Paper notes", content))
	p.click(p.waitTextIn(mainWindow, "Remove", contentTop))
	cancel := p.waitTextIn(mainWindow, "Cancel", contentTop)
	p.screenshot("remove")
	p.click(cancel.Sub(image.Pt(90, 0))) // Remove, whose name is in the question, too
	p.waitFor("the end of the server", func() bool { return len(servers()) == 0 })
	p.waitTextIn(mainWindow, "No MCP servers yet", content)
}
