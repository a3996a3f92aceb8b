package shortcuts

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/pagetest"
	"fairlead/app/widgets"
)

func TestFilterFindsShortcutsByTheirText(t *testing.T) {
	pagetest.App(t)
	p := New(nil, []Group{{Name: "Chats"}, {Name: "Output", Keys: []widgets.KeyText{{Keys: "Ctrl F", Text: "Find"}}}},
		[]Binding{{Group: "Chats", Text: "Find in this chat", Key: fyne.KeyF}, {Group: "Chats", Text: "New chat", Key: fyne.KeyN}})
	if found := p.Lines("find in"); len(found) != 2 || found[0].Title != "Chats" || found[1].Title != "Find in this chat" {
		t.Errorf("a search for “find in”: got %+v, want one shortcut below its group", found)
	}
	if found := p.Lines("nothing like it"); len(found) != 0 {
		t.Errorf("a search without a result: got %+v, want nothing", found)
	}
}
