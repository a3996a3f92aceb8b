package transfers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

func newTestPage(t *testing.T) *Page {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	p := newPage(ctx, host.Env{Host: &pagetest.Host{}, Feed: app.Feed})
	p.now = pagetest.Clock
	p.historyRevision = 0 // there is no gateway to load a history from
	pagetest.Window(t, p.Box, 880, 700)
	return p
}

func moving() feed.View {
	return feed.View{Status: feed.Status{Loaded: true}, Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box", Online: true}}, Transfers: feed.Transfers{List: []protocol.Transfer{
		{
			ID: "a", State: protocol.TransferRunning, Sources: []string{"@here:/home/me/photos"}, From: protocol.Here, To: "nas", Files: 900, FilesDone: 300, Bytes: 3_400_000_000, BytesDone: 1_200_000_000,
			Speed: 86_000_000, ETA: 25_000, Current: strings.Repeat("a long folder/", 20) + "a.jpg",
		},
		{ID: "b", State: protocol.TransferPaused, Sources: []string{"nas:/x.iso"}, From: "nas", To: "gsv", Files: 1, Bytes: 1000, BytesDone: 10},
	}}}
}

func endedTransfers() History {
	return History{List: []protocol.Transfer{
		{ID: "c", State: protocol.TransferDone, Sources: []string{"@here:/report.pdf"}, From: protocol.Here, To: "nas", BytesDone: 2000, StartedAt: pagetest.Noon.Add(-time.Hour).UnixMilli(), EndedAt: pagetest.Noon.Add(-time.Hour + 3*time.Second).UnixMilli()},
		{ID: "d", State: protocol.TransferFailed, Sources: []string{"nas:/big"}, From: "nas", To: protocol.Here, Error: "the disk is full", EndedAt: pagetest.Noon.Add(-30 * time.Hour).UnixMilli()},
	}, Total: 900}
}

func TestViewsMatchGolden(t *testing.T) {
	p := newTestPage(t)
	golden.Markup(t, "loading", p.Box)
	p.show(feed.View{Status: feed.Status{Loaded: true}})
	p.showHistory(History{}, nil)
	golden.Markup(t, "empty", p.Box)
	p.show(moving())
	golden.Markup(t, "moving", p.Box)
	p.showHistory(endedTransfers(), nil)
	golden.Markup(t, "history", p.Box)
	p.showHistory(History{}, protocol.ErrUnavailable.With("not connected"))
	golden.Markup(t, "problem", p.Box)
}

func TestCardsKeepTheirPlaceWhileTransfersRun(t *testing.T) {
	p := newTestPage(t)
	p.show(moving())
	card := p.cards["a"]
	v := moving()
	v.Transfers.List[0].BytesDone = 1_700_000_000
	p.show(v)
	if p.cards["a"] != card || card.progress.Fraction() != 0.5 {
		t.Errorf("another card, or %v", card.progress.Fraction())
	}
	if full, all := card.progress.Box.Objects[1].Size().Width, card.progress.Box.Size().Width; full < all*0.49 || full > all*0.51 {
		t.Errorf("the bar is %v of %v", full, all)
	}
	if p.cards["b"].pause.Text != "Resume" {
		t.Error("what is paused cannot be resumed")
	}
}

func TestHundredsOfTransfersHaveFewCards(t *testing.T) {
	p := newTestPage(t)
	v := moving()
	for i := range 500 {
		v.Transfers.List = append(v.Transfers.List, protocol.Transfer{ID: protocol.TransferID(fmt.Sprint(i)), State: protocol.TransferQueued})
	}
	p.show(v)
	if len(p.cards) != maxCards || !strings.Contains(test.RenderObjectToMarkup(p.Box), "482 more wait") {
		t.Errorf("got %d cards, want %d and the line “482 more wait”", len(p.cards), maxCards)
	}
}

func TestOnlyFilesOfThisComputerCanBeShownInItsFolders(t *testing.T) {
	p := newTestPage(t)
	v := moving()
	v.Machines = append(v.Machines, protocol.NodeInfo{ID: "laptop", Local: true})
	p.show(v)
	for id, want := range map[protocol.NodeID]bool{protocol.Here: true, "laptop": true, "nas": false, "gsv": false} {
		if p.isHere(protocol.Transfer{To: id}) != want {
			t.Errorf("%s: got %v; want %v", id, !want, want)
		}
	}
	v.Status.Remote, v.Status.Device = true, "desk"
	p.show(v)
	for _, x := range []struct {
		id     protocol.NodeID
		device protocol.DeviceID
		want   bool
	}{{protocol.Here, "desk", true}, {protocol.Here, "phone", false}, {protocol.Here, "", false}, {"laptop", "", false}} {
		if p.isHere(protocol.Transfer{To: x.id, Device: x.device}) != x.want {
			t.Errorf("a gateway elsewhere, %+v", x)
		}
	}
	p.showHistory(endedTransfers(), nil)
	p.List.OnChoose(0) // its menu
}

func TestFailedTransferShowsTheWholeError(t *testing.T) {
	p := newTestPage(t)
	p.show(moving())
	why := "'/etc/shadow' is outside the workspace '/srv/app'. " + strings.Repeat("File tools on this machine are limited to the workspace. ", 4)
	name := "A report about the second quarter of the year, with all that was said at the meeting (final).pdf"
	p.showHistory(History{List: []protocol.Transfer{{
		ID: "f", State: protocol.TransferFailed, Sources: []string{"laptop:/srv/app/" + name}, Destination: "nas:backup", From: "laptop", To: "nas", Error: why, Failed: 3,
		Problems: []protocol.TransferProblem{{Path: "a/b", Text: "it is a device"}},
	}}, Total: 1}, nil)
	if got, want := p.item(p.history.List[0]).Text, "Failed · '…/shadow' is outside the workspace '…/app'."; !strings.HasPrefix(got, want) {
		t.Errorf("in the list: got %q, want %q without folders, so that the reason is not cut", got, want)
	}
	p.List.OnChoose(0)
	pagetest.Window(t, p.Box, 700, 900)
	pagetest.Shows(t, p.Box, "'/etc/shadow'", "limited to the workspace", "(final).pdf to The box", "The box, backup", "a/b: it is a device", "and 2 more", "Try again")
	if !p.Back() || p.Back() {
		t.Error("the way back is not there, or there twice")
	}
	pagetest.Shows(t, p.Box, "HISTORY")
}

func TestReplacedFilesAreListedAndCanBeRestored(t *testing.T) {
	p := newTestPage(t)
	p.show(moving())
	until := pagetest.Noon.Add(20 * 24 * time.Hour).UnixMilli()
	p.showHistory(History{List: []protocol.Transfer{
		{ID: "k", State: protocol.TransferDone, Sources: []string{"laptop:/srv/app/site"}, Destination: "nas:www", From: "laptop", To: "nas", Conflict: protocol.ConflictOverwrite, BytesDone: 2000, Kept: 12, KeptUntil: until},
		{ID: "u", State: protocol.TransferDone, Sources: []string{"laptop:/srv/app/site"}, Destination: "nas:www", From: "laptop", To: "nas", Conflict: protocol.ConflictOverwrite, BytesDone: 2000, Undone: 1},
		{ID: "o", State: protocol.TransferDone, Sources: []string{"laptop:/srv/app/site"}, Destination: "nas:www", From: "laptop", To: "nas", Conflict: protocol.ConflictOverwrite, BytesDone: 2000, Kept: 12, KeptUntil: pagetest.Noon.Add(-time.Hour).UnixMilli()},
	}, Total: 3}, nil)
	for i, want := range []struct {
		says string
		can  bool
	}{{"12 files replaced", true}, {"1 replaced file restored", false}, {"12 files replaced", false}} {
		p.List.OnChoose(i)
		w := pagetest.Window(t, p.Box, 700, 900)
		pagetest.Shot(t, w, fmt.Sprint("replaced-", i))
		pagetest.Shows(t, p.Box, want.says)
		if can := strings.Contains(test.RenderObjectToMarkup(p.Box), "Restore replaced files"); can != want.can {
			t.Errorf("%d: it can be brought back: %v, want %v", i, can, want.can)
		}
		p.Back()
	}
}

func TestNarrowCardsShowTheFileName(t *testing.T) {
	p := newTestPage(t)
	p.show(moving())
	w := pagetest.Window(t, p.Box, 900, 500)
	for _, want := range []struct {
		width float32
		word  string
	}{{900, "Cancel"}, {400, ""}, {900, "Cancel"}} {
		w.Resize(fyne.NewSize(want.width, 500))
		if got := p.cards["a"].cancel.Text; got != want.word {
			t.Errorf("at %g the button says %q, want %q", want.width, got, want.word)
		}
	}
}
