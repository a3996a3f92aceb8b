package app

import (
	"strings"
	"testing"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// readShell is a window in which every chat was read: each has two messages, the last of them at
// 100.
func readShell(t *testing.T) (*shell, state.View) {
	s, v := newTestShell(t), sample()
	v.Approvals, v.Runs = nil, nil
	for i := range v.Sessions {
		v.Sessions[i].LastActiveAt, v.Sessions[i].MessageCount = 100, 2
	}
	s.update(v)
	return s, v
}

func TestChatsWithSomethingNewAreMarkedUntilTheyAreOpened(t *testing.T) {
	s, v := readShell(t)
	if strings.Contains(s.lines(), "new") {
		t.Fatalf("at the first start nothing is new:\n%s", s.lines())
	}
	v.Sessions = []protocol.SessionEntry{v.Sessions[0], v.Sessions[1], {SessionKey: "agent:main:3", Title: "Night watch", LastActiveAt: 300, MessageCount: 1}}
	v.Sessions[0].LastActiveAt, v.Sessions[1].LastActiveAt = 200, 200
	s.update(v)
	if got := s.lines(); !strings.Contains(got, "Photos on the NAS new") || !strings.Contains(got, "Night watch new") || strings.Contains(got, "parser new") {
		t.Errorf("shown:\n%s", got)
	}
	s.open("agent:main:2")
	if got := s.lines(); strings.Contains(got, "NAS new") || !strings.Contains(got, "Night watch new") {
		t.Errorf("after opening it:\n%s", got)
	}
	if seen := s.b.prefs.get().Seen; seen["agent:main:2"] != 200 {
		t.Errorf("remembered %v", seen)
	}
}

func TestAChatBehindAPageIsReadAndWrittenWhenItIsOpened(t *testing.T) {
	s, v := readShell(t)
	s.openInbox()
	v.Sessions = []protocol.SessionEntry{v.Sessions[0], v.Sessions[1]}
	v.Sessions[0].LastActiveAt = 200
	s.update(v)
	if got := s.lines(); !strings.Contains(got, "parser new") {
		t.Fatalf("behind a page:\n%s", got)
	}
	s.window.Canvas().Focus(s.sidebar.search)
	s.open(protocol.MainSession)
	if got := s.lines(); strings.Contains(got, "new") {
		t.Errorf("after opening it:\n%s", got)
	}
	if got := s.window.Canvas().Focused(); got != s.pane.Composer() {
		t.Errorf("%T has the keyboard", got)
	}
}
