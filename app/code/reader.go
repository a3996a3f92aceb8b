package code

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Reader shows a long text with a search field, for a window of its own. Text is selected with the
// mouse.
type Reader struct {
	widgets.Composite
	OnClose func() // for Escape in the empty search field

	panel  *Panel
	field  *widgets.SearchField
	count  *widgets.Text
	hit    int // current search result
	anchor int // where the selection began
}

// NewReader creates a reader of lines; size says how many there are.
func NewReader(lines []Line, size string) *Reader {
	r := &Reader{panel: NewPanel(100_000), field: widgets.NewSearchField("Search", ""), count: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	r.panel.SetLines(lines)
	view := r.panel.View()
	view.Events = &selection.Events{OnPress: r.press}
	r.field.OnChanged = func(string) { r.show(0) }
	r.field.OnCancel = func() { widgets.Call(r.OnClose) }
	r.field.OnMove = func(by int) { r.show(r.hit + by) }
	r.field.OnChoose = func() { r.show(r.hit + widgets.Choose(r.field.Shift, -1, 1)) }
	up := widgets.NewIconButton("up", "Previous result", func() { r.show(r.hit - 1) })
	down := widgets.NewIconButton("down", "Next result", func() { r.show(r.hit + 1) })
	wrap := widgets.NewCheckBox("Wrap lines", r.panel.SetWrap)
	copyAll := widgets.NewButton("Copy all", "copy", func() { fyne.CurrentApp().Clipboard().SetContent(view.text.PlainText()) })
	bar := widgets.Row(style.Inside, 0, r.field, r.count, up, down, wrap, copyAll)
	foot := widgets.Inset(style.Gap, 0, 0, 0, widgets.NewText(size, style.ColorMuted, style.SizeSmall))
	r.Compose(r, widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, widgets.Border(widgets.Inset(0, 0, style.Inside, 0, bar), foot, nil, nil, container.New(fillLayout{}, r.panel))))
	return r
}

// fillLayout gives its object all space, however high the object's content is.
type fillLayout struct{}

func (fillLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(240, 120) }

func (fillLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }

// SearchField returns the search field, for a window that focuses it.
func (r *Reader) SearchField() fyne.Focusable { return r.field }

// show shows a search result; beyond the last one it continues with the first.
func (r *Reader) show(hit int) {
	view := r.panel.View()
	n := view.text.Find(r.field.Text)
	r.hit = 0
	text := ""
	switch {
	case n > 0:
		r.hit = (hit + n) % n
		view.Reveal(view.text.ShowHit(r.hit))
		text = fmt.Sprintf("%d of %d", r.hit+1, n)
	case r.field.Text != "":
		text = "Not found"
	}
	r.count.SetText(text)
	r.LayOut()
}

// press begins a selection at a mouse press.
func (r *Reader) press(_ selection.Passage, at, times int) {
	view := r.panel.View()
	from, to := at, at
	if times > 1 {
		from, to = view.text.Word(at, times > 2)
	}
	r.anchor = from
	view.text.Select(from, to)
}

// Dragged implements fyne.Draggable: it selects up to the mouse, and scrolls beyond the edges.
func (r *Reader) Dragged(e *fyne.DragEvent) {
	view := r.panel.View()
	at := e.AbsolutePosition.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(view))
	from, shown := view.VisibleArea()
	beyond := func(v, low, long float32) float32 { return min(v-low, 0) + max(v-low-long, 0) }
	view.DragBy(fyne.NewDelta(beyond(at.X, from.X, shown.Width), beyond(at.Y, from.Y, shown.Height)))
	view.text.Select(r.anchor, view.Index(at))
}

// DragEnd implements fyne.Draggable.
func (r *Reader) DragEnd() {}

// Selected returns the selected text.
func (r *Reader) Selected() string {
	view := r.panel.View()
	return view.Slice(view.text.From, view.text.To)
}
