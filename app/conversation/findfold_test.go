package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// chatWithFolds is a chat with the word needle in a message, in collapsed thinking, in the
// command and the output of a collapsed card, and in an expanded card's output.
func chatWithFolds() State {
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}}
	long := strings.Repeat("nothing here\n", 300)
	s.Messages = append(
		s.Messages,
		user("1", "a needle in the question"),
		assistant("2", "r1", protocol.Block{Type: protocol.BlockThinking, Thinking: "Where is the Needle? The needle!"},
			toolCall("c1", "server__Bash", `{"command":"find needle"}`)),
		result("3", "c1", long+"the needle\n"+long, nil),
		assistant("4", "r1", protocol.Text("Found it.")),
		user("5", "thanks"),
		assistant("6", "r2", protocol.Text(strings.Repeat("Some more words.\n\n", 60))),
		user("7", "bye"),
	)
	return s
}

func (d *desk) rowOpen(t *testing.T, kind int) bool {
	t.Helper()
	for _, it := range d.transcript.Items() {
		if it.Kind == kind {
			id, open := collapsible(it)
			if was, chosen := d.choices.expanded[id]; chosen {
				open = was
			}
			return open
		}
	}
	t.Fatalf("no row of kind %d", kind)
	return false
}

func TestFindUnfoldsMatchesAndFoldsThemAgain(t *testing.T) {
	d := newDesk(t, 700, 500)
	d.Update(chatWithFolds())
	d.Find()
	f := d.finder
	f.field.SetText("needle")
	if f.count.Text != "5 of 5, card expanded" || !d.rowOpen(t, kindTool) {
		t.Errorf(`in the output it says %q, open %v; want "5 of 5, card expanded" and true`, f.count.Text, d.rowOpen(t, kindTool))
	}
	step := func(want string) {
		t.Helper()
		f.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
		if f.count.Text != want {
			t.Errorf("it says %q, want %q", f.count.Text, want)
		}
	}
	step("4 of 5")
	step("3 of 5, thinking expanded")
	if !d.rowOpen(t, kindThinking) {
		t.Error("the thought is folded")
	}
	step("2 of 5, thinking expanded")
	step("1 of 5")
	f.close()
	if d.rowOpen(t, kindTool) || d.rowOpen(t, kindThinking) {
		t.Errorf("card open %v, thought open %v; want false and false", d.rowOpen(t, kindTool), d.rowOpen(t, kindThinking))
	}
}

func TestFindLeavesOpenedRowsOpen(t *testing.T) {
	d := newDesk(t, 700, 500)
	d.Update(chatWithFolds())
	for _, it := range d.transcript.Items() {
		if it.Kind == kindThinking {
			id, _ := collapsible(it)
			d.choices.setExpanded("", id, true)
		}
	}
	d.Find()
	d.finder.field.SetText("needle")
	for range 2 {
		d.finder.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	}
	if d.finder.count.Text != "3 of 5" {
		t.Errorf(`it says %q, want "3 of 5"`, d.finder.count.Text)
	}
	for _, it := range d.transcript.Items() {
		if it.Kind == kindTool { // collapsed and expanded by hand while the search had expanded it
			id, _ := collapsible(it)
			d.choices.setExpanded("", id, false)
			d.choices.setExpanded("", id, true)
		}
	}
	d.finder.close()
	if !d.rowOpen(t, kindThinking) || !d.rowOpen(t, kindTool) {
		t.Error("it was folded")
	}
}

func TestFindOpensACardWhoseLineEndsBeforeTheMatch(t *testing.T) {
	d := newDesk(t, 700, 500)
	command := "find " + strings.Repeat("one thing and another, ", 6) + "and the needle"
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	d.Update(State{Session: protocol.SessionEntry{SessionKey: "k"}, Messages: []protocol.Message{
		user("1", "look for it"), assistant("2", "r1", toolCall("c1", "server__Bash", string(args))), result("3", "c1", "nothing", nil),
		assistant("4", "r1", protocol.Text("Not there.")), user("5", "thanks"), assistant("6", "r2", protocol.Text("Bye.")),
	}})
	d.Find()
	d.finder.field.SetText("find")
	if d.finder.count.Text != "1 of 1" || d.rowOpen(t, kindTool) {
		t.Errorf(`at the beginning of the line it says %q, open %v; want "1 of 1" and false`, d.finder.count.Text, d.rowOpen(t, kindTool))
	}
	d.finder.field.SetText("needle")
	if d.finder.count.Text != "1 of 1, card expanded" || !d.rowOpen(t, kindTool) {
		t.Errorf(`it says %q, open %v; want "1 of 1, card expanded" and true`, d.finder.count.Text, d.rowOpen(t, kindTool))
	}
	d.finder.close()
	if d.rowOpen(t, kindTool) {
		t.Error("the card stayed open")
	}
}

func TestFindSearchesLongChatsOffTheGUIThread(t *testing.T) {
	d := newDesk(t, 700, 500)
	d.Update(chatWithFolds())
	d.Find()
	d.host.Holds = true
	d.finder.field.SetText("needl")
	d.finder.field.SetText("needle") // while the previous search is running
	d.finder.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	if len(d.host.Held) != 1 || d.finder.count.Text != "" {
		t.Fatalf("%d searches are under way, it says %q; want 1 and nothing", len(d.host.Held), d.finder.count.Text)
	}
	d.host.Release()
	if d.finder.count.Text != "5 of 5, card expanded" {
		t.Errorf(`it says %q, want "5 of 5, card expanded"`, d.finder.count.Text)
	}
	d.finder.field.SetText("thanks")
	d.finder.close()
	d.host.Release()
	if d.finder.count.Text != "" && len(d.finder.matches) > 0 {
		t.Error("a search that ended late left something behind")
	}
}

func TestCopiedRowsEqualTheVisibleText(t *testing.T) {
	d := newDesk(t, 700, 500)
	d.Update(chatWithFolds())
	d.transcript.Selection.SelectAll()
	text := d.transcript.Selection.Text()
	if !strings.Contains(text, "find needle") || strings.Contains(text, "nothing here") || strings.Contains(text, "Where is the Needle") {
		t.Errorf(`folded: got %.300q; want "find needle" in it, no "nothing here" and no "Where is the Needle"`, text)
	}
	for _, it := range d.transcript.Items() {
		if id, _ := collapsible(it); id != "" {
			d.choices.setExpanded("", id, true)
		}
	}
	text = d.transcript.Selection.Text()
	if a, b := strings.Index(text, "Where is the Needle"), strings.Index(text, "nothing here"); a < 0 || b < a {
		t.Errorf("open: the thought at %d, the output at %d; want at least 0 and at least %d", a, b, a)
	}
}

func TestACardsTextHasAMenu(t *testing.T) {
	d := newDesk(t, 700, 500)
	d.Update(chatWithFolds())
	var card *transcript.CallCard
	for _, it := range d.transcript.Items() {
		if it.Kind == kindTool {
			d.transcript.ScrollTo(it.Key, 0)
		}
	}
	test.WidgetRenderer(d.transcript)
	for _, o := range test.WidgetRenderer(d.transcript).Objects() {
		if r, ok := o.(*row); ok {
			if c, ok := r.content.(*transcript.CallCard); ok {
				card = c
			}
		}
	}
	card.OnMenu(fyne.NewPos(100, 100))
	if d.win.Canvas().Overlays().Top() == nil {
		t.Error("no menu")
	}
}

func BenchmarkSearchOfLongOutputs(b *testing.B) {
	var items []transcript.Item
	for i := range 50 {
		t := transcript.Call{Verb: "Bash", Output: strings.Repeat("cc -O2 -Wall -c parse.c -o build/parse.o # nothing to see here\n", 200_000/64)}
		items = append(items, transcript.Item{Key: fmt.Sprint(i), Kind: kindTool, Data: toolData{id: fmt.Sprint(i), card: t}})
	}
	for b.Loop() {
		findMatches(items, "nothing to hear")
	}
}
