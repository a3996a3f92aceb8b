package settings

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Gateway is a remote gateway that this computer is paired with, for its windows or as a machine.
type Gateway struct {
	ID, Name  string
	Addresses []string
	PairedAt  time.Time
	Ended     string // reason why it refuses this computer; empty while it does not
	Over      bool   // the refusal is final; an expired pairing may be extended instead
	Works     bool   // its agent uses this computer's tools
	Down      string // reason why it is not connected to them; empty while it is
}

// Invitation is an invitation that this computer accepts.
type Invitation struct {
	Text    string // a link or a code
	Address string // address to try first; may be empty
	Work    bool   // pair as a machine that offers its tools; otherwise for its windows
	Name    string // this computer's name there, with Work; empty for its own name
}

// Gateways manages the remote gateways. Every method blocks.
type Gateways interface {
	List() ([]Gateway, error)
	// Changes counts state changes of the gateways for which this computer is a machine.
	Changes() *state.Value[int]
	// Pair accepts an invitation and returns the gateway's name once its owner has approved. It
	// calls show, on another goroutine, with the words that both sides display and the seconds left
	// for the approval.
	Pair(ctx context.Context, taken Invitation, show func(words []string, seconds int)) (name string, err error)
	// Open opens a window on a gateway.
	Open(id string) error
	// Leave ends a pairing; told reports whether the gateway was notified.
	Leave(ctx context.Context, id string) (told bool, err error)
}

// elsewhere is the page of the other gateways.
type elsewhere struct {
	p    *Page
	g    Gateways
	list *fyne.Container
	said *widgets.Paragraph
	sure string // ID of the gateway whose Leave waits for a confirmation
	box  fyne.CanvasObject

	invitation, address, name *widget.Entry
	work                      bool // pair as a machine
	pair                      *widgets.Button
	// cancels the pairing in progress; nil if there is none
	stop context.CancelFunc
}

func newElsewhere(p *Page) *elsewhere {
	e := &elsewhere{p: p, g: p.h.Gateways, list: widgets.Col(style.Inside), said: muted(""), invitation: widget.NewEntry(), address: widget.NewEntry(), name: widget.NewEntry()}
	e.said.Hide()
	e.invitation.SetPlaceHolder("fairlead://pair?… or 7-otter-lamp-nine")
	e.address.SetPlaceHolder("192.168.1.20:8788")
	e.pair = widgets.NewButton("Pair", "check", nil)
	e.pair.OnTap = e.press
	e.invitation.OnSubmitted = func(string) { e.press() }
	e.address.OnSubmitted, e.name.OnSubmitted = e.invitation.OnSubmitted, e.invitation.OnSubmitted
	e.name.SetPlaceHolder("same as here")
	how, name := muted(""), widgets.NewField("Name of this computer there", e.name)
	chosen := func(work bool) {
		e.work = work
		how.Set(howToPair(work), style.ColorMuted)
		if name.Hide(); work {
			name.Show()
		}
		if e.box != nil {
			e.box.Refresh()
		}
	}
	as, choose := pick(pairings, chosen)
	choose(false)
	chosen(false)
	e.invitation.OnChanged = func(text string) {
		// the link states its role
		if link, err := pake.ParseLink(text); err == nil && link.Role != "" {
			choose(link.Role == protocol.RoleNode)
			chosen(link.Role == protocol.RoleNode)
		}
	}
	e.box = page(
		section("Other gateways", muted("This computer has its own gateway. You can also control other gateways, each in its own window, or let their agents use this computer."), e.list),
		section("Add a gateway",
			as, how,
			widgets.NewField("Link or code", e.invitation),
			widgets.NewField("Address (only if not found automatically)", e.address), name,
			widgets.Row(style.Inside, -1, e.pair), e.said))
	bind.Watch(p.ctx, e.g.Changes(), func(int) { e.load() }) // calls it the first time as well
	return e
}

// pairings are the roles this computer can have for a remote gateway: true is a machine.
var pairings = []choice[bool]{{"Control it from here", false}, {"Let it use this computer", true}}

func howToPair(work bool) string {
	if work {
		return "Its agent can use this computer's tools within the limits set under This computer. The other computer's owner answers its approvals. On the other computer: Machines › Add a machine › Invite a machine. Paste its link or code here."
	}
	return "On the other computer: Machines › Add a machine › Invite a controller. Paste its link or code here."
}

func (e *elsewhere) load() {
	bind.Go(e.p.ctx, func(context.Context) ([]Gateway, error) { return e.g.List() }, func(list []Gateway, err error) {
		e.list.Objects = nil
		switch {
		case err != nil:
			e.list.Add(widgets.NewParagraph(problem(err), style.ColorBad, "text"))
		case len(list) == 0:
			e.list.Add(muted("None yet."))
		}
		for _, g := range list {
			e.list.Add(e.line(g))
		}
		e.list.Refresh()
		e.box.Refresh()
	})
}

// line is a gateway with its buttons.
func (e *elsewhere) line(g Gateway) fyne.CanvasObject {
	name := widgets.NewText(g.Name, style.ColorText, "text")
	text := strings.Join(g.Addresses, ", ") + " · paired " + state.When(g.PairedAt.UnixMilli(), time.Now())
	color := style.ColorMuted
	switch {
	case g.Works && g.Down == "":
		text += " · uses this computer · connected"
	case g.Works:
		text, color = text+" · uses this computer · not connected: "+g.Down, style.ColorNeedsYou
	}
	if g.Ended != "" {
		text, color = "Access has ended: "+g.Ended, style.ColorBad
	}
	about := widgets.NewText(text, color, style.SizeSmall)
	name.Ellipsis, about.Ellipsis = true, true
	open := widgets.NewButton("Open", "window", func() {
		bind.Go(e.p.ctx, func(context.Context) (struct{}, error) { return struct{}{}, e.g.Open(g.ID) }, func(_ struct{}, err error) {
			if err != nil {
				e.say("Could not open the window: "+err.Error(), style.ColorBad)
			}
		})
	})
	leave := widgets.NewQuiet("Unpair", "trash", nil)
	if e.sure == g.ID {
		leave.Text, leave.Danger = "Unpair and close its window", true
		if g.Works {
			leave.Text = "Unpair and disconnect"
		}
	}
	leave.OnTap = func() {
		if e.sure != g.ID {
			e.sure = g.ID
			e.load()
			return
		}
		e.sure = ""
		bind.Go(e.p.ctx, func(ctx context.Context) (bool, error) { return e.g.Leave(ctx, g.ID) }, func(told bool, err error) {
			switch {
			case err != nil:
				e.say("Could not unpair: "+err.Error(), style.ColorBad)
			case !told:
				e.say(g.Name+" could not be notified. Fairlead tries again at the next start.", style.ColorNeedsYou)
			}
			e.load()
		})
	}
	icon := "globe"
	if g.Works {
		icon = "machine"
	}
	buttons := []fyne.CanvasObject{widget.NewIcon(style.IconIn(icon, style.ColorMuted)), widgets.Col(0, name, about)}
	if !g.Over && !g.Works {
		buttons = append(buttons, open)
	}
	return widgets.Row(style.Inside, 1, append(buttons, leave)...)
}

func (e *elsewhere) say(text string, color fyne.ThemeColorName) {
	e.said.Show()
	e.said.Set(text, color)
	e.box.Refresh()
}

// press starts pairing, or cancels it.
func (e *elsewhere) press() {
	if e.stop != nil {
		e.stop()
		return
	}
	taken := Invitation{Text: strings.TrimSpace(e.invitation.Text), Address: strings.TrimSpace(e.address.Text), Work: e.work, Name: strings.TrimSpace(e.name.Text)}
	if taken.Text == "" {
		e.say("Enter the link or code of an invitation.", style.ColorBad)
		return
	}
	ctx, stop := context.WithCancel(e.p.ctx)
	e.stop = stop
	e.pair.Set("Cancel", "cross")
	e.say("Looking for the gateway…", style.ColorMuted)
	show := func(words []string, seconds int) {
		bind.Do(e.p.ctx, func() {
			e.say(fmt.Sprintf("Waiting for approval on the other computer (%d s). Both computers show these words: %s", seconds, strings.Join(words, "-")), style.ColorText)
		})
	}
	bind.Go(e.p.ctx, func(context.Context) (string, error) { return e.g.Pair(ctx, taken, show) }, func(name string, err error) {
		canceled := ctx.Err() != nil
		stop()
		e.stop = nil
		e.pair.Set("Pair", "check")
		switch {
		case canceled:
			e.say("Cancelled.", style.ColorMuted)
		case err != nil:
			e.say(problem(err), style.ColorBad)
		default:
			e.invitation.SetText("")
			e.address.SetText("")
			done := ". Open its window here or in the tray menu."
			if taken.Work {
				done = ". Its agent can now use this computer."
			}
			e.say("✓ Paired with "+name+done, style.ColorGood)
			e.load()
		}
	})
}
