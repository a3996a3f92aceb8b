package send

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// pane is a chat on a machine.
type pane struct {
	*fyne.Container
	node  protocol.NodeID
	added []string
}

func (p *pane) Node() protocol.NodeID   { return p.node }
func (p *pane) AddFiles(paths []string) { p.added = append(p.added, paths...) }

// newTestSender creates a sender without a gateway, whose transfers therefore do not start.
func newTestSender(t *testing.T, machines ...protocol.NodeInfo) (*Sender, *pagetest.Host) {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	app.Feed.Machines.Update(func(l *feed.MachineList) { *l = machines })
	w := pagetest.Window(t, container.NewStack(), 400, 400)
	h := &pagetest.Host{}
	return New(ctx, host.Env{Host: h, Feed: app.Feed}, nil, func() fyne.Window { return w }, func() bool { return false }), h
}

func TestDropTargetsSayWhatTheyDo(t *testing.T) {
	s, _ := newTestSender(t, protocol.NodeInfo{ID: "laptop", Local: true}, protocol.NodeInfo{ID: "nas", Name: "The box"})
	for want, got := range map[string]Drop{
		"Drop to send to The box":                         s.OnMachine("nas", nil),
		"Drop to copy to “photos” on The box":             s.OnFolder("nas", "/srv/photos", nil),
		"Drop to choose a machine":                        s.OnPage(fyne.Position{}, nil),
		"Drop to attach":                                  s.OnChat(&pane{node: "laptop"}),
		"Drop to send to The box. Pictures are attached.": s.OnChat(&pane{node: "nas"}),
	} {
		if got.Text != want {
			t.Errorf("got %q, want %q", got.Text, want)
		}
	}
}

func TestFilesForAChatOfThisComputerAreInserted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newTestSender(t, protocol.NodeInfo{ID: "laptop", Local: true}, protocol.NodeInfo{ID: "nas"})
		here, there := &pane{node: "laptop"}, &pane{node: "nas"}
		s.OnChat(here).Do([]string{"/a.txt"})
		s.OnChat(there).Do([]string{"/b.txt"})
		pagetest.Settle()
		if !slices.Equal(here.added, []string{"/a.txt"}) || there.added != nil {
			t.Errorf("got %q and %q, want the file of this computer only", here.added, there.added)
		}
		if got, want := strings.Join(h.Did, ", "), "say The transfer did not start: "; !strings.HasPrefix(got, want) {
			t.Errorf("sending to the other machine: got %q, want %q", got, want)
		}
	})
}

func TestWithoutMachinesNothingIsSent(t *testing.T) {
	s, h := newTestSender(t)
	s.Send([]string{"/a.txt"}, "")
	if got, want := strings.Join(h.Did, ", "), "say There is no machine to send files to."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
