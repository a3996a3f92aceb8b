package chatwindow

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func TestDeletedChatsAreNamed(t *testing.T) {
	list := []protocol.SessionEntry{{Title: "Fix the\nparser"}, {}, {}}
	for n, want := range map[int]string{1: "“Fix the parser” was deleted.", 3: "3 chats were deleted."} {
		if got := deletedText(list[:n]); got != want {
			t.Errorf("%d chats: got %q, want %q", n, got, want)
		}
	}
}

// testMain is a main window that shows nothing.
type testMain struct {
	Main
	frame Frame
}

func (m *testMain) Frame() *Frame { return &m.frame }

func TestMenuOfSeveralChatsSaysWhatItDoesToAll(t *testing.T) {
	ctx, app := pagetest.Start(t, style.Light)
	env := host.Env{Host: &pagetest.Host{}, Feed: app.Feed, Chats: app.Chats}
	cw := New(ctx, Options{
		Main: &testMain{}, Feed: app.Feed, Env: func(fyne.Window) host.Env { return env },
		Unread: sidebar.NewUnread(nil, func(map[protocol.SessionKey]int64) {}),
	})
	pinned, archived := protocol.SessionEntry{SessionKey: "a", Pinned: true}, protocol.SessionEntry{SessionKey: "b", Archived: true}
	for name, c := range map[string]struct {
		list []protocol.SessionEntry
		want []string
	}{
		"some pinned":  {[]protocol.SessionEntry{pinned, {}}, []string{"Pin 2 chats", "Mark as unread", "Archive 2 chats", "Tags", "Delete 2 chats"}},
		"all pinned":   {[]protocol.SessionEntry{pinned, pinned}, []string{"Unpin 2 chats", "Mark as unread", "Archive 2 chats", "Tags", "Delete 2 chats"}},
		"all archived": {[]protocol.SessionEntry{archived, archived}, []string{"Mark as unread", "Restore 2 chats to list", "Tags", "Delete 2 chats"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, item := range cw.Actions.Menu(c.list) {
				if !item.IsSeparator && !item.Disabled {
					got = append(got, item.Label)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("possible actions: got %q, want %q", got, c.want)
			}
		})
	}
}
