package settings

import (
	"context"
	"fmt"
	"time"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/gateway/peer/format"
)

// Pairing is the pairing with another gateway that is in progress, if there is one. It goes on when
// the person leaves its page. It belongs to the GUI thread.
type Pairing struct {
	ctx    context.Context
	cancel context.CancelFunc // nil if none is in progress
	words  []string           // that both sides show; nil until they are known
	end    time.Time          // of the wait for the approval
	page   *gatewaysPage      // that showed it last
}

// NewPairing returns no pairing. One that is in progress is cancelled when ctx ends.
func NewPairing(ctx context.Context) *Pairing { return &Pairing{ctx: ctx} }

// start accepts an invitation.
func (p *Pairing) start(gateways Gateways, invitation Invitation) {
	ctx, stop := context.WithCancel(p.ctx)
	p.cancel, p.words = stop, nil
	show := func(words []string, seconds int) {
		end := time.Now().Add(time.Duration(seconds) * time.Second)
		bind.Do(ctx, func() {
			p.words, p.end = words, end
			p.page.showPairing(time.Now())
		})
		bind.Every(ctx, time.Second, func(now time.Time) { p.page.showPairing(now) })
	}
	bind.Go(p.ctx, func(context.Context) (string, error) { return gateways.Pair(ctx, invitation, show) }, func(name string, err error) {
		canceled := ctx.Err() != nil
		stop()
		p.cancel = nil
		p.page.endPairing(invitation, name, err, canceled)
	})
}

// showPairing shows the pairing in progress.
func (e *gatewaysPage) showPairing(now time.Time) {
	e.pair.Primary = false
	e.pair.Set("Cancel", "cross")
	if e.pairing.words == nil {
		e.showResult("Looking for the gateway…", style.ColorMuted)
		return
	}
	left := max(0, int(e.pairing.end.Sub(now).Round(time.Second).Seconds()))
	e.words.Show()
	e.words.Set(format.Words(e.pairing.words), style.ColorText)
	e.showResult(fmt.Sprintf("Waiting for approval on the other computer (%d s). It must show the same words:", left), style.ColorText)
}

// endPairing shows how a pairing has ended, on another page if the person has left this one.
func (e *gatewaysPage) endPairing(invitation Invitation, name string, err error, canceled bool) {
	e.pair.Primary = true
	e.pair.Set(pairText, "check")
	e.words.Hide()
	switch {
	case canceled:
		e.showResult("Cancelled.", style.ColorMuted)
	case err != nil:
		e.showFailure(err)
	default:
		e.fill(pairingDraft{asMachine: invitation.AsMachine})
		done := "Open its window here or in the tray menu."
		if invitation.AsMachine {
			done = "Its agent can now use this computer."
		}
		e.showResult("✓ Paired with "+name+". "+done, style.ColorGood)
		bind.Run(e.pairing.ctx, func(ctx context.Context) error {
			return feed.EndFirstRun(ctx, e.page.e.Feed)
		}, func(error) {}) // if this fails, the page of the first start is shown once more
		e.load()
	}
	switch hasLeft := e.page.ctx.Err() != nil; {
	case hasLeft && err != nil:
		e.page.e.Say("Pairing failed. " + e.result.Text())
	case hasLeft:
		e.page.e.Say("Paired with " + name + ".")
	}
}
