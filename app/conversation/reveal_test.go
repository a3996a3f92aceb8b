package conversation

import (
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/pagetest"
	"fairlead/app/transcript"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func long(n int) State {
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}}
	for i := range n {
		s.Messages = append(s.Messages, user(fmt.Sprint("u", i), fmt.Sprint("question ", i)), assistant(fmt.Sprint("a", i), protocol.RunID(fmt.Sprint("r", i)),
			protocol.Text("an answer"), toolCall(fmt.Sprint("c", i), "server__Bash", `{"command":"make"}`)), result(fmt.Sprint("t", i), fmt.Sprint("c", i), "done", nil))
	}
	return s
}

// marked returns the key of the highlighted visible row.
func (d *desk) marked(t *testing.T) string {
	t.Helper()
	pagetest.Shot(t, d.win, "reveal")
	mark := test.WidgetRenderer(d.transcript).Objects()[0]
	for _, it := range d.transcript.Items() {
		if y, ok := d.position(it.Key); mark.Visible() && ok && y == mark.Position().Y {
			return it.Key
		}
	}
	return ""
}

// position returns the distance of a visible row from the top of the transcript.
func (d *desk) position(key string) (y float32, ok bool) {
	top, _ := d.transcript.Top()
	items := d.transcript.Items()
	first := slices.IndexFunc(items, func(it transcript.Item) bool { return it.Key == top })
	for i, r := range widgettest.All[transcript.Row](d.transcript) {
		if items[first+i].Key == key {
			return r.Position().Y, true
		}
	}
	return 0, false
}

func TestMessageThatWasFoundIsShownAndMarked(t *testing.T) {
	d := newDesk(t, 860, 500)
	d.Update(long(60))
	for id, want := range map[protocol.MessageID]string{"u20": "m/u20", "a30": "r/r30/1/text0", "t10": "r/r10/1/call0", "t59": "r/r59/1/call0"} {
		d.Reveal(id, "")
		if got := d.marked(t); got != want || d.PendingReveal() != "" {
			t.Errorf("%s: the row %q is marked, wanted %q", id, got, want)
		}
	}
	d.Tick(noon.Add(revealTime))
	if got := d.marked(t); got != "" {
		t.Errorf("the mark on %s stays", got)
	}
}

func TestOldMessageIsShownOnceItIsLoaded(t *testing.T) {
	d := newDesk(t, 860, 500)
	all := long(60)
	s := all
	s.Messages, s.More = all.Messages[90:], true
	d.Update(s)
	d.Reveal("u3", "")
	if d.PendingReveal() != "u3" || d.marked(t) != "" {
		t.Error("a message that is not there is said to be shown")
	}
	d.Update(all)
	if d.marked(t) != "m/u3" || d.PendingReveal() != "" {
		t.Errorf("marked: got %q, want m/u3 and nothing left to reveal", d.marked(t))
	}
	if y, ok := d.position("m/u3"); !ok || y > 60 {
		t.Error("it is not at the top of the view")
	}
	other := long(1)
	other.Session.SessionKey = "other"
	d.Reveal("gone", "")
	d.Update(other)
	if d.PendingReveal() != "" || d.marked(t) != "" {
		t.Error("another chat is searched for the message")
	}
}

func TestFoundTextIsMarkedInItsMessage(t *testing.T) {
	d := newDesk(t, 860, 500)
	s := long(60)
	s.Messages[92].Content = protocol.Content{protocol.Text(`{"output":"one\nthe needle\n"}`)} // result t30
	s.Messages[3].Content = protocol.Content{protocol.Text("a needle further up")}
	s.Messages[171].Content = protocol.Content{protocol.Text("a needle further down")}
	d.Reveal("t30", "needle")
	d.Update(s)
	f := d.finder
	if f.count.Text != "2 of 3, card expanded" || !f.box.Visible() {
		t.Errorf(`the search bar says %q; want "2 of 3, card expanded"`, f.count.Text)
	}
	if _, ok := d.position("r/r30/1/call0"); !ok {
		t.Error("the card is not in view")
	}
	if got := d.win.Canvas().Focused(); got != nil {
		t.Errorf("%T took the keyboard", got)
	}
	f.field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if f.count.Text != "3 of 3" {
		t.Errorf(`after Down it says %q, want "3 of 3"`, f.count.Text)
	}
	d.Reveal("t30", "needle")
	if f.count.Text != "2 of 3, card expanded" {
		t.Errorf(`the second time it says %q, want "2 of 3, card expanded"`, f.count.Text)
	}
	d.CloseFind()
	if f.box.Visible() {
		t.Error("the search bar stayed")
	}
}
