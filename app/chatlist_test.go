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
	u.main.open("agent:main:a")
	return u, v
}

// type presses keys in the list.
func press(u *ui, keys ...fyne.KeyName) {
	for _, k := range keys {
		u.main.sidebar.List.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

// rowOf returns the row of a chat.
func rowOf(t *testing.T, u *ui, title string) int {
	t.Helper()
	for i, r := range u.main.sidebar.List.Rows() {
		if r.Heading == nil && u.main.sidebar.List.Item(i).Title == title {
			return i
		}
	}
	t.Fatalf("no row %q in\n%s", title, u.main.lines())
	return 0
}

func TestListIsOneTabStopWithArrowKeys(t *testing.T) {
	u, _ := newChatList(t)
	c := u.main.conversation.Window.Canvas()
	c.Focus(u.main.sidebar.Search)
	u.main.sidebar.Search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	if c.Focused() != fyne.Focusable(u.main.sidebar.List) || u.main.sidebar.List.Cursor() != rowOf(t, u, "Chat A") {
		t.Fatalf("Down in the empty search field focuses %T, row %d", c.Focused(), u.main.sidebar.List.Cursor())
	}
	pagetest.Shot(t, u.main.conversation.Window, "list-focus")
	press(u, fyne.KeyDown, fyne.KeyDown)
	if got, want := u.main.sidebar.List.Cursor(), rowOf(t, u, "Chat C"); got != want {
		t.Errorf("after two times Down the cursor is on row %d, want %d", got, want)
	}
	press(u, fyne.KeyEnd, fyne.KeyReturn)
	if u.main.conversation.Page.Key() != "agent:main:e" || c.Focused() != u.main.conversation.Page.Pane.Composer() {
		t.Errorf("End and Enter open %s", u.main.conversation.Page.Key())
	}
	c.Focus(u.main.sidebar.List)
	press(u, fyne.KeyHome, fyne.KeyF2)
	if u.main.conversation.Page.Key() != "agent:main:a" {
		t.Errorf("F2 renames in %s", u.main.conversation.Page.Key())
	}
	c.Focus(u.main.sidebar.List)
	u.main.sidebar.List.TypedRune('b')
	if c.Focused() != fyne.Focusable(u.main.sidebar.Search) || u.main.sidebar.Search.Text != "b" {
		t.Errorf("a letter focuses %T with %q", c.Focused(), u.main.sidebar.Search.Text)
	}
	if got := u.main.lines(); got != "> Chat B\nSearch all messages" {
		t.Errorf("titles are not found at once:\n%s", got)
	}
	c.FocusNext()
	if c.Focused() != fyne.Focusable(u.main.sidebar.List) {
		t.Errorf("Tab goes from the search field to %T", c.Focused())
	}
}

func TestUnreadChatsAreMarkedAndVisited(t *testing.T) {
	u, v := newChatList(t)
	b := u.main.sidebar
	b.List.SetCursor(rowOf(t, u, "Chat C"))
	b.List.TypedShortcut(chatwindow.ListKey(fyne.KeyU))
	u.chats.Attention.MarkRead(false, v.Sessions.List[4])
	if got, want := u.main.lines(), "> Chat A\nChat B\nChat C new\nChat D\nChat E new"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	u.chats.Attention.OpenUnread(-1)
	if u.main.conversation.Page.Key() != "agent:main:e" {
		t.Errorf("the previous unread chat is %s", u.main.conversation.Page.Key())
	}
	u.chats.Attention.OpenUnread(1)
	if u.main.conversation.Page.Key() != "agent:main:c" || strings.Contains(u.main.lines(), "new") {
		t.Errorf("the next unread chat is %s:\n%s", u.main.conversation.Page.Key(), u.main.lines())
	}
	u.chats.Attention.OpenUnread(1)
	pagetest.Shows(t, u.messages.Toast, "No unread chats.")
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
	if got, want := u.main.lines(), "Run make -j4 on laptop ×2\nRun make clean on laptop\n> Chat A\nChat B ●\nChat C\nChat D ●\nChat E"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
	for _, want := range []protocol.SessionKey{"agent:main:b", "agent:main:d", "agent:main:b"} {
		u.chats.Attention.NextQuestion()
		if u.main.conversation.Page.Key() != want {
			t.Errorf("the next question is in %s, want %s", u.main.conversation.Page.Key(), want)
		}
	}
}

func TestNextQuestionKeyListsQuestionsWithoutAChat(t *testing.T) {
	u, v := newChatList(t)
	v.Questions.Pending = []protocol.Question{{ID: "d", Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{}}}
	u.update(v)
	if item := u.chats.ListMenu()[1]; item.Label != "Next question" || item.Disabled {
		t.Errorf("got %q, disabled %v, want the next question", item.Label, item.Disabled)
	}
	u.chats.Attention.NextQuestion()
	if u.nav.title != inboxTitle {
		t.Errorf("got the page %q, want %q", u.nav.title, inboxTitle)
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
	list, open := lines(u.chats.Menu(v.Sessions.List[:1])), lines(u.chats.ChatMenu(u.main.conversation.Page.Entry(), u.main.conversation))
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
	new := lines(u.chats.ChatMenu(protocol.SessionEntry{SessionKey: "agent:main:unknown"}, u.main.conversation))
	if slices.Contains(new, "Pin Ctrl P") {
		t.Errorf("a chat that is not stored: got %q, want no Pin", new)
	}
}

func TestKeysOfTheMenuActOnTheVisibleChat(t *testing.T) {
	u, _ := newChatList(t)
	key := func(text string) func() {
		for _, b := range u.main.bindings() {
			if b.Text == text {
				return b.Do
			}
		}
		t.Fatalf("no key for %q", text)
		return nil
	}
	e := u.main.conversation.Page.Entry()
	u.nav.openTitled(filesTitle)
	key("Mark as read or unread")()
	if u.unread.Has(e) {
		t.Error("a key marks a chat that a page hides")
	}
	u.nav.close()
	u.main.conversation.Window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyF2})
	if f := u.main.conversation.Window.Canvas().Focused(); f == nil || f == fyne.Focusable(u.main.conversation.Page.Pane.Composer()) {
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
		{"it has a draft", func(u *ui) { u.main.conversation.Page.Pane.SetDraft("half a thought") }, false},
		{"a message was sent", func(u *ui) { u.send("a thought") }, false},
		{"it has a window", func(u *ui) { u.chats.OpenWindow(unused) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newTestUI(t)
			v := sample()
			v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: unused})
			u.update(v)
			u.main.open(unused)
			c.use(u)
			u.main.open(protocol.MainSession)
			u.chats.Create()
			if got := u.main.conversation.Page.Key() == unused; got != c.opened {
				t.Errorf("New chat opened the unused chat: %v, want %v", got, c.opened)
			}
		})
	}
}
