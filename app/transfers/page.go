// Package transfers is the page of transfers: those in progress with their speed, those that wait,
// and the finished ones.
package transfers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Say    state.Say
	Undo   state.OfferUndo
	Reveal func(path string) // shows a file of this computer in the system's file manager
	Send   func()            // asks for files to send
}

// maxCards is the maximum number of unfinished transfers with a card.
const maxCards = 20

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx      context.Context
	app      *state.App
	handlers Handlers
	widgets.Body

	view            feed.View
	historyRevision int // change counter of the view that the history belongs to; -1 for none
	history         state.TransferHistory
	historyLoaded   bool // the history was loaded before
	problem         string
	cards           map[protocol.TransferID]*card
	active          *fyne.Container
	list            *widgets.ItemList
	foot            *widgets.Text
	detail          protocol.TransferID // the transfer shown alone; empty for none
	now             func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	p.show(a.View())
	bind.Watch(ctx, a.Watch(a.Status, a.Feed.Transfers, a.Feed.Machines, a.Changed), p.show)
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{
		ctx: ctx, app: a, handlers: h, Body: widgets.NewBody(), historyRevision: -1, cards: make(map[protocol.TransferID]*card), active: widgets.Col(style.Inside),
		foot: widgets.NewText("", style.ColorMuted, style.SizeSmall), now: time.Now,
	}
	p.list = widgets.NewItemList(func(i int) { p.open(p.history.List[i]) })
	p.list.OnMenu = p.menu
	p.draw()
	return p
}

func (p *Page) show(v feed.View) {
	p.view = v
	if v.Status.Loaded && v.Changed.History != p.historyRevision {
		p.historyRevision = v.Changed.History
		bind.Go(p.ctx, p.app.Transfers.History, p.showHistory)
	}
	var objects []fyne.CanvasObject
	cards := make(map[protocol.TransferID]*card, len(v.Transfers.List))
	for i, t := range v.Transfers.List {
		if i == maxCards {
			objects = append(objects, widgets.NewText(fmt.Sprintf("%d more waiting", len(v.Transfers.List)-i), style.ColorMuted, style.SizeSmall))
			break
		}
		c := p.cards[t.ID]
		if c == nil {
			c = newCard(p, t.ID)
		}
		c.show(v, t, p.now())
		cards[t.ID] = c
		objects = append(objects, c.box)
	}
	p.cards = cards
	p.active.Objects = objects
	p.draw()
	p.active.Refresh()
}

func (p *Page) showHistory(h state.TransferHistory, err error) {
	p.problem = ""
	if err != nil {
		p.problem = err.Error()
	} else {
		p.history, p.historyLoaded = h, true
	}
	p.list.Set(lists.Map(p.history.List, p.item))
	p.foot.SetText("")
	if n := len(p.history.List); p.history.Total > n {
		p.foot.SetText(fmt.Sprintf("The last %d of %d", n, p.history.Total))
	}
	p.draw()
}

func (p *Page) item(t protocol.Transfer) widgets.ListItem {
	item := widgets.ListItem{Icon: "check", Color: style.ColorGood, Title: state.TransferTitle(p.view, t), Text: state.TransferLine(p.view, t, p.now()), Detail: wording.When(t.EndedAt, p.now())}
	item.Full = wording.FullTime(t.EndedAt, p.now())
	switch {
	case t.State == protocol.TransferCancelled:
		item.Icon, item.Color, item.Muted = "cross", style.ColorMuted, true
	case t.State != protocol.TransferDone:
		item.Icon, item.Color = "warning", style.ColorBad
	case t.Failed > 0:
		item.Icon, item.Color = "warning", style.ColorNeedsYou
	}
	return item
}

func (p *Page) draw() {
	if p.detail != "" {
		return
	}
	none := len(p.view.Transfers.List) == 0 && len(p.history.List) == 0
	p.Draw(fmt.Sprint("page ", p.view.Status.Loaded, p.historyLoaded, p.problem, none, len(p.history.List) == 0, len(p.view.Transfers.List) == 0), func() fyne.CanvasObject { return p.page(none) })
}

func (p *Page) page(none bool) fyne.CanvasObject {
	send := widgets.NewButton("Send files…", "plus", func() { p.handlers.Send() })
	send.Primary = true
	clear := widgets.NewQuietButton("Clear history", "trash", p.clear)
	var body fyne.CanvasObject
	switch {
	case p.problem != "":
		body = widgets.NewLoadError("Could not load the transfers.", p.problem, func() { p.historyRevision = -1; p.show(p.view) })
	case !p.view.Status.Loaded || !p.historyLoaded && none:
		body = widgets.NewLoading()
	case none:
		body = widgets.NewEmptyPage("transfer", "No transfers", "Drop files or folders on a machine in the sidebar, or on a chat, to send them there. Files that the agent sends appear here too.")
	default:
		var top, rest fyne.CanvasObject = p.active, p.list
		if len(p.history.List) > 0 {
			top = widgets.Col(style.Inside, p.active, widgets.NewSectionHeading("HISTORY", clear))
		} else {
			rest = container.NewStack()
		}
		body = widgets.Border(top, p.foot, nil, nil, rest)
	}
	return widgets.NewPage("Transfers", body, send)
}

func (p *Page) menu(i int, at fyne.Position) {
	t := p.history.List[i]
	items := []*fyne.MenuItem{fyne.NewMenuItem("Open", func() { p.open(t) })}
	for _, a := range p.actions(t) {
		item := fyne.NewMenuItem(a.label, a.do)
		item.Disabled = a.do == nil
		items = append(items, item)
	}
	widgets.ShowMenuAt(p.list, at, slices.Insert(items, len(items)-1, fyne.NewMenuItemSeparator()))
}

// action is an action for a finished transfer; do is nil if it is not possible.
type action struct {
	label, icon string
	do          func()
}

// actions returns the actions for a finished transfer; the last removes it from the history.
func (p *Page) actions(t protocol.Transfer) []action {
	again := action{"Send again", "reset", func() { p.app.Transfers.SendAgain(t); p.Back() }}
	if t.State != protocol.TransferDone {
		again = action{"Try again", "reset", func() { p.app.Transfers.Control(protocol.TransferRetry, t.ID); p.Back() }}
	}
	if state.IsRemoteEnd(p.view, t) {
		again.do = nil
	}
	list := []action{again}
	if t.Path != "" && p.isHere(t) {
		list = append(list, action{"Show in folder", "folder", func() { p.handlers.Reveal(t.Path) }})
	}
	if p.canUndo(t) {
		list = append(list, action{"Restore replaced files", "undo", func() { p.undo(t) }})
	}
	return append(list, action{"Remove from history", "trash", func() {
		text := fmt.Sprintf("Removed “%s” from the history.", state.TransferTitle(p.view, t))
		p.handlers.Undo(text, p.app.Transfers.Remove(t.ID), time.Now().Add(feed.UndoTime))
		p.Back()
	}})
}

func (p *Page) clear() {
	bind.Go(p.ctx, p.app.Transfers.ClearHistory, func(undo func(), err error) {
		if p.handlers.Say.Failed("Could not clear the history", err) {
			return
		}
		p.handlers.Undo("History cleared.", undo, time.Now().Add(feed.UndoTime))
	})
}

func (p *Page) undo(t protocol.Transfer) {
	bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.app.Transfers.Undo(ctx, t) }, func(message string, err error) {
		if err != nil {
			message = "Could not restore the files: " + err.Error()
		}
		p.handlers.Say(message)
		if err == nil && p.detail == t.ID { // it shows the old state
			p.Back()
		}
	})
}

// canUndo reports whether the files that a transfer replaced can be restored from here.
func (p *Page) canUndo(t protocol.Transfer) bool {
	return t.Undoable(p.now()) && !(t.To == protocol.Here && state.IsRemoteEnd(p.view, t))
}

// isHere reports whether the transferred files are on this computer.
func (p *Page) isHere(t protocol.Transfer) bool {
	if t.To == protocol.Here {
		return !state.IsRemoteEnd(p.view, t)
	}
	n, ok := p.view.Machines.Local()
	return ok && n.ID == t.To && !p.view.Status.Remote
}
