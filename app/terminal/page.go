// Package terminal is the page of a machine's terminals: it shows the screen of one, and what the
// person types goes to its program. The program stays when the page is left.
package terminal

import (
	"context"
	"fmt"
	"os"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// drawInterval is the shortest time between two pictures of the screen.
const drawInterval = 33 * time.Millisecond

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	e   host.Env
	m   *Model

	widgets.Body
	machine protocol.NodeID
	canvas  fyne.Canvas // nil until the window offers the keyboard
	display *display
	status  *widgets.Text
	bar     widgets.Actions
	viewing bind.Newest
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env, dial Dial) *Page {
	name, _ := os.Hostname()
	p := newPage(ctx, e, newModel(e.Feed, dial, name))
	bind.Follow(ctx, p.m.Follow)
	bind.Paced(ctx, p.m.Changed, drawInterval, p.display.view.show)
	bind.Watch(ctx, p.m.State, func(State) { p.show() })
	bind.Watch(ctx, p.m.Value, func(Terminals) { p.show() })
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Machines), func(feed.View) { p.show() })
	return p
}

func newPage(ctx context.Context, e host.Env, m *Model) *Page {
	p := &Page{ctx: ctx, e: e, m: m, Body: widgets.NewBody()}
	p.display = newDisplay(m, func(address string) { e.Open(host.URL(address)) }, e.Copy)
	p.status = widgets.NewText("", style.ColorMuted, "text")
	p.status.Ellipsis = true
	p.bar = widgets.NewActions(p.show)
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	id, ok := to.(host.Terminal)
	if !ok {
		id = host.Terminal(firstMachine(p.e.Feed.Machines.Get()))
	}
	if protocol.NodeID(id) == p.machine {
		return
	}
	p.machine = protocol.NodeID(id)
	p.show()
	bind.Go(p.viewing.Context(p.ctx), func(ctx context.Context) (protocol.TerminalID, error) {
		return p.m.Last(ctx, p.machine), nil
	}, func(last protocol.TerminalID, _ error) { p.openTerminal(last) })
}

// openTerminal shows a terminal of the machine, or a new one.
func (p *Page) openTerminal(id protocol.TerminalID) {
	params := protocol.TerminalConnectParams{Node: p.machine, ID: id}
	bind.Run(p.viewing.Context(p.ctx), func(ctx context.Context) error {
		p.m.View(ctx, params)
		return nil
	}, func(error) {})
	p.focus()
}

// Focus implements [host.Focuser]. The terminal takes the keyboard once a machine is chosen: the
// toolkit does not know the canvas of what was not painted yet.
func (p *Page) Focus(c fyne.Canvas) { p.canvas = c }

// focus gives the keyboard to the terminal.
func (p *Page) focus() {
	if p.canvas != nil {
		p.canvas.Focus(p.display)
	}
}

// Back implements [host.View]: it leads to the machine.
func (p *Page) Back() bool {
	p.e.Open(host.Machine(p.machine))
	return true
}

// show shows what has changed around the screen.
func (p *Page) show() {
	v, s := p.e.Feed.View(), p.m.State.Get()
	n, _ := v.Machines.Find(p.machine)
	isOffline := v.Status.Loaded && !n.Online
	p.Draw(fmt.Sprint(p.machine, n.DisplayName(), isOffline), func() fyne.CanvasObject {
		if p.machine == "" {
			return widgets.NewPage(Title, noMachine())
		}
		back := widgets.NewQuietButton("Machine", "back", func() { p.Back() })
		if isOffline {
			return widgets.NewPage(title(n.DisplayName()), offline(n.DisplayName()), back)
		}
		return widgets.NewPage(title(n.DisplayName()), p.content(), back)
	})
	p.status.SetText(statusText(s, p.display.view.isLarger))
	others := p.m.Value.Get().Of(p.machine)
	what := fmt.Sprint(s.Phase, s.Terminal.ID, s.Now.Typing, s.Now.WatchOnly, s.Now.Request, others)
	if p.bar.DrawActions(what, func() fyne.CanvasObject { return p.actions(s, others) }) {
		p.LayOutText()
	}
	p.display.view.show()
}

func (p *Page) content() fyne.CanvasObject {
	head := widgets.Col(style.Inside, p.status, p.bar.Box)
	return widgets.WithHeader(widgets.Inset(0, 0, style.Inside, 0, head), widgets.Inset(0, 0, style.Inside, 0, p.display))
}

func noMachine() fyne.CanvasObject {
	return widgets.NewEmptyPage("terminal", "No machine has terminals", "A machine needs to be connected, and to have a version of Fairlead with terminals.")
}

func offline(machine string) fyne.CanvasObject {
	return widgets.NewEmptyPage("offline", machine+" is offline", "Its terminals are shown again when it is connected.")
}

// actions are the buttons above the screen.
func (p *Page) actions(s State, others []protocol.Terminal) fyne.CanvasObject {
	var buttons []fyne.CanvasObject
	add := func(text, icon string, primary bool, do func()) {
		b := widgets.NewButton(text, icon, func() {
			do()
			p.focus()
		})
		b.Primary = primary
		buttons = append(buttons, b)
	}
	switch {
	case s.Phase == Ended && s.Terminal.CommandID == "":
		add("Start again", "reset", true, func() { p.openTerminal("") })
	case s.Phase == Failed:
		add("Try again", "reset", true, func() { p.openTerminal(s.Terminal.ID) })
	case s.Phase != Shown:
	case s.Now.Typing && s.Now.Request != "":
		add("Let “"+s.Now.Request+"” type", "check", true, func() { p.m.Answer(true) })
		add("Refuse", "cross", false, func() { p.m.Answer(false) })
	case s.Now.Typing && (s.Now.Viewers > 1 || s.Terminal.CommandID != ""):
		add("Give back", "stop", false, p.m.GiveBack)
	case !s.Now.Typing && !s.Now.WatchOnly:
		add("Take over", "edit", true, p.m.TakeOver)
	}
	for _, t := range others {
		if t.ID != s.Terminal.ID {
			add(label(t), "terminal", false, func() { p.openTerminal(t.ID) })
		}
	}
	if s.Phase == Shown || s.Phase == Failed {
		add("New terminal", "plus", false, func() { p.openTerminal("") })
	}
	if s.Phase == Shown && s.Terminal.CommandID == "" {
		end := widgets.Confirmation{Text: "Close", Icon: "trash", Question: "Close this terminal and end its program?", Yes: "Close", No: "Cancel"}
		buttons = append(buttons, p.bar.ConfirmButton(end, func() {
			p.bar.Confirm("")
			p.e.Run(p.ctx, "The terminal was not closed", func(ctx context.Context) error { return p.m.Close(ctx, s.Terminal) }, func() {})
		}))
	}
	return widgets.Flow(style.Inside, buttons...)
}
