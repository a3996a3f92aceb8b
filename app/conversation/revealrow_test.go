package conversation

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/transcript"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestCardOpenedAtTheEndComesIntoView(t *testing.T) {
	d := newDesk(t, 900, 600)
	s := State{Session: protocol.SessionEntry{SessionKey: "k"}}
	for i := range 30 {
		s.Messages = append(s.Messages, user(string(rune('a'+i)), "a message"))
	}
	info := &protocol.CallInfo{CallID: "c", Tool: "Read", Node: "server", State: protocol.CallDone}
	s.Messages = append(s.Messages, assistant("A", "r", toolCall("x", "server__Read", `{"path":"x.go"}`)), result("B", "x", strings.Repeat("a line\n", 15), info))
	d.Update(s)
	d.transcript.ScrollToEnd()
	rows := widgettest.All[transcript.Row](d.transcript)
	card := rows[len(rows)-1].(*row).content.(*transcript.CallCard)
	card.SetOpen(true)
	card.OnToggle(true)
	driver := fyne.CurrentApp().Driver()
	end := driver.AbsolutePositionForObject(card).Y + card.Size().Height
	if limit := d.win.Canvas().Size().Height - foot; end > limit || card.Size().Height < 200 {
		t.Errorf("the card is %v high and ends at %v, the composer begins at %v", card.Size().Height, end, limit)
	}
}
