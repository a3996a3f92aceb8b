package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// fakeGateways are the remote gateways of a test.
type fakeGateways struct {
	list    []Gateway
	opened  string
	down    string
	changes *feed.Value[int]
	silent  bool // cannot be notified when it is left
	answers chan error
}

func (f *fakeGateways) List() ([]Gateway, error) { return slices.Clone(f.list), nil }
func (f *fakeGateways) Open(id string) error     { f.opened = id; return nil }
func (f *fakeGateways) Leave(_ context.Context, id string) (bool, error) {
	f.list = slices.DeleteFunc(f.list, func(g Gateway) bool { return g.ID == id })
	return !f.silent, nil
}

func (f *fakeGateways) Changes() *feed.Value[int] { return f.changes }

func (f *fakeGateways) Pair(ctx context.Context, taken Invitation, show func([]string, int)) (string, error) {
	show([]string{"cobalt", "otter"}, 120)
	select {
	case err := <-f.answers:
		if err == nil {
			f.list = append(f.list, Gateway{ID: "new", Name: "cellar", Addresses: []string{taken.Address}, PairedAt: time.Now(), IsMachine: taken.AsMachine, OfflineReason: f.down})
		}
		return "cellar", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func TestGatewayIsAddedOpenedAndRemoved(t *testing.T) {
	f := &fakeGateways{changes: feed.NewValue(0)}
	inPage(t, nil, func(t *testing.T, p *bench) {
		var saved []any
		p.e.Feed = feed.NewOf(pagetest.Gateway{"config.set": func(params any) (any, error) {
			saved = append(saved, params)
			return protocol.ConfigSetResult{}, nil
		}})
		p.o.Gateways, p.o.Pairing, f.answers = f, NewPairing(p.ctx), make(chan error, 1)
		e := newGatewaysPage(p.view)
		says := func(want string) {
			t.Helper()
			pagetest.Settle()
			if s := texts(e.box); !strings.Contains(s, want) {
				t.Errorf("the page does not say %q: %s", want, s)
			}
		}
		press := func(button string) { t.Helper(); pagetest.Settle(); test.Tap(pagetest.Button(t, e.box, button)) }
		says("None yet")
		press(pairText)
		says("Enter the link or code")

		e.invitation.SetText(" 7-otter-lamp-nine ")
		e.address.SetText("10.0.0.2:8788")
		press(pairText)
		says("Waiting for approval on the other computer (120 s).")
		says("cobalt-otter")
		press("Cancel")
		says("Cancelled")
		press(pairText)
		f.answers <- errors.New("the person there said no")
		says("The person there said no")
		press("Try again")
		f.answers <- nil
		says("Paired with cellar")
		says("10.0.0.2:8788")
		if got, want := fmt.Sprint(saved), fmt.Sprint([]any{protocol.ConfigSetParams{Path: "ui.firstRunDone", Value: []byte("true")}}); got != want {
			t.Errorf("saved when a gateway is paired: got %s, want %s", got, want)
		}
		if e.invitation.Text != "" {
			t.Error("the invitation, which counts once, is still there")
		}

		row := e.list.Objects[0]
		f.changes.Update(func(n *int) { *n++ })
		pagetest.Settle()
		if e.list.Objects[0] != row {
			t.Error("got a new row for a gateway that has not changed, want the same: a press on its button would be lost")
		}

		press("Open")
		pagetest.Settle()
		if f.opened != "new" {
			t.Errorf(`opened: got %q, want "new"`, f.opened)
		}
		f.silent = true
		press("Unpair")
		pagetest.Settle()
		if len(f.list) != 1 {
			t.Error("it was left without asking once more")
		}
		press("Unpair and close its window")
		says("could not be notified")
		says("None yet")

		// This computer can be a machine there, too.
		const link = "fairlead://pair?a=10.0.0.2:8788&i=x&p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA&s=AAAAAAAAAAAAAAAAAAAAAA&r="
		e.invitation.SetText(link + "node")
		says("owner answers its approvals")
		e.invitation.SetText(link + "client")
		says("Invite a device to control Fairlead")
		press("Let it use this computer")
		says("owner answers its approvals")
		e.invitation.SetText("8-otter-lamp-nine")
		press(pairText)
		f.answers <- protocol.ErrConflict.With("another machine is already called vm").WithDetails(protocol.NameTaken{Free: "vm-2"})
		says("“vm-2” is free: press Pair again")
		if e.name.Text != "vm-2" {
			t.Errorf(`the name is %q, want "vm-2"`, e.name.Text)
		}
		f.down = "no way there"
		press(pairText)
		f.answers <- nil
		says("Its agent can now use this computer")
		says("uses this computer · not connected: no way there")
		f.list[0].OfflineReason = ""
		f.changes.Update(func(n *int) { *n++ })
		time.Sleep(time.Second) // the page shows changes only when it is drawn
		says("uses this computer · connected")
		press("Unpair")
		press("Unpair and disconnect")
		says("None yet")
		f.list = []Gateway{{ID: "old", Name: "attic", Addresses: []string{"10.0.0.9:8788"}, IsMachine: true, OfflineReason: "Forgotten", RefusedReason: "attic revoked this computer's access.", RefusalFinal: true}}
		e.load()
		says("attic revoked this computer's access.")
		press("Pair again")
		says("Create an invitation on attic")
		if e.address.Text != "10.0.0.9:8788" || !e.asMachine {
			t.Errorf("Form to pair again: address %q, as a machine %v", e.address.Text, e.asMachine)
		}
		press("Unpair")
		says("None yet")

		e.invitation.SetText("9-otter-lamp-nine")
		e = newGatewaysPage(p.view)
		says(widgets.DraftRestored)
		if e.invitation.Text != "9-otter-lamp-nine" || !e.asMachine {
			t.Errorf("Form after the return: got %q, as a machine %v, want what was typed", e.invitation.Text, e.asMachine)
		}
		press("Discard")
		if e = newGatewaysPage(p.view); e.invitation.Text != "" {
			t.Errorf("Form after Discard: got %q, want nothing", e.invitation.Text)
		}
	})
}

func TestButtonOfPairingStaysInView(t *testing.T) {
	f := &fakeGateways{changes: feed.NewValue(0)}
	for i := range 20 {
		f.list = append(f.list, Gateway{ID: string(rune('a' + i)), Name: "cellar", PairedAt: time.Now()})
	}
	inPage(t, nil, func(t *testing.T, p *bench) {
		p.o.Gateways, p.o.Pairing = f, NewPairing(p.ctx)
		e := newGatewaysPage(p.view)
		w := pagetest.Window(t, e.box, 480, 560)
		pagetest.Settle()
		test.Tap(e.pair)
		pagetest.Settle()
		for _, o := range []fyne.CanvasObject{e.pair, e.result} {
			at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
			if bottom := at.Y + o.Size().Height; at.Y <= 0 || bottom > w.Canvas().Size().Height {
				t.Errorf("%T ends at %v in a window of height %v", o, bottom, w.Canvas().Size().Height)
			}
		}
	})
}

func TestPairingContinuesWhileAnotherPageIsShown(t *testing.T) {
	f := &fakeGateways{changes: feed.NewValue(0)}
	inPage(t, nil, func(t *testing.T, p *bench) {
		p.o.Gateways, p.o.Pairing, f.answers = f, NewPairing(p.ctx), make(chan error, 1)
		open := func() (*gatewaysPage, context.CancelFunc) {
			ctx, leave := context.WithCancel(p.ctx)
			e := newGatewaysPage(newView(ctx, p.e, p.o))
			e.box.Resize(fyne.NewSize(900, 1200))
			return e, leave
		}
		e, leave := open()
		e.invitation.SetText("7-otter-lamp-nine")
		test.Tap(e.pair)
		pagetest.Settle()
		leave()

		e, leave = open()
		pagetest.Settle()
		pagetest.Shows(t, e.box, "Waiting for approval on the other computer", "cobalt-otter", "Cancel")
		test.Tap(e.pair)
		pagetest.Settle()
		pagetest.Shows(t, e.box, "Cancelled.")
		test.Tap(e.pair)
		pagetest.Settle()
		leave()
		f.answers <- nil
		pagetest.Settle()
		if got := strings.Join(p.Did, "; "); got != "say Paired with cellar." {
			t.Errorf("after the end on another page: got %q, want that it is paired", got)
		}
		if e, leave = open(); e.invitation.Text != "" || e.pair.Text != pairText {
			t.Errorf("the page shows the invitation %q and the button %q, want none and %q", e.invitation.Text, e.pair.Text, pairText)
		}
		leave()
	})
}
