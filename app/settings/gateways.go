package settings

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Gateway is a remote gateway that this computer is paired with, for its windows or as a machine.
type Gateway struct {
	ID, Name      string
	Addresses     []string
	PairedAt      time.Time
	RefusedReason string // sentence that says why it refuses this computer; empty while it does not
	RefusalFinal  bool   // the refusal is final; an expired pairing may be extended instead
	IsMachine     bool   // its agent uses this computer's tools
	OfflineReason string // reason why it is not connected to them; empty while it is
}

// Invitation is an invitation that this computer accepts.
type Invitation struct {
	Text      string // a link or a code
	Address   string // address to try first; may be empty
	AsMachine bool   // pair as a machine that offers its tools; otherwise for its windows
	Name      string // this computer's name there, with AsMachine; empty for its own name
}

// Gateways manages the remote gateways. Every method blocks.
type Gateways interface {
	List() ([]Gateway, error)
	// Changes counts state changes of the gateways for which this computer is a machine.
	Changes() *feed.Value[int]
	// Pair accepts an invitation and returns the gateway's name once its owner has approved. It
	// calls show, on another goroutine, with the words that both sides display and the seconds left
	// for the approval.
	Pair(ctx context.Context, invitation Invitation, show func(words []string, seconds int)) (name string, err error)
	// Open opens a window on a gateway.
	Open(id string) error
	// Leave ends a pairing; notified reports whether the gateway was notified.
	Leave(ctx context.Context, id string) (notified bool, err error)
}

// gatewaysPage is the page of the other gateways.
type gatewaysPage struct {
	page      *view
	gateways  Gateways
	list      *fyne.Container
	result    *widgets.Paragraph
	words     *widgets.Paragraph // of the pairing in progress
	confirmID string             // ID of the gateway whose Leave waits for a confirmation
	newest    bind.Newest        // the request for the list
	shown     *shownGateways     // what the list shows; nil before the first time
	box       fyne.CanvasObject

	invitation, address, name *widgets.Entry
	asMachine                 bool // pair as a machine
	draft                     unsaved.Draft[pairingDraft]
	draftLine                 fyne.CanvasObject
	setRole                   func(asMachine bool)
	pair                      *widgets.Button
	pairing                   *Pairing
}

// pairText is on the button at the foot of the page, which may stand below another section.
const pairText = "Pair this computer"

func newGatewaysPage(p *view) *gatewaysPage {
	e := &gatewaysPage{page: p, gateways: p.o.Gateways, pairing: p.o.Pairing, list: widgets.Col(style.Inside), result: widgets.NewStatus(), words: widgets.NewParagraph("", style.ColorText, style.SizeTitle), invitation: widgets.NewEntry(), address: widgets.NewEntry(), name: widgets.NewEntry()}
	e.result.Hide()
	e.words.Hide()
	e.invitation.SetPlaceHolder("fairlead://pair?… or 7-otter-lamp-nine")
	e.address.SetPlaceHolder("192.168.1.20:8788")
	e.pair = widgets.NewButton(pairText, "check", nil)
	e.pair.Primary = true
	e.pair.OnTap = e.pairOrCancel
	e.invitation.OnSubmitted = func(string) { e.pairOrCancel() }
	e.address.OnSubmitted, e.name.OnSubmitted = e.invitation.OnSubmitted, e.invitation.OnSubmitted
	e.name.SetPlaceHolder("same as here")
	how, name := widgets.NewStatus(), widgets.NewField("Name of this computer there", e.name)
	draft, left := unsaved.Open(p.e.Drafts, "pairing", pairingDraft{})
	e.draft, e.draftLine = draft, widgets.NewDraftLine(draft.IsRestored, func() { e.fill(pairingDraft{}) })
	chosen := func(work bool) {
		e.asMachine = work
		e.saveDraft()
		how.Set(howToPair(work), style.ColorMuted)
		widgets.SetVisible(name, work)
		if e.box != nil {
			e.box.Refresh()
		}
	}
	as, choose := choiceButtons(pairingChoices, chosen)
	e.setRole = func(asMachine bool) {
		choose(asMachine)
		chosen(asMachine)
	}
	e.fill(left)
	e.invitation.OnChanged = func(text string) {
		// the link states its role
		if link, err := pake.ParseLink(text); err == nil && link.Role != "" {
			e.setRole(link.Role == protocol.RoleNode)
		}
		e.saveDraft()
	}
	e.address.OnChanged = func(string) { e.saveDraft() }
	e.name.OnChanged = e.address.OnChanged
	rows := append(p.ownGateway(),
		p.section("Other gateways", mutedText("This computer has its own gateway. You can also control other gateways, each in its own window, or let their agents use this computer."), e.list),
		p.section("Add a gateway",
			e.draftLine, as, how,
			widgets.NewField("Link or code", e.invitation),
			widgets.NewField("Address (only if not found automatically)", e.address), name))
	e.box = widgets.WithFoot(form(rows...), widgets.Inset(0, style.Inside, style.Group, 0, widgets.NewFormFoot(e.result, e.words, widgets.Row(style.Inside, -1, e.pair))))
	bind.Watch(p.ctx, e.gateways.Changes(), func(int) { e.load() }) // calls it the first time as well
	e.pairing.page = e
	if e.pairing.cancel != nil {
		e.showPairing(time.Now())
	}
	return e
}

// pairingChoices are the roles this computer can have for a remote gateway: true is a machine.
var pairingChoices = []choice[bool]{{"Control it from here", false}, {"Let it use this computer", true}}

func howToPair(work bool) string {
	if work {
		return "Its agent can use this computer's tools within the limits set under This computer. The other computer's owner answers its approvals. On the other computer: Machines › Add a machine › Invite a machine. Paste the link or code here."
	}
	return "On the other computer: Machines › Add a machine › Invite a device to control Fairlead. Paste the link or code here."
}

// shownGateways is what the list of gateways is made from.
type shownGateways struct {
	list      []Gateway
	confirmID string
	err       error
}

func (e *gatewaysPage) load() {
	bind.Go(e.newest.Context(e.page.ctx), func(context.Context) ([]Gateway, error) { return e.gateways.List() }, func(list []Gateway, err error) {
		now := shownGateways{list, e.confirmID, err}
		if e.shown != nil && reflect.DeepEqual(*e.shown, now) {
			return // a press on a button that is replaced meanwhile would be lost
		}
		e.shown = &now
		e.list.Objects = nil
		switch {
		case err != nil:
			e.list.Add(widgets.NewParagraph(feed.Sentence(err), style.ColorBad, "text"))
		case len(list) == 0:
			e.list.Add(mutedText("None yet."))
		}
		for _, g := range list {
			e.list.Add(e.row(g))
		}
		e.list.Refresh()
		e.box.Refresh()
	})
}

func (e *gatewaysPage) row(g Gateway) fyne.CanvasObject {
	name := widgets.NewText(g.Name, style.ColorText, "text")
	name.Ellipsis = true
	text := strings.Join(g.Addresses, ", ") + " · paired " + format.When(g.PairedAt.UnixMilli(), time.Now())
	color := style.ColorMuted
	switch {
	case g.RefusedReason != "":
		text, color = g.RefusedReason, style.ColorBad
	case g.IsMachine && g.OfflineReason == "":
		text += " · uses this computer · connected"
	case g.IsMachine:
		text, color = text+" · uses this computer · not connected: "+g.OfflineReason, style.ColorNeedsYou
	}
	about := widgets.NewParagraph(text, color, style.SizeSmall)
	icon := widget.NewIcon(style.IconIn(widgets.Choose(g.IsMachine, "machine", "globe"), style.ColorMuted))
	return widgets.WithControls(180, widgets.WithIcon("text", 0, icon, widgets.Col(0, name, about)), widgets.Flow(style.Inside, e.actions(g)...))
}

// actions are the buttons of a gateway.
func (e *gatewaysPage) actions(g Gateway) (buttons []fyne.CanvasObject) {
	switch {
	case g.RefusalFinal:
		buttons = append(buttons, widgets.NewButton("Pair again", "reset", func() { e.pairAgain(g) }))
	case !g.IsMachine:
		buttons = append(buttons, widgets.NewButton("Open", "window", func() {
			bind.Run(e.page.ctx, func(context.Context) error { return e.gateways.Open(g.ID) }, func(err error) {
				if err != nil {
					e.showResult("The window could not be opened: "+err.Error(), style.ColorBad)
				}
			})
		}))
	}
	leave := widgets.NewQuietButton("Unpair", "trash", nil)
	if e.confirmID == g.ID {
		leave.Danger = true
		leave.Text = widgets.Choose(g.IsMachine, "Unpair and disconnect", "Unpair and close its window")
	}
	leave.OnTap = func() {
		if e.confirmID != g.ID && !g.RefusalFinal {
			e.confirmID = g.ID
			e.load()
			return
		}
		e.confirmID = ""
		e.leave(g)
	}
	return append(buttons, leave)
}

func (e *gatewaysPage) leave(g Gateway) {
	bind.Go(e.page.ctx, func(ctx context.Context) (bool, error) { return e.gateways.Leave(ctx, g.ID) }, func(notified bool, err error) {
		switch {
		case err != nil:
			e.showResult("Could not unpair: "+err.Error(), style.ColorBad)
		case !notified:
			e.showResult(g.Name+" could not be notified. Fairlead tries again at the next start.", style.ColorNeedsYou)
		}
		e.load()
	})
}

// pairAgain fills in the form for another pairing with a gateway that ended the last one.
func (e *gatewaysPage) pairAgain(g Gateway) {
	address := ""
	if len(g.Addresses) > 0 {
		address = g.Addresses[0]
	}
	e.fill(pairingDraft{address: address, asMachine: g.IsMachine})
	e.showResult("Create an invitation on "+g.Name+" and paste it here.", style.ColorText)
	widgets.FocusIn(e.box, e.invitation)
}

func (e *gatewaysPage) showResult(text string, color fyne.ThemeColorName) {
	e.result.Show()
	e.result.Set(text, color)
	e.box.Refresh()
}

// showFailure shows why a pairing failed, and fills in what would let it succeed.
func (e *gatewaysPage) showFailure(err error) {
	if free := string(protocol.FreeName(err)); free != "" {
		e.name.SetText(free)
		e.name.CursorColumn = len(free)
		e.showResult(fmt.Sprintf("Another machine there has this name already. “%s” is free: press Pair again, or choose another name.", free), style.ColorNeedsYou)
		widgets.FocusIn(e.box, e.name)
		return
	}
	e.pair.Set("Try again", "reset")
	e.showResult(strings.TrimSuffix(feed.Sentence(err), ".")+".", style.ColorBad)
}

// pairOrCancel starts pairing, or cancels it.
func (e *gatewaysPage) pairOrCancel() {
	if cancel := e.pairing.cancel; cancel != nil {
		cancel()
		return
	}
	invitation := Invitation{Text: strings.TrimSpace(e.invitation.Text), Address: strings.TrimSpace(e.address.Text), AsMachine: e.asMachine, Name: strings.TrimSpace(e.name.Text)}
	if invitation.Text == "" {
		e.showResult("Enter the link or code of an invitation.", style.ColorBad)
		return
	}
	e.pairing.start(e.gateways, invitation)
	e.showPairing(time.Now())
}
