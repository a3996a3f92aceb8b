package chat

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/conversation"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// newAttachingPane is a pane that offers an item of a server.
func newAttachingPane(t *testing.T, item protocol.ServerItem) *desk {
	t.Helper()
	d := newDesk(t, 860, 600)
	d.composer.entry.completion.complete = func(_ Model, _ context.Context, before string, _ protocol.NodeID) Completions {
		found := Completions{Start: strings.LastIndex(before, "@")}
		if found.Start >= 0 {
			found.List = []Completion{{Icon: "file", Label: item.Title, Item: &item}}
		}
		return found
	}
	d.Update(conversation.State{Session: protocol.SessionEntry{SessionKey: "k"}})
	d.FocusComposer()
	return d
}

func TestAResourceIsAttachedInPlaceOfItsWord(t *testing.T) {
	d := newAttachingPane(t, protocol.ServerItem{Server: "docs", Kind: "resource", URI: "doc://plan", Title: "Plan"})
	e := d.composer.entry
	test.Type(e, "read @pl")
	key(e, fyne.KeyReturn)
	if e.Text != "read " {
		t.Errorf(`the field has %q, want "read "`, e.Text)
	}
	pagetest.Shows(t, d.composer.files.chips, "Plan", "Resource of docs")
	if x, ok := AttachedItemOf(d.composer.files.list[0]); !ok || x.Item.URI != "doc://plan" {
		t.Errorf(`attached: got %+v; want ok and Item.URI "doc://plan"`, x)
	}
	d.composer.submit()
	if len(d.host.Did) != 1 || !strings.HasPrefix(d.host.Did[0], `send "read\n\nAttached: the resource “Plan”`) {
		t.Errorf("did: got %q; want length 1 and a host.Did[0] that begins with `send \"read\\n\\nAttached: the resource “Plan”`", d.host.Did)
	}
}

func TestAPromptAsksForItsArguments(t *testing.T) {
	d := newAttachingPane(t, protocol.ServerItem{Server: "docs", Kind: "prompt", Name: "review", Title: "Review", Arguments: []protocol.ServerArgument{
		{Name: "file", Description: "The file to review", Required: true}, {Name: "style"},
	}})
	e := d.composer.entry
	test.Type(e, "@re")
	key(e, fyne.KeyTab)
	over := d.win.Canvas().Overlays().Top()
	if over == nil {
		t.Fatal("nothing asks")
	}
	ask := over
	pagetest.Shows(t, ask, "Prompt of docs", "The file to review", "style (optional)")
	attach := widgettest.Find(ask, func(b *widgets.Button) bool { return b.Text == "Attach" })
	test.Tap(attach)
	pagetest.Shows(t, ask, "Fill in “file”.")
	if len(d.composer.files.list) != 0 {
		t.Error("it was attached without its argument")
	}
	test.Type(d.win.Canvas().Focused(), "main.go")
	test.Tap(attach)
	if len(d.composer.files.list) != 1 {
		t.Fatal("it is not attached")
	}
	if x, _ := AttachedItemOf(d.composer.files.list[0]); x.Arguments["file"] != "main.go" || len(x.Arguments) != 1 {
		t.Errorf(`arguments: got %v; want Arguments["file"] "main.go" and length 1`, x.Arguments)
	}
	if d.win.Canvas().Focused() != e {
		t.Error("the field does not have the keyboard")
	}

	// Escape attaches nothing.
	test.Type(e, "@re")
	key(e, fyne.KeyTab)
	d.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if len(d.composer.files.list) != 1 || d.win.Canvas().Overlays().Top() != nil {
		t.Error("Escape does not close the form")
	}
}
