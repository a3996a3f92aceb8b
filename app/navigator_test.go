package app

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/chats"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestUnknownSendersHaveOneBadge(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	for _, id := range []protocol.QuestionID{"s1", "s2"} {
		v.Questions.Pending = append(v.Questions.Pending, protocol.Question{ID: id, Kind: protocol.AskSender, Sender: new(protocol.SenderSubject)})
	}
	u.update(v)
	u.main.Chat.Window.Resize(fyne.NewSize(1120, 760))
	markup := test.RenderObjectToMarkup(u.main.Sidebar.Content)
	for _, row := range u.main.Sidebar.Links {
		if row.Item().Count != 0 {
			t.Errorf("%s: got a badge of %d, want none beside that of Needs you", row.Item().Title, row.Item().Count)
		}
		if !strings.Contains(markup, ">"+row.Item().Title+"<") {
			t.Errorf("%s is shortened", row.Item().Title)
		}
	}
	pagetest.Shot(t, u.main.Chat.Window, "foot")
}

func TestEveryPageOpensInTheSmallestWindow(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	u.main.Chat.Window.Resize(fyne.NewSize(480, 560))
	for _, p := range append(u.pages.all(), u.pages.ofSettings()...) {
		u.places.nav.open(p.Title, nil)
		if size := u.main.Chat.Window.Canvas().Size(); size.Width > 480 || size.Height > 560 {
			t.Errorf("%s needs %v; want Width at most 480 and Height at most 560", p.Title, size)
		}
	}
	u.main.Pages.Close()
	u.main.FocusSearch() // in the drawer
	driver := fyne.CurrentApp().Driver()
	last := u.main.Sidebar.Links[len(u.main.Sidebar.Links)-1]
	if bottom := driver.AbsolutePositionForObject(last).Y + last.Size().Height; bottom > 560 || last.Size().Height < 20 {
		t.Errorf("%s ends at %v", last.Item().Title, bottom)
	}
	if list := u.main.Sidebar.List.Height(); list <= 0 {
		t.Error("no room is left for the chats")
	}
}

func TestSearchHitOpensItsChatAtTheMessage(t *testing.T) {
	hit := protocol.SearchHit{SessionKey: "agent:main:2", MessageID: "3", Seq: 4, Snippet: []protocol.Snippet{{Text: "the "}, {Text: "needle", Mark: true}}}
	for name, open := range map[string]func(u *ui){
		"of the page":    func(u *ui) { u.env(nil).Open(host.Chat{Key: hit.SessionKey, Hit: &hit}) },
		"of the sidebar": func(u *ui) { u.env(nil).Open(host.Chat{Key: hit.SessionKey, Hit: &hit}) },
	} {
		t.Run(name, func(t *testing.T) {
			u := newTestUI(t)
			u.update(sample())
			u.env(nil).Open(host.Search("needle"))
			open(u)
			if u.main.Chat.Page.Key() != hit.SessionKey || u.main.Pages.Title() != "" {
				t.Fatalf("got chat %s, page %q, want %s, no page", u.main.Chat.Page.Key(), u.main.Pages.Title(), hit.SessionKey)
			}
			if got := u.main.Chat.Page.Pane.PendingReveal(); got != hit.MessageID {
				t.Fatalf("to be revealed: got %q, want %q", got, hit.MessageID)
			}
			chat := chats.Messages{Key: hit.SessionKey}
			for i := range 40 {
				text := "Something was said."
				if i == 3 {
					text = "It is the needle."
				}
				m := protocol.Message{ID: protocol.MessageID(fmt.Sprint(i)), Seq: int64(i + 1), Role: protocol.RoleUser}
				m.Content = protocol.Content{protocol.Text(text)}
				chat.List = append(chat.List, m)
			}
			u.main.Chat.Page.Show(chat)
			if got := u.main.Chat.Page.Pane.PendingReveal(); got != "" {
				t.Errorf("message %s is still not revealed", got)
			}
			pagetest.Shows(t, u.main.Chat.Page.Pane, "It is the needle.")
		})
	}
}
