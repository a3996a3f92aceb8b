package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chatwindow"
	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

var noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// newChatList shows chats a to e, the newest first, a and b of today, the others older. a is open.
func newChatList(t *testing.T) (*ui, feed.View) {
	u := newTestUI(t)
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true, Status: protocol.Status{MainSession: "agent:main:a"}}}
	for i, hours := range []int{1, 2, 20, 60, 500} {
		key := protocol.SessionKey(fmt.Sprintf("agent:main:%c", 'a'+i))
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: key, Title: fmt.Sprintf("Chat %c", 'A'+i), MessageCount: 2, LastActiveAt: noon.Add(-time.Duration(hours) * time.Hour).UnixMilli()})
	}
	u.update(v)
	u.main.Open("agent:main:a")
	return u, v
}

// type presses keys in the list.
func press(u *ui, keys ...fyne.KeyName) {
	for _, k := range keys {
		u.main.Sidebar.List.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

// rowOf returns the row of a chat.
func rowOf(t *testing.T, u *ui, title string) int {
	t.Helper()
	for i, r := range u.main.Sidebar.List.Rows() {
		if r.Heading == nil && u.main.Sidebar.List.Item(i).Title == title {
			return i
		}
	}
	t.Fatalf("no row %q in\n%s", title, lines(u.main))
	return 0
}

func TestListIsOneTabStopWithArrowKeys(t *testing.T) {
	u, _ := newChatList(t)
	c := u.main.Chat.Window.Canvas()
	c.Focus(u.main.Sidebar.Search)
	u.main.Sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if c.Focused() != fyne.Focusable(u.main.Sidebar.List) || u.main.Sidebar.List.Cursor() != rowOf(t, u, "Chat A") {
		t.Fatalf("Down in the empty search field focuses %T, row %d; want %T and %d", c.Focused(), u.main.Sidebar.List.Cursor(), fyne.Focusable(u.main.Sidebar.List), rowOf(t, u, "Chat A"))
	}
	pagetest.Shot(t, u.main.Chat.Window, "list-focus")
	press(u, fyne.KeyDown, fyne.KeyDown)
	if got, want := u.main.Sidebar.List.Cursor(), rowOf(t, u, "Chat C"); got != want {
		t.Errorf("after two times Down the cursor is on row %d, want %d", got, want)
	}
	press(u, fyne.KeyEnd, fyne.KeyReturn)
	if u.main.Chat.Page.Key() != "agent:main:e" || c.Focused() != u.main.Chat.Page.Pane.Composer() {
		t.Errorf(`End and Enter open %s; want "agent:main:e"`, u.main.Chat.Page.Key())
	}
	c.Focus(u.main.Sidebar.List)
	press(u, fyne.KeyHome, fyne.KeyF2)
	if u.main.Chat.Page.Key() != "agent:main:a" {
		t.Errorf(`F2 renames in %s, want "agent:main:a"`, u.main.Chat.Page.Key())
	}
	c.Focus(u.main.Sidebar.List)
	u.main.Sidebar.List.TypedRune('b')
	if c.Focused() != fyne.Focusable(u.main.Sidebar.Search) || u.main.Sidebar.Search.Text != "b" {
		t.Errorf(`a letter focuses %T with %q; want %T and "b"`, c.Focused(), u.main.Sidebar.Search.Text, fyne.Focusable(u.main.Sidebar.Search))
	}
	if got := lines(u.main); got != "> Chat B\nSearch all messages" {
		t.Errorf("titles are not found at once:\n%s", got)
	}
	c.FocusNext()
	if c.Focused() != fyne.Focusable(u.main.Sidebar.List) {
		t.Errorf("Tab goes from the search field to %T, want %T", c.Focused(), fyne.Focusable(u.main.Sidebar.List))
	}
}

func TestUnreadChatsAreMarkedAndVisited(t *testing.T) {
	u, v := newChatList(t)
	b := u.main.Sidebar
	b.List.SetCursor(rowOf(t, u, "Chat C"))
	b.List.TypedShortcut(chatwindow.ListKey(fyne.KeyU))
	u.main.Chats.Attention.MarkRead(false, v.Sessions.List[4])
	if got, want := lines(u.main), "> Chat A\nChat B\nChat C new\nChat D\nChat E new"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	u.main.Chats.Attention.OpenUnread(-1)
	if u.main.Chat.Page.Key() != "agent:main:e" {
		t.Errorf(`the previous unread chat is %s, want "agent:main:e"`, u.main.Chat.Page.Key())
	}
	u.main.Chats.Attention.OpenUnread(1)
	if u.main.Chat.Page.Key() != "agent:main:c" || strings.Contains(lines(u.main), "new") {
		t.Errorf("the next unread chat is %s:\n%s", u.main.Chat.Page.Key(), lines(u.main))
	}
	u.main.Chats.Attention.OpenUnread(1)
	pagetest.Shows(t, u.main.Chat.Messages.Toast, "No unread chats.")
}

func TestEqualQuestionsShareOneLine(t *testing.T) {
	u, v := newChatList(t)
	for i, key := range []protocol.SessionKey{"agent:main:b", "agent:main:b", "agent:main:d"} {
		q := approval(fmt.Sprint("q", i), key)
		q.Why = ""
		v.Questions.Pending = append(v.Questions.Pending, q)
	}
	v.Questions.Pending[2].Args = []byte(`{"command":"make clean"}`)
	u.update(v)
	if got, want := lines(u.main), "Run make -j4 on laptop ×2\nRun make clean on laptop\n> Chat A\nChat B ●\nChat C\nChat D ●\nChat E"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	for _, want := range []protocol.SessionKey{"agent:main:b", "agent:main:d", "agent:main:b"} {
		u.main.Chats.Attention.NextQuestion()
		if u.main.Chat.Page.Key() != want {
			t.Errorf("the next question is in %s, want %s", u.main.Chat.Page.Key(), want)
		}
	}
}

func TestNextQuestionKeyListsQuestionsWithoutAChat(t *testing.T) {
	u, v := newChatList(t)
	v.Questions.Pending = []protocol.Question{{ID: "d", Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{}}}
	u.update(v)
	if item := u.main.Chats.Actions.ListMenu()[1]; item.Label != "Next question" || item.Disabled {
		t.Errorf("got %q, disabled %v, want the next question", item.Label, item.Disabled)
	}
	u.main.Chats.Attention.NextQuestion()
	if u.main.Pages.Title() != inboxTitle {
		t.Errorf("got the page %q, want %q", u.main.Pages.Title(), inboxTitle)
	}
}

func TestChatHasOneMenu(t *testing.T) {
	u, v := newChatList(t)
	v.Sessions.List[0].Pinned, v.Sessions.List[0].Tags = true, []string{"work"}
	v.Sessions.List[1].Tags = []string{"home"}
	u.update(v)
	lines := func(items []*fyne.MenuItem) (all []string) {
		for _, i := range items {
			line := i.Label + " " + widgets.KeyName(i.Shortcut)
			if i.Icon == nil && !i.IsSeparator {
				line += " without an icon"
			}
			all = append(all, line)
			if i.ChildMenu != nil {
				for _, c := range i.ChildMenu.Items {
					all = append(all, fmt.Sprintf("- %s %v", c.Label, c.Checked))
				}
			}
		}
		return all
	}
	list, open := lines(u.main.Chats.Actions.Menu(v.Sessions.List[:1])), lines(u.main.Chats.Actions.ChatMenu(u.main.Chat.Page.Entry(), u.main.Chat))
	if !slices.Equal(list, open) {
		t.Errorf("the menu in the list is\n%q, that of the open chat\n%q", list, open)
	}
	want := []string{
		"Open in new window ", "Rename F2", "Export ", "- Markdown… false", "- HTML… false", "- JSON… false",
		"Unpin Ctrl P", "Mark as unread Ctrl U", "Archive Ctrl E", "Tags ", "- home false", "- work true", "- New tag… false",
		"Earlier conversations ", "Find in this chat Ctrl F", "Keyboard shortcuts Ctrl /", " ", "Start over ", "Delete chat Ctrl Shift Backspace",
	}
	if !slices.Equal(open, want) {
		t.Errorf("got  %q\nwant %q", open, want)
	}
	new := lines(u.main.Chats.Actions.ChatMenu(protocol.SessionEntry{SessionKey: "agent:main:unknown"}, u.main.Chat))
	if slices.Contains(new, "Pin Ctrl P") {
		t.Errorf("a chat that is not stored: got %q, want no Pin", new)
	}
}

func TestKeysOfTheMenuActOnTheVisibleChat(t *testing.T) {
	u, _ := newChatList(t)
	key := func(text string) func() {
		for _, b := range mainKeys(u.main, u.env(nil), u.Quit) {
			if b.Text == text {
				return b.Do
			}
		}
		t.Fatalf("no key for %q", text)
		return nil
	}
	e := u.main.Chat.Page.Entry()
	u.places.nav.open(filesTitle, nil)
	key("Mark as read or unread")()
	if u.unread.Has(e) {
		t.Error("a key marks a chat that a page hides")
	}
	u.main.Pages.Close()
	u.main.Chat.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyF2})
	if f := u.main.Chat.Window.Canvas().Focused(); f == nil || f == fyne.Focusable(u.main.Chat.Page.Pane.Composer()) {
		t.Error("F2 does not rename the chat")
	}
}

func TestNewChatOpensAnUnusedOne(t *testing.T) {
	const unused = protocol.SessionKey("agent:main:unused")
	for _, c := range []struct {
		name   string
		use    func(u *ui)
		opened bool
	}{
		{"nothing was done in it", func(*ui) {}, true},
		{"it has a draft", func(u *ui) { u.main.Chat.Page.Pane.SetDraft("half a thought") }, false},
		{"a message was sent", func(u *ui) { u.send("a thought") }, false},
		{"it has a window", func(u *ui) { u.main.Chats.OpenWindow(unused) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newTestUI(t)
			v := sample()
			v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: unused})
			u.update(v)
			u.main.Open(unused)
			c.use(u)
			u.main.Open(protocol.MainSession)
			u.main.Chats.Actions.Create()
			if got := u.main.Chat.Page.Key() == unused; got != c.opened {
				t.Errorf("New chat opened the unused chat: %v, want %v", got, c.opened)
			}
		})
	}
}
