package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/llm"
	"fairlead/gateway/llm/operator"
	"fairlead/gateway/protocol"
)

var allTools = []string{"Bash", "Edit", "Glob", "Grep", "Read", "Write"}

func machineAt(id protocol.NodeID, home, workspace string, tools ...string) protocol.NodeInfo {
	return protocol.NodeInfo{ID: id, Online: true, Platform: "linux-x64", Host: &protocol.HostInfo{Home: home, Workspace: workspace}, Tools: tools}
}

// operatorCalls returns the calls that the operator makes for a request, as "tool arguments".
func operatorCalls(t *testing.T, machines []protocol.NodeInfo, current protocol.NodeID, text string) (calls []string, answer string) {
	t.Helper()
	req := llm.Request{
		System:   "Default machine: " + string(current.ToolPrefix()) + "\n",
		Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}},
	}
	for _, n := range machines {
		for _, tool := range n.Tools {
			if n.Online && !slices.Contains(n.Held, tool) {
				req.Tools = append(req.Tools, llm.Tool{Name: string(n.ID.ToolPrefix()) + "__" + tool})
			}
		}
	}
	for e, err := range (operator.Model{}).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case llm.EventText:
			answer += e.Text
		case llm.EventCall:
			calls = append(calls, e.Block.Name+" "+string(e.Block.Arguments))
		}
	}
	return calls, answer
}

// TestOperatorCarriesOutEveryExample combines folders, tools and machines of all kinds.
func TestOperatorCarriesOutEveryExample(t *testing.T) {
	t.Parallel()
	folders := []string{
		"", "/", "/home/ann", "/home/ann/work", "/home/ann/my work", "/home/ann/notes.", "/home/ann/what?", "/home/ann/a*b", "/srv/Größe 日本", `/srv/a "b"`, "/srv/a`b",
		"/srv/x on tower", "/srv/a\nb", `C:\Users\ann`, `C:\`, `D:`, `\\nas\share`, "/srv/it's", "/srv/src in docs", "/srv/" + strings.Repeat("deep/", 30),
	}
	tools := [][]string{allTools, {"Bash"}, {"Glob"}, {"Glob", "Grep", "Read"}, {"Bash", "Grep"}}
	for _, folder := range folders {
		for _, offered := range tools {
			for _, platform := range []string{"linux-x64", "windows-x64"} {
				here := machineAt("laptop", "/home/ann", folder, offered...)
				here.Platform = platform
				tower := machineAt("tower", "/home/bob", folder, allTools...)
				tower.Name = "The tower in the hall"
				odd := machineAt("Anna's nas.local", "/root", "/root", allTools...)
				odd.Held = []string{"Bash"}
				offline := tower
				offline.Online = false
				for _, machines := range [][]protocol.NodeInfo{{here}, {here, offline}, {here, tower}, {here, tower, odd}, {odd, here}} {
					checkExamples(t, machines, "laptop")
				}
				checkExamples(t, []protocol.NodeInfo{odd, tower}, "laptop") // the chosen one is offline
			}
		}
	}
}

func checkExamples(t *testing.T, machines []protocol.NodeInfo, current protocol.NodeID) {
	t.Helper()
	list := examplesFor(machines, current)
	if len(list) != maxExamples {
		t.Errorf("%d examples for %+v, want %d", len(list), machines, maxExamples)
	}
	calls := map[string]bool{}
	for _, e := range list {
		made, answer := operatorCalls(t, machines, current, e.request)
		if len(made) != 1 || answer != "" {
			t.Errorf("%q = %q %q, want one call", e.request, made, answer)
			continue
		}
		calls[made[0]] = true
		if strings.HasPrefix(e.request, "List the folder ") {
			n, _ := feed.MachineList(machines).Find(current)
			if want := fmt.Sprintf("{\"path\":%q", n.Host.Workspace); !strings.Contains(made[0], want) {
				t.Errorf("%q = %q, want %s", e.request, made[0], want)
			}
		}
		if n := len([]rune(e.label)); n > 43 {
			t.Errorf("the label %q has %d letters, want at most 43", e.label, n)
		}
	}
	if len(calls) != len(list) {
		t.Errorf("examples repeat a call: %v", list)
	}
}

func TestExamplesFitTheMachines(t *testing.T) {
	t.Parallel()
	laptop := machineAt("laptop", "/home/ann", "/home/ann/work", allTools...)
	tower, nas := machineAt("tower", "", "/srv", allTools...), machineAt("nas", "", "/data", allTools...)
	nas.Name = "Attic"
	offline := tower
	offline.Online = false
	windows := laptop
	windows.Platform = "windows-x64"
	deep := machineAt("laptop", "/home/ann", "/home/ann/projects/2026/customers/example", "Glob")
	for name, c := range map[string]struct {
		machines []protocol.NodeInfo
		want     string
	}{
		"one machine":       {[]protocol.NodeInfo{laptop}, "List the folder ~/work; Search for TODO; List the Markdown files; Run df -h"},
		"one is offline":    {[]protocol.NodeInfo{laptop, offline}, "List the folder ~/work; Search for TODO; List the Markdown files; Run df -h"},
		"two machines":      {[]protocol.NodeInfo{laptop, tower}, "List the folder ~/work; Search for TODO; Run df -h on tower; List the Markdown files"},
		"three machines":    {[]protocol.NodeInfo{laptop, tower, nas}, "List the folder ~/work; Search for TODO; Run df -h on tower; Run uptime on Attic"},
		"Windows":           {[]protocol.NodeInfo{windows}, "List the folder ~/work; Search for TODO; List the Markdown files; Run systeminfo"},
		"a long folder":     {[]protocol.NodeInfo{deep}, "List the folder ~/projects/2026…/example; List the Markdown files; List the image files; List the log files"},
		"nothing is online": {[]protocol.NodeInfo{offline}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var labels []string
			for _, e := range examplesFor(c.machines, "laptop") {
				labels = append(labels, e.label)
			}
			if got := strings.Join(labels, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func newChatState(machines ...protocol.NodeInfo) conversation.State {
	return conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}, Nodes: machines}
}

func (d *desk) chips() (chips []*widgets.Clickable) {
	widgettest.Visit(d.composer.examples.Box, func(o fyne.CanvasObject) {
		if c, ok := o.(*widgets.Clickable); ok {
			chips = append(chips, c)
		}
	})
	return chips
}

func TestExampleIsSentByClickAndByEnter(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(newChatState(machineAt("laptop", "/home/ann", "/home/ann/projects/2026/customers/example", allTools...)))
	for _, c := range d.chips() {
		test.Tap(c)
	}
	d.assert(t, `send "List the folder /home/ann/projects/2026/customers/example" 0 @`, `send "Search for TODO" 0 @`, `send "List the Markdown files" 0 @`, `send "Run df -h" 0 @`)

	isReached := func() bool { return d.win.Canvas().Focused() == fyne.Focusable(d.chips()[1]) }
	for i := 0; i < 20 && !isReached(); i++ {
		d.win.Canvas().FocusNext()
	}
	if !isReached() {
		t.Fatal("Tab does not reach the second example")
	}
	d.Update(d.chat.state) // the same facts leave the focus where it is
	if !isReached() {
		t.Error("an update without a change took the focus")
	}
	d.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	d.assert(t, `send "Search for TODO" 0 @`)

	s := d.chat.state
	s.Messages = []protocol.Message{user("1", "x")}
	d.Update(s)
	if d.composer.examples.Box.Visible() {
		t.Error("the examples are shown beside a message")
	}
}

func TestExamplesFollowTheMachinesAndTheModel(t *testing.T) {
	d := newDesk(t, 860, 600)
	d.Update(newChatState())
	pagetest.Shows(t, d.composer.examples.Box, "No machine is connected")
	if n := len(d.chips()); n != 0 {
		t.Errorf("without a machine: got %d examples, want 0", n)
	}
	s := newChatState(machineAt("laptop", "/home/ann", "/home/ann/work", allTools...), machineAt("tower", "", "/srv", allTools...))
	d.Update(s)
	pagetest.Shows(t, d.composer.examples.Box, "Ask in plain words", "List the folder ~/work", "Run df -h on tower")
	s.Model.Provider = "operator"
	d.Update(s)
	pagetest.Shows(t, d.composer.examples.Box, "The built-in operator carries out")
	d.composer.machineMenu()[1].Action()
	pagetest.Shows(t, d.composer.examples.Box, "List the folder /srv", "Run df -h on laptop")
}

func TestExamplesFitANarrowWindowWithTheLargestText(t *testing.T) {
	d := newDesk(t, 860, 600)
	laptop := machineAt("laptop", "/home/ann", "/home/ann/"+strings.Repeat("WORKSHOP/", 9), allTools...)
	tower := machineAt("tower", "", "/srv", allTools...)
	tower.Name = "MY OLD WORKSTATION IN THE HALL"
	s := newChatState(laptop, tower)
	s.Model.Provider = "operator"
	d.Update(s)
	pagetest.Fits(t, d.win)
	pagetest.Largest(d.win)
	pagetest.Fits(t, d.win)
	for _, c := range d.chips() {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(c)
		if end := at.X + c.Size().Width; at.X < 0 || end > 480 {
			t.Errorf("an example reaches from %v to %v in a window of 480; want at least 0 and at most 480", at.X, end)
		}
	}
}
