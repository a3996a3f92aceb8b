package app

import (
	"strings"
	"testing"

	"fairlead/app/feed"
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
	if strings.Contains(u.main.lines(), "new") {
		t.Fatalf("at the first start nothing is new:\n%s", u.main.lines())
	}
	v.Sessions.List = []protocol.SessionEntry{v.Sessions.List[0], v.Sessions.List[1], {SessionKey: "agent:main:3", Title: "Night watch", LastActiveAt: 300, MessageCount: 1}}
	v.Sessions.List[0].LastActiveAt, v.Sessions.List[1].LastActiveAt = 200, 200
	u.update(v)
	if got := u.main.lines(); !strings.Contains(got, "Photos on the NAS new") || !strings.Contains(got, "Night watch new") || strings.Contains(got, "parser new") {
		t.Errorf("shown:\n%s", got)
	}
	u.main.open("agent:main:2")
	if got := u.main.lines(); strings.Contains(got, "NAS new") || !strings.Contains(got, "Night watch new") {
		t.Errorf("after opening it:\n%s", got)
	}
	if seen := u.backend.Prefs.Get().Seen; seen["agent:main:2"] != 200 {
		t.Errorf(`remembered: got %v, want seen["agent:main:2"] 200`, seen)
	}
}

func TestAChatBehindAPageIsReadAndWrittenWhenItIsOpened(t *testing.T) {
	u, v := readShell(t)
	u.questions.openPage()
	v.Sessions.List = []protocol.SessionEntry{v.Sessions.List[0], v.Sessions.List[1]}
	v.Sessions.List[0].LastActiveAt = 200
	u.update(v)
	if got := u.main.lines(); !strings.Contains(got, "parser new") {
		t.Fatalf("behind a page:\n%s", got)
	}
	u.main.conversation.Window.Canvas().Focus(u.main.sidebar.Search)
	u.main.open(protocol.MainSession)
	if got := u.main.lines(); strings.Contains(got, "new") {
		t.Errorf("after opening it:\n%s", got)
	}
	if got := u.main.conversation.Window.Canvas().Focused(); got != u.main.conversation.Page.Pane.Composer() {
		t.Errorf("%T has the keyboard", got)
	}
}
