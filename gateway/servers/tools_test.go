package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// rows, settings and machines are a manager's neighbours without files and nodes.
type rows struct{}

func (rows) List(context.Context) (map[protocol.ServerName]store.AcceptedTools, error) {
	return make(map[protocol.ServerName]store.AcceptedTools), nil
}
func (rows) Put(context.Context, protocol.ServerName, store.AcceptedTools) error { return nil }
func (rows) Delete(context.Context, protocol.ServerName) error                   { return nil }

type settings struct{ *config.Config }

func (s settings) Get() config.Config                               { return *s.Config }
func (settings) Set(context.Context, string, json.RawMessage) error { return nil }
func (s settings) Server(name protocol.ServerName) (protocol.ServerSpec, bool) {
	spec, ok := s.MCP.Servers[string(name)]
	return spec, ok
}

type machines []protocol.NodeInfo

func (m machines) Nodes() []protocol.NodeInfo { return m }

// ready makes a manager with a connected server that has these tools.
func ready(t *testing.T, nodes machines, tools ...*mcp.Tool) (*Manager, *config.Config) {
	t.Helper()
	c := config.Default()
	c.MCP.Servers["srv"] = protocol.ServerSpec{Command: "x"}
	m, err := Open(t.Context(), Options{Config: settings{&c}, Store: rows{}, Machines: nodes, Bus: new(event.Bus)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.find("srv")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range tools {
		if read, ok := readTool(&s.log, one); ok {
			s.tools = append(s.tools, read)
		}
	}
	setPublicNames("srv", s.tools)
	s.session, s.state = new(mcp.ClientSession), protocol.ServerReady
	m.accepted.first(t.Context(), "srv", s.tools)
	return m, &c
}

func object() map[string]any { return map[string]any{"type": "object"} }

func TestEveryToolHasANameThatModelsAccept(t *testing.T) {
	long := strings.Repeat("very_long_", 12)
	names := []string{"plain", "with.dot", "with_dot", "with/dot", "ünïcode", "a b", "_x", long + "one", long + "two"}
	var tools []*mcp.Tool
	for _, n := range names {
		tools = append(tools, &mcp.Tool{Name: n, InputSchema: object()})
	}
	m, _ := ready(t, nil, tools...)
	seen := map[string]bool{}
	for i, spec := range m.Toolbox().Tools() {
		if len(spec.Name) > protocol.MaxModelTool || notToolName.MatchString(spec.Name) || seen[spec.Name] {
			t.Errorf("%s: got the name %s, want a valid one of its own", names[i], spec.Name)
		}
		seen[spec.Name] = true
		found, _, err := m.Toolbox().lookup(protocol.ToolName(spec.Name))
		if err != nil || found.name != names[i] {
			t.Errorf("%s: got %q, error %v, want %s", spec.Name, found.name, err, names[i])
		}
	}
	if len(seen) != len(names) || !seen["srv__plain"] || !seen["srv__with_dot"] || !seen["srv___x"] {
		t.Errorf("got names %v, want %d, plain ones unchanged", seen, len(names))
	}
}

func TestToolsBeyondTheBudgetAreFoundBySearch(t *testing.T) {
	var tools []*mcp.Tool
	for i := range 50 {
		tools = append(tools, &mcp.Tool{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("x", 1000), InputSchema: object()})
	}
	tools = append(tools, &mcp.Tool{Name: "create_issue", Description: "Creates an issue on the tracker.", InputSchema: object()})
	m, c := ready(t, nil, tools...)
	for _, want := range []struct {
		budget, limit, tools int
		left                 string
	}{{60_000, -1, 51, ""}, {60_000, 51, 51, ""}, {60_000, 50, 50, "srv (1)"}, {60_000, 0, 0, "srv (51)"}, {10_000, -1, 9, "srv (42)"}} {
		c.MCP.ToolBudget = want.budget
		if list, left := m.Toolbox().ToolsFor("chat", want.limit); len(list) != want.tools || left != want.left {
			t.Errorf("budget %d, limit %d: got %d tools, left %q; want %d, %q", want.budget, want.limit, len(list), left, want.tools, want.left)
		}
	}
	out := m.Toolbox().findTools("chat", "issue Tracker")
	if len(out.Tools) != 1 || out.Tools[0].Name != "srv__create_issue" {
		t.Errorf("got %+v, want srv__create_issue", out)
	}
	has := func(key protocol.SessionKey) bool {
		list, _ := m.Toolbox().ToolsFor(key, 1)
		return slices.ContainsFunc(list, func(s protocol.ToolSpec) bool { return s.Name == "srv__create_issue" })
	}
	if !has("chat") || has("another chat") {
		t.Errorf("got the tool in its chat %v, in another %v, want true, false", has("chat"), has("another chat"))
	}
	if out := m.Toolbox().findTools("chat", "weather"); len(out.Tools) != 0 || !strings.Contains(out.Note, "No tool") {
		t.Errorf("got %+v, want no tool", out)
	}
}

// TestAMachineIsNotShadowedByAServer connects a machine whose name a server has.
func TestAMachineIsNotShadowedByAServer(t *testing.T) {
	m, _ := ready(t, machines{{ID: "SRV", Online: true}}, &mcp.Tool{Name: "Bash", InputSchema: object()})
	if list := m.Toolbox().Tools(); len(list) != 0 || m.Toolbox().Has("srv") {
		t.Errorf("got %+v, want no tool", list)
	}
}

func TestOnlyAnAcceptedFormOfAToolIsOffered(t *testing.T) {
	base := func() *mcp.Tool { return &mcp.Tool{Name: "t", Description: "d", InputSchema: object()} }
	yes := true
	for what, change := range map[string]func(*mcp.Tool){
		"description": func(x *mcp.Tool) { x.Description = "D" },
		"title":       func(x *mcp.Tool) { x.Title = "T" },
		"schema": func(x *mcp.Tool) {
			x.InputSchema = map[string]any{"type": "object", "properties": map[string]any{"key": map[string]any{"description": "your key"}}}
		},
		"output":      func(x *mcp.Tool) { x.OutputSchema = object() },
		"annotations": func(x *mcp.Tool) { x.Annotations = &mcp.ToolAnnotations{OpenWorldHint: &yes} },
		"name":        func(x *mcp.Tool) { x.Name = "new" },
	} {
		m, _ := ready(t, nil, base())
		s, _ := m.find("srv")
		if again, _ := readTool(&s.log, base()); again.hash != s.tools[0].hash {
			t.Fatal("the same tool has two hashes")
		}
		next := base()
		change(next)
		read, _ := readTool(&s.log, next)
		s.tools = []remoteTool{read}
		setPublicNames("srv", s.tools)
		if list := m.Toolbox().Tools(); len(list) != 0 {
			t.Errorf("with a changed %s: got %+v, want no tool", what, list)
		}
		if _, err := m.Toolbox().Lookup(protocol.NewToolName("srv", read.public)); err == nil {
			t.Errorf("with a changed %s: got no error, want one", what)
		}
		if err := m.accepted.add(t.Context(), "srv", s.tools); err != nil || len(m.Toolbox().Tools()) != 1 {
			t.Errorf("an accepted %s is not offered: %v", what, err)
		}
	}
}

// TestToolsThatComeLaterAreChanges is the attack of a server that has no tools when it is added.
func TestToolsThatComeLaterAreChanges(t *testing.T) {
	m, _ := ready(t, nil)
	s, _ := m.find("srv")
	read, _ := readTool(&s.log, &mcp.Tool{Name: "late", InputSchema: object()})
	s.tools = []remoteTool{read}
	setPublicNames("srv", s.tools)
	m.accepted.first(t.Context(), "srv", s.tools)
	if list := m.Toolbox().Tools(); len(list) != 0 {
		t.Errorf("got %+v, want no tool", list)
	}
}

func TestResultsAreLimited(t *testing.T) {
	big := strings.Repeat("y", 200_000)
	photo := make([]byte, 3<<20) // more than half of what fits
	copy(photo, "GIF87a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
	out := convert(&mcp.CallToolResult{Content: []mcp.Content{
		&mcp.TextContent{Text: big}, &mcp.TextContent{Text: big}, &mcp.ImageContent{Data: photo, MIMEType: "image/png"},
		&mcp.ImageContent{Data: photo, MIMEType: "image/png"}, &mcp.ImageContent{Data: []byte("x"), MIMEType: "text/html"},
		&mcp.ResourceLink{Name: "n", URI: "u://x"}, &mcp.AudioContent{Data: []byte("x"), MIMEType: "audio/wav"},
	}})
	if len(out.Content) != 2 || len(out.Content[0].Text) > 31_000 || out.Content[1].MimeType != "image/gif" {
		t.Errorf("got %d blocks, %d bytes of text, want 2, at most 31000", len(out.Content), len(out.Content[0].Text))
	}
	for _, want := range []string{"picture, image/png, 3145728 bytes, left out: the pictures of a result may have 5 MiB", "picture, text/html, 1 bytes, left out: it is damaged", "n: u://x", "sound, audio/wav"} {
		if !strings.Contains(out.Content[0].Text, want) {
			t.Errorf("got %s, want %q in it", out.Content[0].Text, want)
		}
	}
	if out := convert(&mcp.CallToolResult{StructuredContent: map[string]any{"a": 1}}); out.Content.Text() != `{"a":1}` || string(out.Structured) != `{"a":1}` {
		t.Errorf("got %+v, want the structured result as text", out)
	}
}

func TestEveryChangeOfAToolIsShown(t *testing.T) {
	yes := true
	base := mcp.Tool{Name: "echo", Description: "Returns the text.", InputSchema: map[string]any{"type": "object"}}
	for name, change := range map[string]func(*mcp.Tool){
		"title":       func(x *mcp.Tool) { x.Title = "new words" },
		"input":       func(x *mcp.Tool) { x.InputSchema = map[string]any{"type": "object", "title": "new words"} },
		"output":      func(x *mcp.Tool) { x.OutputSchema = map[string]any{"type": "object", "title": "new words"} },
		"annotations": func(x *mcp.Tool) { x.Annotations = &mcp.ToolAnnotations{Title: "new words", DestructiveHint: &yes} },
	} {
		t.Run(name, func(t *testing.T) {
			changed := base
			change(&changed)
			before, ok := readTool(&ring{}, &base)
			now, ok2 := readTool(&ring{}, &changed)
			if !ok || !ok2 {
				t.Fatal("the tools cannot be read")
			}
			accepted := store.AcceptedTools{"echo": {Hash: before.hash, Description: before.description, Definition: before.definition}}
			if got := now.describe(protocol.ServerSpec{}, accepted); !got.Changed || !strings.Contains(got.Diff, "new words") {
				t.Errorf("got %+v, want a diff with the change", got)
			}
		})
	}
}
