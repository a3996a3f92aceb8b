package app

import (
	"strings"
	"testing"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// readShell is a window in which every chat was read: each has two messages, the last of them at
// 100.
func readShell(t *testing.T) (*ui, feed.View) {
	u, v := newTestUI(t), sample()
	v.Questions.Pending, v.Runs.List = nil, nil
	for i := range v.Sessions.List {
		v.Sessions.List[i].LastActiveAt, v.Sessions.List[i].MessageCount = 100, 2
	}
	u.update(v)
	return u, v
}

func TestChatsWithSomethingNewAreMarkedUntilTheyAreOpened(t *testing.T) {
	u, v := readShell(t)
	if strings.Contains(lines(u.main), "new") {
		t.Fatalf("at the first start nothing is new:\n%s", lines(u.main))
	}
	v.Sessions.List = []protocol.SessionEntry{v.Sessions.List[0], v.Sessions.List[1], {SessionKey: "agent:main:3", Title: "Night watch", LastActiveAt: 300, MessageCount: 1}}
	v.Sessions.List[0].LastActiveAt, v.Sessions.List[1].LastActiveAt = 200, 200
	u.update(v)
	if got := lines(u.main); !strings.Contains(got, "Photos on the NAS new") || !strings.Contains(got, "Night watch new") || strings.Contains(got, "parser new") {
		t.Errorf("shown:\n%s\nwant one with \"Photos on the NAS new\"", got)
	}
	u.main.Open("agent:main:2")
	if got := lines(u.main); strings.Contains(got, "NAS new") || !strings.Contains(got, "Night watch new") {
		t.Errorf("after opening it:\n%s\nwant one with \"Night watch new\"", got)
	}
	if seen := u.backend.Prefs.Get().Seen; seen["agent:main:2"] != 200 {
		t.Errorf(`remembered: got %v, want seen["agent:main:2"] 200`, seen)
	}
}

func TestAChatBehindAPageIsReadAndWrittenWhenItIsOpened(t *testing.T) {
	u, v := readShell(t)
	u.env(nil).Open(host.Question(""))
	v.Sessions.List = []protocol.SessionEntry{v.Sessions.List[0], v.Sessions.List[1]}
	v.Sessions.List[0].LastActiveAt = 200
	u.update(v)
	if got := lines(u.main); !strings.Contains(got, "parser new") {
		t.Fatalf("behind a page:\n%s", got)
	}
	u.main.Chat.Window.Canvas().Focus(u.main.Sidebar.Search)
	u.main.Open(protocol.MainSession)
	if got := lines(u.main); strings.Contains(got, "new") {
		t.Errorf("after opening it:\n%s", got)
	}
	if got := u.main.Chat.Window.Canvas().Focused(); got != u.main.Chat.Page.Pane.Composer() {
		t.Errorf("%T has the keyboard, want %T", got, u.main.Chat.Page.Pane.Composer())
	}
}
