package nodes

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// forwardings are the forwards to the machines of the page. They belong to the GUI thread.
type forwardings struct {
	p      *Page
	own    *forwards.Forwards // of this program
	list   forwardList
	loader *feed.Loader[forwardList]
}

// watch follows the forwards until the page closes.
func (w *forwardings) watch() {
	bind.Follow(w.p.ctx, w.loader.Follow)
	bind.Watch(w.p.ctx, w.loader.Value, func(l forwardList) {
		w.list = l
		w.p.Update()
	})
	bind.Watch(w.p.ctx, w.own.List, func([]forwards.Forward) { w.p.Update() })
}

// close closes a forward for good. It blocks.
func (w *forwardings) close(ctx context.Context, f forwardLine) error {
	if f.Here && w.own.EndOwn(f.Local) {
		return nil
	}
	return feed.Send(ctx, w.p.e.Feed, protocol.ForwardClose, protocol.ForwardParams{ID: f.ID})
}

// forwardRows are the forwards on the page of a machine. A row stays while its forward is listed,
// so that its buttons keep the focus while the numbers change.
type forwardRows struct {
	of   *forwardings
	rows map[string]*forwardRow
}

type forwardRow struct {
	box           *fyne.Container
	text, problem *widgets.Paragraph
}

// draw draws the list into its section, and reports whether something changed.
func (l *forwardRows) draw(section *widgets.Body, id protocol.NodeID) bool {
	p, all := l.of.p, l.of.list
	lines := forwardLines(p.view, all.Forwards, l.of.own.List.Get(), id, p.now())
	rows, changed := map[string]*forwardRow{}, false
	keys := lists.Map(lines, func(f forwardLine) string { return fmt.Sprint(f.ID, f.Title, f.URL, f.Here) })
	for i, f := range lines {
		row := l.rows[keys[i]]
		if row == nil {
			row = l.of.newRow(f)
		}
		changed = changed || row.text.Text() != f.Text || row.problem.Text() != f.Problem
		row.text.Set(f.Text, style.ColorMuted)
		row.problem.Set(f.Problem, style.ColorNeedsYou)
		rows[keys[i]] = row
	}
	l.rows = rows
	drawn := section.Draw(fmt.Sprint("forwards", keys, all.Problem), func() fyne.CanvasObject {
		list := []fyne.CanvasObject{widgets.NewSectionHeading("FORWARDS")}
		widgets.SetVisible(section.Box, len(lines) > 0 || all.Problem != "")
		if all.Problem != "" {
			list = append(list, widgets.NewLoadError("The forwards could not be loaded.", all.Problem, l.of.loader.Reload))
		}
		return widgets.Col(style.Group, append(list, lists.Map(keys, func(k string) fyne.CanvasObject { return rows[k].box })...)...)
	})
	return drawn || changed
}

func (w *forwardings) newRow(f forwardLine) *forwardRow {
	p := w.p
	title := widgets.NewText(f.Title, style.ColorText, "text")
	title.Ellipsis = true
	row := &forwardRow{text: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), problem: widgets.NewStatus()}
	var buttons []fyne.CanvasObject
	if f.URL != "" {
		buttons = append(buttons, widgets.NewButton("Open in browser", "external", func() { p.e.Open(host.URL(f.URL)) }))
	}
	if f.Here {
		buttons = append(buttons, widgets.NewQuietButton("Copy address", "copy", func() {
			p.e.Copy(f.Local)
			p.e.Say("The address was copied.")
		}))
	}
	buttons = append(buttons, widgets.NewQuietButton("Close", "cross", func() {
		p.e.Run(p.ctx, "The forward was not closed", func(ctx context.Context) error { return w.close(ctx, f) }, w.loader.Reload)
	}))
	row.box = widgets.Col(style.Gap, title, row.text, row.problem, widgets.Flow(style.Inside, buttons...))
	return row
}

// forwardList are the open forwards of all clients.
type forwardList struct {
	protocol.ForwardListResult
	Problem string // reason why loading failed
}

// newForwardLoader loads the forwards, again at each change.
func newForwardLoader(f *feed.Feed) *feed.Loader[forwardList] {
	return &feed.Loader[forwardList]{
		Value: feed.NewValue(forwardList{}), Feed: f,
		Fetch: func(ctx context.Context) (func(*forwardList), error) {
			r, err := feed.Call(ctx, f, protocol.ForwardList, protocol.Empty{})
			return func(l *forwardList) { *l = forwardList{ForwardListResult: r} }, err
		},
		Problem: func(l *forwardList) *string { return &l.Problem },
		Key:     func(v feed.View) string { return fmt.Sprint(v.Changed.Forwards) },
		Facts:   []feed.Fact{f.Changed},
	}
}
