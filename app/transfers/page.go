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
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/transfer"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// maxCards is the maximum number of unfinished transfers with a card.
const maxCards = 20

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   Model
	e   host.Env
	widgets.MasterDetail

	view            feed.View
	newest          bind.Newest // the request for the history
	historyRevision int         // change counter of the view that the history belongs to; -1 for none
	history         History
	historyLoaded   bool // the history was loaded before
	problem         string
	cards           map[protocol.TransferID]*card
	active          *fyne.Container
	foot            *widgets.Text
	detail          protocol.TransferID // the latest transfer shown alone
	now             func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	p.show(e.Feed.View())
	bind.Watch(ctx, e.Feed.Watch(e.Feed.Status, e.Feed.Transfers, e.Feed.Machines, e.Feed.Changed), p.show)
	return p
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{
		ctx: ctx, m: Model{e.Feed}, e: e, historyRevision: -1, cards: make(map[protocol.TransferID]*card), active: widgets.Col(style.Inside),
		foot: widgets.NewText("", style.ColorMuted, style.SizeSmall), now: time.Now,
	}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(func(i int) { p.open(p.history.List[i]) }), p.page, p.fill)
	p.List.OnMenu = p.menu
	p.ShowList()
	return p
}

func (p *Page) show(v feed.View) {
	p.view = v
	if v.Status.Loaded && v.Changed.History != p.historyRevision {
		p.historyRevision = v.Changed.History
		bind.Go(p.newest.Context(p.ctx), p.m.History, p.showHistory)
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
	p.fill()
	p.active.Refresh()
}

func (p *Page) showHistory(h History, err error) {
	p.problem = ""
	if err != nil {
		p.problem = err.Error()
	} else {
		p.history, p.historyLoaded = h, true
	}
	p.List.Set(lists.Map(p.history.List, p.item))
	p.foot.SetText("")
	if n := len(p.history.List); p.history.Total > n {
		p.foot.SetText(fmt.Sprintf("The last %d of %d", n, p.history.Total))
	}
	p.fill()
}

func (p *Page) item(t protocol.Transfer) widgets.ListItem {
	item := widgets.ListItem{Icon: "check", Color: style.ColorGood, Title: transfer.Title(p.view, t), Text: wording.ShortenPaths(transfer.Line(p.view, t, p.now())), Detail: format.When(t.EndedAt, p.now())}
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

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	send := widgets.NewButton("Send files…", "plus", func() { p.e.Open(host.SendFiles("")) })
	send.Primary = true
	return widgets.NewPage("Transfers", master, send)
}

// fill draws the list with the cards above it, or a text in their place.
func (p *Page) fill() {
	moving, ended := len(p.view.Transfers.List) > 0, len(p.history.List) > 0
	p.Master.Draw(fmt.Sprint(p.view.Status.Loaded, p.historyLoaded, p.problem, moving, ended), func() fyne.CanvasObject {
		switch {
		case p.problem != "":
			return widgets.NewLoadError("Could not load the transfers.", p.problem, func() { p.historyRevision = -1; p.show(p.view) })
		case !p.view.Status.Loaded || !p.historyLoaded && !moving && !ended:
			return widgets.NewLoading()
		case !moving && !ended:
			return widgets.NewEmptyPage("transfer", "No transfers", "Drop files or folders on a machine in the sidebar, or on a chat, to send them there. Files that the agent sends appear here too.")
		case !ended:
			return widgets.Border(p.active, p.foot, nil, nil, container.NewStack())
		}
		clear := widgets.NewQuietButton("Clear history", "trash", p.clear)
		return widgets.Border(widgets.Col(style.Inside, p.active, widgets.NewSectionHeading("HISTORY", clear)), p.foot, nil, nil, p.List)
	})
}

func (p *Page) menu(i int, at fyne.Position) {
	t := p.history.List[i]
	items := []*fyne.MenuItem{fyne.NewMenuItem("Open", func() { p.open(t) })}
	for _, a := range p.actions(t) {
		item := fyne.NewMenuItem(a.label, a.do)
		item.Disabled = a.do == nil
		items = append(items, item)
	}
	widgets.ShowMenuAt(p.List, at, slices.Insert(items, len(items)-1, fyne.NewMenuItemSeparator()))
}

// action is an action for a finished transfer; do is nil if it is not possible.
type action struct {
	label, icon string
	do          func()
}

// actions returns the actions for a finished transfer; the last removes it from the history.
func (p *Page) actions(t protocol.Transfer) []action {
	again := action{"Send again", "reset", func() { p.m.SendAgain(t); p.Back() }}
	if t.State != protocol.TransferDone {
		again = action{"Try again", "reset", func() { p.m.Control(protocol.TransferRetry, t.ID); p.Back() }}
	}
	if transfer.IsRemoteEnd(p.view, t) {
		again.do = nil
	}
	list := []action{again}
	if t.Path != "" && p.isHere(t) {
		list = append(list, action{"Show in folder", "folder", func() { p.e.Open(host.Reveal(t.Path)) }})
	}
	if p.canUndo(t) {
		list = append(list, action{"Restore replaced files", "undo", func() { p.undo(t) }})
	}
	return append(list, action{"Remove from history", "trash", func() {
		text := fmt.Sprintf("Removed “%s” from the history.", transfer.Title(p.view, t))
		p.e.Undo(text, p.m.Remove(t.ID), time.Now().Add(feed.UndoTime))
		p.Back()
	}})
}

func (p *Page) clear() {
	bind.Go(p.ctx, p.m.ClearHistory, func(undo func(), err error) {
		if err != nil {
			p.e.Say("Could not clear the history: " + err.Error())
			return
		}
		p.e.Undo("History cleared.", undo, time.Now().Add(feed.UndoTime))
	})
}

func (p *Page) undo(t protocol.Transfer) {
	bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.m.Undo(ctx, t) }, func(message string, err error) {
		if err != nil {
			message = "Could not restore the files: " + err.Error()
		}
		p.e.Say(message)
		if err == nil && p.IsOpen() && p.detail == t.ID { // it shows the old state
			p.Back()
		}
	})
}

// canUndo reports whether the files that a transfer replaced can be restored from here.
func (p *Page) canUndo(t protocol.Transfer) bool {
	return t.Undoable(p.now()) && !(t.To == protocol.Here && transfer.IsRemoteEnd(p.view, t))
}

// isHere reports whether the transferred files are on this computer.
func (p *Page) isHere(t protocol.Transfer) bool {
	if t.To == protocol.Here {
		return !transfer.IsRemoteEnd(p.view, t)
	}
	n, ok := p.view.Machines.Local()
	return ok && n.ID == t.To && !p.view.Status.Remote
}
