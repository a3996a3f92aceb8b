package sidebar

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// bench is a sidebar without a gateway, in a window of its height.
type bench struct {
	*Sidebar
	*pagetest.Host
	w    fyne.Window
	side *fyne.Container
	f    *feed.Feed
}

// Create implements [Actions].
func (b *bench) Create() { b.Did = append(b.Did, "create") }

// ListMenu implements [Actions].
func (b *bench) ListMenu() []*fyne.MenuItem { return nil }

// Menu implements [Actions].
func (b *bench) Menu(list []protocol.SessionEntry) (items []*fyne.MenuItem) {
	for label, key := range map[string]fyne.Shortcut{"rename": KeyRename, "delete": KeyDelete} {
		item := fyne.NewMenuItem(label, func() { b.Did = append(b.Did, fmt.Sprint(label, " ", len(list))) })
		item.Shortcut = key
		items = append(items, item)
	}
	return items
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	b := &bench{Host: &pagetest.Host{}, f: app.Feed}
	note := func(v feed.View) string { return fmt.Sprint(len(v.Transfers.List)) }
	b.Sidebar = New(ctx, host.Env{Host: b.Host, Feed: app.Feed, Chats: app.Chats, Machines: &style.Machines{}}, Options{
		Title: "Fairlead", Unread: NewUnread(nil, func(map[protocol.SessionKey]int64) {}), Chats: b, Leave: func() { b.Did = append(b.Did, "leave") },
		Links: []Link{{Icon: "folder", Title: "Files"}, {Icon: "transfer", Title: "Transfers", Note: note}, {Icon: "calendar", Title: "Schedule"}, {Icon: "activity", Title: "Activity"}, {Icon: "settings", Title: "Settings"}},
	})
	b.now = pagetest.Clock
	b.side = container.NewStack(b.Content)
	b.w = pagetest.Window(t, b.side, 240, 760)
	return b
}

// update makes a view what is known about the gateway, and shows it in a window with a chat.
func (b *bench) update(v feed.View, chat protocol.SessionKey) {
	b.f.Update(func(now *feed.View) { *now = v }, b.f.All()...)
	b.Show(Place{Chat: chat})
}

// fiveChats are the chats a to e, the newest first, a and b of today, the others older.
func fiveChats() feed.View {
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true}}
	for i, hours := range []int{1, 2, 20, 60, 500} {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{
			SessionKey: protocol.SessionKey('a' + rune(i)), Title: fmt.Sprintf("Chat %c", 'A'+i), MessageCount: 2, LastActiveAt: pagetest.Noon.Add(-time.Duration(hours) * time.Hour).UnixMilli(),
		})
	}
	return v
}

// sample has something in every section.
func sample() feed.View {
	return feed.View{
		Status:   feed.Status{Connected: true, Loaded: true},
		Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a", Title: "Refactor the parser"}, {SessionKey: "b", Title: "Photos on the NAS"}}},
		Machines: []protocol.NodeInfo{{ID: "laptop", Online: true, Local: true}, {ID: "nas", LastSeenAt: pagetest.Noon.AddDate(0, 0, -1).UnixMilli()}},
		Runs:     feed.Runs{List: []protocol.RunInfo{{RunID: "r", SessionKey: "b", State: protocol.RunThinking}}},
		Questions: feed.Questions{Pending: []protocol.Question{{
			ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending, SessionKey: "a", Node: "laptop", Tool: "Bash",
			Args: []byte(`{"command":"make -j4"}`), Effect: protocol.EffectExec, Hash: "h",
		}}},
	}
}

// lines are the rows: > before the one that is open, ✓ before selected ones.
func (b *bench) lines() string {
	var out []string
	for i, r := range b.rows {
		item := b.List.Item(i)
		line := strings.TrimSpace(item.Title + " " + item.Detail)
		switch {
		case r.heading != "":
			continue
		case item.Checked:
			line = "✓ " + line
		case item.Selected:
			line = "> " + line
		}
		out = append(out, line)
	}
	for _, r := range b.machines.pool[:len(b.machines.shown)] {
		out = append(out, strings.TrimSpace(r.Item().Title+" "+r.Item().Detail))
	}
	return strings.Join(out, "\n")
}

func (b *bench) heads() string {
	var list []string
	for _, r := range b.rows {
		if r.heading != "" {
			list = append(list, r.heading)
		}
	}
	return strings.Join(list, ", ")
}

// rowOf returns the row of a chat.
func (b *bench) rowOf(t *testing.T, title string) int {
	t.Helper()
	i := slices.IndexFunc(b.rows, func(r row) bool { return r.heading == "" && b.itemOf(r).Title == title })
	if i < 0 {
		t.Fatalf("no row %q in\n%s", title, b.lines())
	}
	return i
}

// press presses keys in the list.
func (b *bench) press(keys ...fyne.KeyName) {
	for _, k := range keys {
		b.List.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

func TestSidebarMatchesGolden(t *testing.T) {
	b := newBench(t)
	b.o.Links[1].Note = nil
	b.update(sample(), "a")
	golden.Markup(t, "full", b.side)
	b.query, b.results = "nas", []chats.Match{
		{Chat: protocol.SessionEntry{SessionKey: "b", Title: "Photos on the NAS"}},
		{Chat: protocol.SessionEntry{SessionKey: "c", Title: "Backup"}, Hit: &protocol.SearchHit{Snippet: []protocol.Snippet{{Text: "copy it to the "}, {Text: "nas", Mark: true}, {Text: " at night"}}}},
	}
	b.draw()
	golden.Markup(t, "search", b.side)
	b.query, b.results, b.complete = "nothing like it", nil, true
	b.draw()
	golden.Markup(t, "nothing-found", b.side)
	b.query = ""
	b.update(feed.View{}, "a")
	golden.Markup(t, "empty", b.side)
}

func TestChatsAreInGroupsWithViewsForArchivedAndTagged(t *testing.T) {
	b, v := newBench(t), fiveChats()
	v.Sessions.List[1].Pinned = true
	v.Sessions.List[2].Tags = []string{"work"}
	v.Sessions.List[3].Archived = true
	b.update(v, "a")
	if got, want := b.heads(), "CHATS, Pinned, Today, Yesterday, March"; got != want {
		t.Errorf("headings %q, want %q", got, want)
	}
	if got, want := b.lines(), "Chat B\n> Chat A\nChat C work\nChat E\nArchived 1"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	pagetest.Shot(t, b.w, "list-groups")
	widgets.Focus(b.List)
	b.press(fyne.KeyEnd, fyne.KeyReturn)
	if got, want := b.heads()+"\n"+b.lines(), "ARCHIVED, Previous 7 days\nAll chats\nChat D"; got != want {
		t.Errorf("archived:\n%s\nwant:\n%s", got, want)
	}
	for _, item := range b.listMenu() {
		if item.Label == "Tag “work” (1)" {
			item.Action()
		}
	}
	if got, want := b.heads()+"\n"+b.lines(), "WORK, Yesterday\nAll chats\nChat C"; got != want {
		t.Errorf("tagged:\n%s\nwant:\n%s", got, want)
	}
	v.Sessions.List[2].Tags = nil
	b.update(v, "a")
	if got := b.lines(); got != "All chats\nNo chats with this tag" {
		t.Errorf("without a chat:\n%s", got)
	}
}

func TestSeveralChatsAreSelectedWithCtrlAndShift(t *testing.T) {
	b := newBench(t)
	b.update(fiveChats(), "a")
	b.List.OnTap(b.rowOf(t, "Chat B"), fyne.KeyModifierShortcutDefault)
	b.List.OnTap(b.rowOf(t, "Chat D"), fyne.KeyModifierShift)
	if got, want := b.lines(), "> Chat A\n✓ Chat B\n✓ Chat C\n✓ Chat D\nChat E"; got != want {
		t.Errorf("selected:\n%s\nwant:\n%s", got, want)
	}
	pagetest.Shot(t, b.w, "list-selected")
	if n := len(b.affectedChats(b.rowOf(t, "Chat E"))); n != 1 {
		t.Errorf("the menu of a row that is not selected is for %d chats", n)
	}
	b.press(fyne.KeyDelete, fyne.KeyF2)
	if want := []string{"delete 3", "rename 1"}; !slices.Equal(b.Did, want) {
		t.Errorf("Delete and F2: got %q, want %q", b.Did, want)
	}
	b.press(fyne.KeyEscape)
	if strings.Contains(b.lines(), "✓") {
		t.Errorf("after Escape:\n%s", b.lines())
	}
	b.List.TypedShortcut(&fyne.ShortcutSelectAll{})
	if n := strings.Count(b.lines(), "✓"); n != 5 {
		t.Errorf("Ctrl+A selects %d chats, want 5", n)
	}
	b.Show(Place{Chat: "new"}) // which is not stored
	b.List.TypedShortcut(&fyne.ShortcutSelectAll{})
	if n := len(b.affectedChats(-1)); n != 5 || !strings.HasPrefix(b.lines(), "> New chat\n✓ Chat A") {
		t.Errorf("%d chats would be deleted:\n%s", n, b.lines())
	}
	b.Did = nil
	b.List.OnTap(b.rowOf(t, "Chat C"), 0)
	if len(b.Did) != 1 || !strings.HasPrefix(b.Did[0], "chat {c") || strings.Contains(b.lines(), "✓") {
		t.Errorf("a click does %q and leaves\n%s", b.Did, b.lines())
	}
}

func TestFoundMessageOpensItsChat(t *testing.T) {
	b := newBench(t)
	b.update(fiveChats(), "a")
	b.Search.SetText("chat")
	hit := &protocol.SearchHit{SessionKey: "b", MessageID: "3"}
	b.results = []chats.Match{{Chat: protocol.SessionEntry{SessionKey: "b"}, Hit: hit}}
	b.Search.OnChoose()
	if want := fmt.Sprintf("chat %v", host.Chat{Key: "b", Hit: hit}); !slices.Equal(b.Did, []string{want}) || b.Search.Text != "" {
		t.Errorf("did %q with %q in the field, want %q", b.Did, b.Search.Text, want)
	}
}

func TestHeadingsFollowTheThemeWhileOthersAreShown(t *testing.T) {
	b := newBench(t)
	b.update(fiveChats(), "a")
	before := b.heading(chatsHead, 0)
	b.Search.SetText("chat")
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Dark, 1))
	b.Search.SetText("")
	if b.heading(chatsHead, 0) == before {
		t.Error("the heading keeps the icon of the old theme")
	}
	if same := b.heading(chatsHead, 0); same != b.heading(chatsHead, 0) {
		t.Error("the heading is not reused")
	}
}

func TestListWithoutChatsHasNoHeading(t *testing.T) {
	b := newBench(t)
	b.update(feed.View{Status: feed.Status{Loaded: true}}, "")
	if got := b.heads(); got != "" {
		t.Errorf(`headings: got %q, want ""`, got)
	}
	b.update(feed.View{Status: feed.Status{Loaded: true}, Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "s", Title: "A chat"}}}}, "")
	if got := b.heads(); !strings.HasPrefix(got, "CHATS") {
		t.Errorf(`headings with a chat: %q, want it to begin with "CHATS"`, got)
	}
}

func TestRowsOpenTheirPlaces(t *testing.T) {
	b := newBench(t)
	b.update(sample(), "a")
	b.press(fyne.KeyHome, fyne.KeyReturn)
	b.Links[1].OnTap()
	for _, r := range b.machines.pool[:len(b.machines.shown)] {
		r.OnTap()
	}
	test.Tap(pagetest.Button(t, b.machines.box.Objects[0], ""))
	if want := []string{"question q", "page Transfers", "machine laptop", "machine nas", "newmachine {}"}; !slices.Equal(b.Did, want) {
		t.Errorf("did %q, want %q", b.Did, want)
	}
}

func TestMachinesStayInViewBesideManyChats(t *testing.T) {
	b, v := newBench(t), sample()
	v.Questions.Pending = nil
	b.update(v, "a")
	list, shelf := b.middle.Objects[0], b.middle.Objects[1]
	if rest := b.middle.Size().Height - list.Size().Height - shelf.Size().Height; rest < 100 {
		t.Errorf("few chats and machines do not stand together: %v is left", rest)
	}
	for i := range 300 {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("n", i)), Title: fmt.Sprint("Chat ", i)})
	}
	for i := range 40 {
		v.Machines = append(v.Machines, protocol.NodeInfo{ID: protocol.NodeID(fmt.Sprint("box-", i)), Online: true})
	}
	for _, height := range []float32{760, 560} {
		b.w.Resize(fyne.NewSize(240, height))
		b.update(v, "a")
		share := shelf.Size().Height / b.middle.Size().Height
		if share < 0.4 || share > 0.5 || list.Size().Height < 100 {
			t.Errorf("%v high: machines have %v of it, chats %v", height, share, list.Size())
		}
	}
	pagetest.Shot(t, b.w, "sidebar-many")
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	last := b.machines.pool[len(v.Machines)-1] // scrolled out of view
	if id, _, ok := b.MachineAt(place(last).AddXY(20, 4)); ok {
		t.Errorf("what is dropped on the foot goes to %s", id)
	}
	first := b.machines.pool[0]
	if id, _, ok := b.MachineAt(place(first).AddXY(20, 4)); !ok || id != v.Machines[0].ID {
		t.Errorf("what is dropped on the first machine goes to %q; want %q", id, v.Machines[0].ID)
	}
}

func TestMachineSaysHowLongItHasBeenOffline(t *testing.T) {
	b, v, now := newBench(t), sample(), pagetest.Noon
	v.Machines[1].LastSeenAt = now.Add(-10 * time.Minute).UnixMilli()
	b.now = func() time.Time { return now }
	b.update(v, "a")
	if got := b.lines(); !strings.Contains(got, "nas 10 min") {
		t.Fatalf("sidebar:\n%s", got)
	}
	now = now.Add(5 * time.Minute)
	b.Show(b.place)
	if got := b.lines(); !strings.Contains(got, "nas 15 min") {
		t.Errorf("five minutes later:\n%s", got)
	}
}

func TestNotesDoNotClipTheNamesOfPages(t *testing.T) {
	b, v := newBench(t), sample()
	for i := range 12 {
		v.Transfers.List = append(v.Transfers.List, protocol.Transfer{ID: protocol.TransferID(fmt.Sprint(i))})
	}
	b.update(v, "a")
	pagetest.Shot(t, b.w, "sidebar-foot")
	for _, row := range b.Links {
		pagetest.Shows(t, row, ">"+row.Item().Title+"<")
	}
	pagetest.Shows(t, b.Links[1], ">12<")
}
