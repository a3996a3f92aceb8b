package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"

	"fyne.io/fyne/v2/container"
)

var noon = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

func at(before time.Duration) int64 { return noon.Add(-before).UnixMilli() }

func user(id, text string) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}, Timestamp: at(time.Minute)}
}

func assistant(id string, run protocol.RunID, blocks ...protocol.Block) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), RunID: run, Role: protocol.RoleAssistant, Content: blocks, Timestamp: at(time.Minute)}
}

func toolCall(id, name, args string) protocol.Block {
	return protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func result(id, call, text string, info *protocol.CallInfo) protocol.Message {
	return protocol.Message{ID: protocol.MessageID(id), Role: protocol.RoleToolResult, ToolCallID: call, ToolName: "server__Bash", Content: protocol.Content{protocol.Text(text)}, Call: info}
}

// lines returns the text of rows, one line each.
func lines(items []transcript.Item) string {
	var out []string
	for _, i := range items {
		switch d := i.Data.(type) {
		case messageData:
			out = append(out, strings.TrimSpace(d.sender+": "+d.text))
		case toolData:
			words := strings.Fields(fmt.Sprint(d.card.Verb, " ", d.card.Machine, " ", d.card.Argument, " ", d.card.Status, " ", d.card.Time))
			out = append(out, "["+strings.Join(words, " ")+"]")
		case thinkingData:
			out = append(out, "("+d.title+")")
		case noticeData:
			out = append(out, "- "+d.text)
		case problemData:
			out = append(out, "! "+d.problem.Title+" <"+d.action+">")
		case dayData:
			out = append(out, "-- "+d.text)
		case queuedData:
			out = append(out, "next "+d.text)
		}
	}
	return strings.Join(out, "\n")
}

func assertLines(t *testing.T, items []transcript.Item, want ...string) {
	t.Helper()
	if got := lines(items); got != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
	seen := map[string]bool{}
	for _, i := range items {
		if seen[i.Key] {
			t.Errorf("two rows with key %s", i.Key)
		}
		seen[i.Key] = true
	}
}

// desk is a view in a window that records what is done in it.
type desk struct {
	*View
	host    *pagetest.Now
	gateway pagetest.Gateway
	history *chats.History
	win     fyne.Window
}

func newDesk(t testing.TB, width, height float32) *desk {
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 1))
	d := &desk{host: &pagetest.Now{}, gateway: pagetest.Gateway{}}
	d.gateway[protocol.CallCancel.Name] = func(p any) (any, error) {
		d.note("stop call %s", p.(protocol.CallCancelParams).CallID)
		return nil, nil
	}
	f := feed.NewOf(d.gateway)
	d.View = New(t.Context(), host.Env{Host: d.host, Feed: f, Chats: chats.New(f), Machines: &style.Machines{}, Prefs: new(preferences.Store)}, widgets.NewEmptyState("", "Nothing", ""), author{d})
	d.history = chats.NewHistory(f, "k", func(context.Context, int64, int) ([]protocol.Message, bool, error) {
		d.note("load")
		return []protocol.Message{{Seq: 7}}, true, nil
	})
	f.Tasks.Wait()
	d.host.Did = nil
	d.Open(d.history)
	d.OnResize = func() { d.layOut(d.win) }
	d.win = pagetest.Window(t, container.New(deskLayout{d}, d.Content, d.Bar), width, height)
	d.Tick(noon)
	return d
}

// deskLayout lays a view out as the pane of a chat does.
type deskLayout struct{ d *desk }

func (deskLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(300, 200) }

// head and foot are the heights of a chat's header and composer.
const (
	head = 40
	foot = 110
)

func (l deskLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	top := float32(head)
	if l.d.Bar.Visible() {
		h := l.d.Bar.MinSize().Height
		l.d.Bar.Move(fyne.NewPos(0, top))
		l.d.Bar.Resize(fyne.NewSize(size.Width, h))
		widgets.Relayout(l.d.Bar)
		top += h
	}
	width, _ := Column(size.Width)
	l.d.LayOut(fyne.NewPos(0, top), fyne.NewSize(size.Width, size.Height-top-foot), width)
}

func (d *desk) layOut(w fyne.Window) {
	if w != nil {
		deskLayout{d}.Layout(nil, w.Canvas().Size())
	}
}

func (d *desk) note(format string, a ...any) {
	d.host.Did = append(d.host.Did, fmt.Sprintf(format, a...))
}

// Update shows a state.
func (d *desk) Update(s State) {
	d.Set(s)
	d.redraw()
}

// Tick passes the time.
func (d *desk) Tick(now time.Time) {
	if d.SetTime(now) {
		d.redraw()
	}
}

// author records what is done with messages and questions.
type author struct{ d *desk }

func (a author) Actions(protocol.Message) []Action { return nil }

func (a author) Retry(id protocol.RunID) { a.d.note("retry %s", id) }

func (a author) TakeBack(id protocol.RunID, text string) { a.d.note("unqueue %s", id) }

func (a author) Answer(q protocol.Question, decision string) {
	a.d.note("%s %s %s", decision, q.ID, q.Hash)
}

func (d *desk) assert(t *testing.T, want ...string) {
	t.Helper()
	d.shown.host.Feed.Tasks.Wait()
	if got := strings.Join(d.host.Did, "; "); got != strings.Join(want, "; ") {
		t.Errorf("did %s\nwant %s", got, strings.Join(want, "; "))
	}
	d.host.Did = nil
}

// button returns a visible button; see [pagetest.VisibleButton].
func (d *desk) button(text string) *widgets.Button {
	return pagetest.VisibleButton(d.win.Content(), text)
}
