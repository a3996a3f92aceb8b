package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func TestMachinesStayInViewBesideManyChats(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Questions.Pending = nil
	u.update(v)
	chats, shelf := u.main.sidebar.middle.Objects[0], u.main.sidebar.middle.Objects[1]
	if rest := u.main.sidebar.middle.Size().Height - chats.Size().Height - shelf.Size().Height; rest < 100 {
		t.Errorf("few chats and machines do not stand together: %v is left", rest)
	}
	for i := range 300 {
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint("agent:main:", i)), Title: fmt.Sprint("Chat ", i)})
	}
	for i := range 40 {
		v.Machines = append(v.Machines, protocol.NodeInfo{ID: protocol.NodeID(fmt.Sprint("box-", i)), Online: true})
	}
	for _, height := range []float32{760, 560} {
		u.main.conversation.window.Resize(fyne.NewSize(1120, height))
		u.update(v)
		share := shelf.Size().Height / u.main.sidebar.middle.Size().Height
		if share < 0.4 || share > 0.5 || chats.Size().Height < 100 {
			t.Errorf("%v high: machines have %v of it, chats %v", height, share, chats.Size())
		}
	}
	pagetest.Shot(t, u.main.conversation.window, "shell-many")
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	row := u.main.sidebar.pool[u.main.sidebar.rowsInUse-1] // of the last machine, scrolled out of view
	if id, _, ok := u.main.sidebar.machineAt(place(row).AddXY(20, 4)); ok {
		t.Errorf("what is dropped on the foot goes to %s", id)
	}
	first := u.main.sidebar.pool[u.main.sidebar.rowsInUse-len(v.Machines)]
	if id, _, ok := u.main.sidebar.machineAt(place(first).AddXY(20, 4)); !ok || id != v.Machines[0].ID {
		t.Errorf("what is dropped on the first machine goes to %q", id)
	}
}

func TestTheSidebarSaysHowLongAMachineHasBeenAway(t *testing.T) {
	u := newTestUI(t)
	v, now := sample(), time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	v.Machines[1].LastSeenAt = now.Add(-10 * time.Minute).UnixMilli()
	u.main.sidebar.now = func() time.Time { return now }
	u.tick(now)
	u.update(v)
	if got := u.main.lines(); !strings.Contains(got, "nas 10 min") {
		t.Fatalf("sidebar:\n%s", got)
	}
	now = now.Add(5 * time.Minute)
	u.tick(now)
	if got := u.main.lines(); !strings.Contains(got, "nas 15 min") {
		t.Errorf("five minutes later:\n%s", got)
	}
}

func TestCountersDoNotClipTheNamesOfPages(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	for i := range 42 {
		v.Questions.Pending = append(v.Questions.Pending, approval(fmt.Sprint(i), protocol.MainSession))
		if i < 12 {
			v.Transfers.List = append(v.Transfers.List, protocol.Transfer{ID: protocol.TransferID(fmt.Sprint(i))})
		}
	}
	u.update(v)
	pagetest.Shot(t, u.main.conversation.window, "shell-foot")
	for _, row := range u.main.sidebar.links {
		pagetest.Shows(t, row, ">"+row.Item().Title+"<")
	}
}
