package files

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// twoLists are the lists of the machines nas and box, each 500 wide. It records what is sent and
// the saved state of the page.
func twoLists(t *testing.T) (b *Pair, w fyne.Window, acts *[]string) {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	window := &pagetest.Host{}
	acts = &window.Did
	e := host.Env{Host: window, Feed: app.Feed, Drafts: app.Drafts, Prefs: new(preferences.Store)}
	b = &Pair{ctx: ctx, e: e, line: widgets.NewRect(style.ColorLine, "", 0), closeRight: func() {}}
	nodes := []protocol.NodeInfo{
		{ID: "nas", Name: "The box", Online: true, Files: true, Host: &protocol.HostInfo{Workspace: "/srv"}},
		{ID: "box", Name: "Server", Online: true, Files: true, Host: &protocol.HostInfo{Workspace: "/home/ann"}},
	}
	e.Feed.Machines.Update(func(l *feed.MachineList) { *l = nodes })
	b.left, b.right = newPage(ctx, e), newPage(ctx, e)
	b.active = b.left
	b.Box = container.New(&pairLayout{b})
	for i, p := range []*Page{b.left, b.right} {
		p.pair, p.list.now = b, pagetest.Clock
		v := filesOfMachine()
		v.Place = nodes[i].ID
		p.show(v)
	}
	b.layOut()
	return b, pagetest.Window(t, b.Box, 1001, 500), acts
}

// at returns a position in a list: on a row, or below all.
func at(p *Page, row int) fyne.Position {
	from := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.list)
	return from.AddXY(60, (float32(row)+0.5)*(rowHeight()+style.Gap))
}

func TestWideWindowShowsTwoLists(t *testing.T) {
	b, w, acts := twoLists(t)
	golden.Markup(t, "two", b.Box)
	if n := len(b.Box.Objects); n != 3 || b.right.Box.Position().X != 501 {
		t.Fatalf("%d objects, the right one at %v", n, b.right.Box.Position())
	}
	b.active = b.right
	w.Resize(fyne.NewSize(520, 500))
	if len(b.Box.Objects) != 1 || b.Box.Objects[0] != fyne.CanvasObject(b.right.Box) || b.right.Box.Size().Width != 520 {
		t.Fatal("a narrow window does not show the list that was used last alone")
	}
	pagetest.Shows(t, b.Box, "New folder")
	w.Resize(fyne.NewSize(1001, 500))
	if len(b.Box.Objects) != 3 {
		t.Fatal("they do not come back")
	}
	b.Toggle()
	if len(b.Box.Objects) != 1 || b.active != b.left {
		t.Fatal("the second is not put away")
	}
	w.Resize(fyne.NewSize(520, 500))
	b.Toggle()
	if len(*acts) != 1 || b.right != nil {
		t.Errorf("in a narrow window a second list was added, and it said %q", *acts)
	}
}

func TestFileDraggedToAnotherMachineIsSent(t *testing.T) {
	b, _, acts := twoLists(t)
	b.left.list.selection.One(1)
	b.left.list.selectionChanged()
	drag := func(to fyne.Position, note string) {
		t.Helper()
		b.left.drag.track(to)
		if got := b.left.note.Text(); got != note {
			t.Errorf("%q, want %q", got, note)
		}
		b.left.drag.finish()
		if b.right.dropHighlight.Visible() || b.right.list.dropPath != "" {
			t.Error("the aim is shown still")
		}
	}
	drag(at(b.right, 2), "Send “a.txt” to Server, folder ann")
	drag(at(b.right, 0), "Send “a.txt” to Server, folder src")
	drag(fyne.NewPos(2, 2), "4 items")
	drag(at(b.left, 3), "4 items") // it is already there
	var want []string
	for _, to := range []fyne.Position{at(b.right, 2), at(b.right, 0), fyne.NewPos(2, 2)} {
		want = append(want, fmt.Sprint("drop ", host.Drop{Machine: "nas", Paths: []string{"/srv/a.txt"}, At: to}))
	}
	if got := strings.Join(*acts, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for row, want := range map[int]string{2: "/home/ann", 0: "/home/ann/src"} {
		if id, dir, ok := b.At(at(b.right, row)); !ok || id != "box" || dir != want {
			t.Errorf("row %d: got %s %s, %t; want box %s", row, id, dir, ok, want)
		}
	}
	b.left.drag.track(at(b.right, 0))
	if b.right.list.dropPath != "src" || b.right.dropHighlight.Visible() {
		t.Error("the folder is not shown as the goal")
	}
	b.left.drag.track(at(b.right, 2))
	if b.right.list.dropPath != "" || !b.right.dropHighlight.Visible() {
		t.Error("the list is not shown as the goal")
	}
	golden.Markup(t, "aim", b.Box)
}

func TestReadOnlyFoldersAreNoDropTargets(t *testing.T) {
	b, _, acts := twoLists(t)
	v := b.right.view
	v.ReadOnly = true
	b.right.show(v)
	b.left.list.selection.One(1)
	b.left.drag.track(at(b.right, 2))
	if b.right.dropHighlight.Visible() {
		t.Error("it is shown as a goal")
	}
	b.left.drag.finish()
	if len(*acts) != 0 {
		t.Errorf("got %q; want no requests", *acts)
	}
}
