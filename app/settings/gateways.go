package settings

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
)

// Gateway is a gateway elsewhere that this computer's windows are paired with.
type Gateway struct {
	ID, Name  string
	Addresses []string
	PairedAt  time.Time
	Ended     string // why it does not let this computer in any more; empty while it does
}

// Gateways are the gateways elsewhere. Every method blocks.
type Gateways interface {
	List() ([]Gateway, error)
	// Pair takes an invitation, a link or a code, and returns the gateway's name once its person has agreed; show is told the words that both
	// ends show, and how many seconds that person has, on a goroutine of its own. address, which may be empty, is tried first.
	Pair(ctx context.Context, invitation, address string, show func(words []string, seconds int)) (name string, err error)
	// Open shows a window on a gateway.
	Open(id string) error
	// Leave ends a pairing; told is whether the gateway knows.
	Leave(ctx context.Context, id string) (told bool, err error)
}

// elsewhere is the page of the other gateways.
type elsewhere struct {
	p    *Page
	g    Gateways
	list *fyne.Container
	said *widgets.Paragraph
	sure string // id of the one that Leave was pressed for once
	box  fyne.CanvasObject

	invitation, address *widget.Entry
	pair                *widgets.Button
	stop                context.CancelFunc // of the pairing under way; nil while there is none
}

func newElsewhere(p *Page) *elsewhere {
	e := &elsewhere{p: p, g: p.h.Gateways, list: widgets.Col(look.Inside), said: muted(""), invitation: widget.NewEntry(), address: widget.NewEntry()}
	e.said.Hide()
	e.invitation.SetPlaceHolder("fairlead://pair?… or 7-otter-lamp-nine")
	e.address.SetPlaceHolder("192.168.1.20:8788")
	e.pair = widgets.NewButton("Pair", "check", nil)
	e.pair.OnTap = e.press
	e.invitation.OnSubmitted = func(string) { e.press() }
	e.address.OnSubmitted = e.invitation.OnSubmitted
	e.box = page(
		section("Other gateways", muted("This computer has a gateway of its own. You can look at others too, each in a window of its own."), e.list),
		section("Add a gateway",
			muted("There, choose Machines, Add a machine, Invite a window. Then give the link or the code here."),
			widgets.NewField("Link or code", e.invitation),
			widgets.NewField("Address, only where it is not found by itself", e.address),
			widgets.Row(look.Inside, -1, e.pair), e.said))
	e.load()
	return e
}

func (e *elsewhere) load() {
	bind.Go(e.p.ctx, func(context.Context) ([]Gateway, error) { return e.g.List() }, func(list []Gateway, err error) {
		e.list.Objects = nil
		switch {
		case err != nil:
			e.list.Add(widgets.NewParagraph(problem(err), look.ColorBad, "text"))
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

// line is a gateway with what can be done.
func (e *elsewhere) line(g Gateway) fyne.CanvasObject {
	name := widgets.NewText(g.Name, look.ColorText, "text")
	text := strings.Join(g.Addresses, ", ") + " · paired " + state.When(g.PairedAt.UnixMilli(), time.Now())
	color := look.ColorMuted
	if g.Ended != "" {
		text, color = "It does not let this computer in any more: "+g.Ended, look.ColorBad
	}
	about := widgets.NewText(text, color, look.SizeSmall)
	name.Ellipsis, about.Ellipsis = true, true
	open := widgets.NewButton("Open", "window", func() {
		bind.Go(e.p.ctx, func(context.Context) (struct{}, error) { return struct{}{}, e.g.Open(g.ID) }, func(_ struct{}, err error) {
			if err != nil {
				e.say("No window was opened: "+err.Error(), look.ColorBad)
			}
		})
	})
	leave := widgets.NewQuiet("Leave", "trash", nil)
	if e.sure == g.ID {
		leave.Text, leave.Danger = "Really? Its window ends", true
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
				e.say("It was not left: "+err.Error(), look.ColorBad)
			case !told:
				e.say(g.Name+" could not be told yet: that is tried again at the next start.", look.ColorNeedsYou)
			}
			e.load()
		})
	}
	buttons := []fyne.CanvasObject{widget.NewIcon(look.IconIn("globe", look.ColorMuted)), widgets.Col(0, name, about)}
	if g.Ended == "" {
		buttons = append(buttons, open)
	}
	return widgets.Row(look.Inside, 1, append(buttons, leave)...)
}

func (e *elsewhere) say(text string, color fyne.ThemeColorName) {
	e.said.Show()
	e.said.Set(text, color)
	e.box.Refresh()
}

// press begins to pair, or ends it.
func (e *elsewhere) press() {
	if e.stop != nil {
		e.stop()
		return
	}
	invitation, address := strings.TrimSpace(e.invitation.Text), strings.TrimSpace(e.address.Text)
	if invitation == "" {
		e.say("Give the link or the code of an invitation.", look.ColorBad)
		return
	}
	ctx, stop := context.WithCancel(e.p.ctx)
	e.stop = stop
	e.pair.Set("Cancel", "cross")
	e.say("Looking for the gateway…", look.ColorMuted)
	show := func(words []string, seconds int) {
		bind.Do(e.p.ctx, func() {
			e.say(fmt.Sprintf("Its person is asked now, for %d seconds. Both ends show these words: %s", seconds, strings.Join(words, "-")), look.ColorText)
		})
	}
	bind.Go(e.p.ctx, func(context.Context) (string, error) { return e.g.Pair(ctx, invitation, address, show) }, func(name string, err error) {
		canceled := ctx.Err() != nil
		stop()
		e.stop = nil
		e.pair.Set("Pair", "check")
		switch {
		case canceled:
			e.say("Cancelled.", look.ColorMuted)
		case err != nil:
			e.say(problem(err), look.ColorBad)
		default:
			e.invitation.SetText("")
			e.address.SetText("")
			e.say("✓ Paired with "+name+". Open shows its window; the tray lists it too.", look.ColorGood)
			e.load()
		}
	})
}
