package files

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// filesOfMachine is a folder of a machine that supports the file browser.
func filesOfMachine() View {
	file := func(name string, size int64) Entry {
		return Entry{Path: name, Info: protocol.FileInfo{Name: name, Kind: protocol.FileRegular, Size: size, Time: pagetest.Noon.UnixMilli()}}
	}
	return View{
		Place: "nas", CanBrowse: true,
		Entries: []Entry{{Path: "src", Dir: true, Info: protocol.FileInfo{Name: "src", Kind: protocol.FileFolder}}, file("a.txt", 1), file("b.png", 2000), file("c.txt", 3)},
		Changed: []protocol.FileChange{{ID: "1", Path: "/srv/a.txt", SessionKey: "agent:main:main", RunID: "r", At: pagetest.Noon.UnixMilli(), Last: true}},
	}
}

func newMachinePage(t *testing.T) *Page {
	t.Helper()
	p := newTestPage(t)
	p.list.now = pagetest.Clock
	p.e.Feed.Update(func(v *feed.View) {
		v.Machines = []protocol.NodeInfo{{ID: "nas", Name: "The box", Online: true, Files: true, Host: &protocol.HostInfo{Workspace: "/srv"}}}
	}, p.e.Feed.All()...)
	p.show(filesOfMachine())
	return p
}

func TestAServedFolderShowsSizesAndWhatTheAgentChanged(t *testing.T) {
	p := newMachinePage(t)
	pagetest.Shows(t, p.Box, "2.0 kB", "changed by the agent", "New folder", "4 items")
	golden.Markup(t, "served", p.Box)
}

func TestKeysSelectEntriesAndF2RenamesInPlace(t *testing.T) {
	p := newMachinePage(t)
	key := func(name fyne.KeyName) { p.list.TypedKey(&fyne.KeyEvent{Name: name}) }
	key(fyne.KeyDown)
	key(fyne.KeyDown)
	if got := p.list.selectedEntries(); len(got) != 1 || got[0].Path != "a.txt" {
		t.Fatalf(`got %+v; want length 1 and got[0].Path "a.txt"`, got)
	}
	p.list.TypedShortcut(&fyne.ShortcutSelectAll{})
	pagetest.Shows(t, p.Box, "4 of 4 selected, 2.0 kB")
	key(fyne.KeyEscape)
	if len(p.list.selectedEntries()) != 0 {
		t.Error("Esc chooses nothing")
	}
	key(fyne.KeyDown)
	key(fyne.KeyF2)
	if p.list.renaming != "b.png" {
		t.Fatalf(`%q is being renamed, want "b.png"`, p.list.renaming)
	}
	var field *textField
	widgettest.Visit(p.list, func(o fyne.CanvasObject) {
		if f, ok := o.(*textField); ok && f.Visible() {
			field = f
		}
	})
	if field == nil || field.Text != "b.png" {
		t.Fatal("there is no field with the name")
	}
	if got := field.SelectedText(); got != "b" {
		t.Errorf("%q is selected, want the name without the extension", got)
	}
	v := filesOfMachine() // an unrelated change: the field stays
	v.Entries = v.Entries[:3]
	p.show(v)
	if !field.Visible() || p.list.renaming != "b.png" {
		t.Error("the field was taken away")
	}
	if have, need := field.Size().Height, field.MinSize().Height; have < need {
		t.Errorf("the field has a height of %v and needs %v", have, need)
	}
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if p.list.renaming != "" {
		t.Error("Esc leaves the name")
	}
	key(fyne.KeyF2)
	if !field.Visible() {
		t.Fatal("there is no field with the name again")
	}
	fyne.CurrentApp().Driver().CanvasForObject(p.Box).Unfocus()
	if p.list.renaming != "" || field.Visible() {
		t.Error("the name is still being written when the keyboard is elsewhere")
	}
}

func TestAListOfChangesLeadsToOne(t *testing.T) {
	// the page's requests have failed by the time of the check
	synctest.Test(t, func(t *testing.T) {
		p := newMachinePage(t)
		pagetest.Settle()
		test.Tap(pagetest.Button(t, p.Box, "Changes"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Changed by the agent", "Last turn")
		var list *widgets.ItemList
		widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
			if l, ok := o.(*widgets.ItemList); ok {
				list = l
			}
		})
		list.OnChoose(0)
		pagetest.Settle()
		pagetest.Button(t, p.Box, "Revert")
		p.show(filesOfMachine())
		pagetest.Settle()
		if !strings.Contains(test.RenderObjectToMarkup(p.Box), "Revert") {
			t.Error("a change elsewhere took it away")
		}
		test.Tap(pagetest.Button(t, p.Box, "All changes"))
		pagetest.Settle()
		test.Tap(pagetest.Button(t, p.Box, "All files"))
		pagetest.Settle()
		pagetest.Button(t, p.Box, "New folder")
	})
}

func TestPathFieldClosesWhenItLosesTheFocus(t *testing.T) {
	p := newMachinePage(t)
	canvas := fyne.CurrentApp().Driver().CanvasForObject(p.Box)
	p.EditPath()
	if canvas.Focused() != p.pathBar.field {
		t.Fatalf("%T has the keyboard, want %T", canvas.Focused(), p.pathBar.field)
	}
	canvas.Focus(p.list)
	if len(p.pathBar.box.Objects) == 1 && p.pathBar.box.Objects[0] == p.pathBar.field {
		t.Error("the field stays though nobody writes")
	}
}

func TestAFileThatWasRevertedIsNotMarked(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.Changed[0].Reverted = true
	p.show(v)
	if strings.Contains(test.RenderObjectToMarkup(p.Box), "changed by the agent") {
		t.Error("it is still marked")
	}
	if _, ok := v.ChangeOf("/srv/a.txt"); ok {
		t.Error("the file still offers the change")
	}
	p.changes.list("")
	pagetest.Shows(t, p.Box, "Reverted · Last turn")
}

func TestAFileThatWasWrittenOverIsNotMarked(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.Changed[0].Altered = true
	p.show(v)
	if strings.Contains(test.RenderObjectToMarkup(p.Box), "changed by the agent") {
		t.Error("the mark calls a change by hand the agent's")
	}
	p.changes.list("")
	pagetest.Shows(t, p.Box, "Changed again since · Last turn")
}

func TestAFolderSaysHowManyFilesBelowItTheAgentChanged(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	for _, name := range []string{"/srv/src/deep/x.go", "/srv/src/y.go", "/srv/srcs/z.go"} {
		v.Changed = append(v.Changed, protocol.FileChange{ID: name, Path: name, Last: true})
	}
	v.WatchProblem = "there are more than 8192 folders below"
	p.show(v)
	pagetest.Shows(t, p.Box, "2 files changed by the agent", "4 items · Changes in subfolders do not appear immediately: there are more than 8192 folders below")
}

func TestRenamedOrCreatedFileIsSelectedDespiteAnOlderList(t *testing.T) {
	for _, rename := range []bool{false, true} {
		p := newMachinePage(t)
		now := filesOfMachine()
		now.Entries = append(now.Entries, Entry{Path: "zeta", Dir: true})
		p.model.Value.Update(func(v *View) { *v = now })
		if rename {
			p.selectLater("", "zeta")
		} else {
			p.selectLater("zeta", "")
		}
		p.show(filesOfMachine())
		p.show(now)
		if got := p.list.selectedEntries(); len(got) != 1 || got[0].Path != "zeta" || rename != (p.list.renaming == "zeta") {
			t.Errorf("%+v is chosen, %q is being renamed", got, p.list.renaming)
		}
	}
}

func TestCtrlZUndoesTheLastActionOnce(t *testing.T) {
	p := newMachinePage(t)
	h := &pagetest.Host{}
	p.e.Host = h
	var undone []string
	var offered []func()
	act := func(name string) {
		p.actions.offerUndo(name, func() { undone = append(undone, name) })
		offered = append(offered, h.Undone)
	}
	ctrlZ := p.pair.Undo
	act("rename")
	act("move")
	act("delete")
	offered[1]() // the button of the message about the move
	ctrlZ()
	ctrlZ()
	if want := []string{"move", "delete", "rename"}; !slices.Equal(undone, want) {
		t.Errorf("undone: %v, want %v", undone, want)
	}
	offered[0]()
	ctrlZ()
	if len(undone) != 3 || h.Did[len(h.Did)-1] != "say There is nothing to undo." {
		t.Errorf("undone: %v, did %q", undone, h.Did)
	}
}

func TestHiddenFilesAppearOnRequest(t *testing.T) {
	p := newMachinePage(t)
	v := filesOfMachine()
	v.Hidden = 2
	p.show(v)
	pagetest.Shows(t, p.Box, "4 items · 2 hidden")
	v.Entries = nil
	p.show(v)
	pagetest.Shows(t, p.Box, "All files here are hidden")
	test.Tap(pagetest.Button(t, p.Box, "Show hidden files"))
	if isSaved := p.e.Prefs.Get().FilesHidden; !p.model.Value.Get().ShowHidden || !isSaved {
		t.Errorf("hidden files are shown: got %t, saved %t; want both", p.model.Value.Get().ShowHidden, isSaved)
	}
}
