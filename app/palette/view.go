package palette

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// View is the palette over a window. A click beside it, Esc and a choice close it.
type View struct {
	widgets.Frame
	host   host.Host
	model  *Model
	canvas fyne.Canvas
	before fyne.Focusable
	ctx    context.Context //nolint:containedctx // ends when the palette closes
	cancel context.CancelFunc

	field   *widgets.SearchField
	list    *widgets.ItemList
	note    *widgets.Paragraph
	box     *fyne.Container
	entries []Entry
	current int
	// search ends the search for files; it is nil while none runs.
	search context.CancelFunc
	// isAwaited means that the first file is chosen once it is found.
	isAwaited bool
}

const (
	width  = 560
	height = 420
	top    = 64 // above the palette
)

// Show opens the palette over a window. Its work ends with ctx, or when it closes.
func Show(ctx context.Context, h host.Host, m *Model, c fyne.Canvas) *View {
	v := &View{host: h, model: m, canvas: c, before: c.Focused(), note: widgets.NewParagraph("", style.ColorMuted, "text")}
	v.ctx, v.cancel = context.WithCancel(ctx)
	v.field = widgets.NewSearchField(Placeholder, "Esc")
	v.field.OnChanged = v.find
	v.field.OnCancel = v.Close
	v.field.OnMove = v.move
	v.field.OnChoose = func() {
		v.isAwaited = v.search != nil && len(v.entries) == 0
		v.choose(v.current)
	}
	v.list = widgets.NewItemList(v.choose)
	v.list.Compact = true
	v.note.Hide()
	v.box = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner),
		widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside,
			widgets.Border(widgets.Inset(0, 0, style.Gap, 0, v.field), nil, nil, nil, container.NewStack(v.list, widgets.Inset(style.Inside, style.Inside, 0, style.Inside, widgets.Col(0, v.note))))))
	v.Compose(v, container.New(place{}, v.box))
	v.Resize(c.Size())
	c.Unfocus() // two fields with a focus ring would be confusing
	c.Overlays().Add(v)
	c.Focus(v.field)
	v.find("")
	bind.Run(v.ctx, m.Load, func(error) { // with what could be loaded
		isAwaited := v.isAwaited
		v.find(v.field.Text)
		v.isAwaited = isAwaited && v.search != nil
	})
	return v
}

// place puts the palette into the middle of the upper part of a window.
type place struct{}

func (place) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (place) Layout(o []fyne.CanvasObject, size fyne.Size) {
	scale := style.Size("text") / 14
	w := min(width*scale, size.Width-2*style.Inside)
	y := min(float32(top), size.Height/10)
	o[0].Resize(fyne.NewSize(w, min(height*scale, size.Height-2*y)))
	o[0].Move(fyne.NewPos((size.Width-w)/2, y))
}

// find shows what fits the query.
func (v *View) find(query string) {
	v.stopSearch()
	if !IsPath(query) {
		v.searchBelow(query, v.model.Find(query))
		return
	}
	bind.Go(v.ctx, func(ctx context.Context) ([]Entry, error) { return v.model.Files(ctx, query) }, func(list []Entry, err error) {
		if v.field.Text != query { // a later one is shown
			return
		}
		if err != nil {
			v.show(nil, v.model.noFolder(err))
			return
		}
		v.show(list, "No file or folder begins like this.")
	})
}

// searchBelow shows what fits a query, and then the files below the workspace, too.
func (v *View) searchBelow(query string, list []Entry) {
	if !IsSearch(query) {
		v.show(list, nothingFound)
		return
	}
	v.show(list, searching)
	ctx, end := context.WithCancel(v.ctx)
	v.search = end
	bind.Go(ctx, func(ctx context.Context) ([]Entry, error) { return v.model.Below(ctx, query) }, func(files []Entry, _ error) {
		current, isAwaited := v.current, v.isAwaited
		v.stopSearch()
		v.show(Join(v.model.Find(query), files), nothingFound) // what can be searched without files is shown
		v.move(current)
		if isAwaited {
			v.choose(v.current)
		}
	})
}

// stopSearch ends the search for files.
func (v *View) stopSearch() {
	if v.search != nil {
		v.search()
	}
	v.search, v.isAwaited = nil, false
}

func (v *View) show(list []Entry, none string) {
	v.entries, v.current = list, 0
	v.note.Set(none, style.ColorMuted)
	widgets.SetVisible(v.note, len(list) == 0)
	items := make([]widgets.ListItem, len(v.entries))
	for i, e := range v.entries {
		items[i] = widgets.ListItem{Icon: e.Icon, Title: e.Title, Detail: e.Kind}
	}
	v.list.Set(items)
	v.list.Highlight(0)
}

func (v *View) move(by int) {
	if len(v.entries) == 0 {
		return
	}
	v.current = (v.current + by + len(v.entries)) % len(v.entries)
	v.list.Highlight(v.current)
}

func (v *View) choose(i int) {
	if i >= len(v.entries) {
		return
	}
	e := v.entries[i]
	v.Close()
	if e.Do != nil {
		e.Do()
		return
	}
	v.host.Open(e.Target)
}

// Close closes the palette and gives the focus back.
func (v *View) Close() {
	v.cancel()
	v.canvas.Overlays().Remove(v)
	if v.before != nil {
		v.canvas.Focus(v.before)
	}
}

// Tapped implements fyne.Tappable: a click beside the palette closes it.
func (v *View) Tapped(*fyne.PointEvent) { v.Close() }
