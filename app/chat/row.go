package chat

import (
	_ "image/gif"  // the supported formats
	_ "image/jpeg" // these three only
	_ "image/png"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/transcript"
)

// row is one row of the transcript: a widget with space above it, and a function that shows an item
// in it.
type row struct {
	widget.BaseWidget
	content fyne.CanvasObject
	top     float32
	bind    func(transcript.Item)
}

func newRow(top float32, o fyne.CanvasObject, bind func(transcript.Item)) *row {
	r := &row{content: o, top: top, bind: bind}
	r.ExtendBaseWidget(r)
	return r
}

// Bind implements transcript.Row.
func (r *row) Bind(i transcript.Item) {
	r.bind(i)
	r.place(r.Size())
}

func (r *row) place(s fyne.Size) {
	if s.Width > 0 {
		r.content.Move(fyne.NewPos(0, r.top))
		r.content.Resize(fyne.NewSize(s.Width, max(s.Height-r.top-style.Gap, 0)))
	}
}

func (r *row) CreateRenderer() fyne.WidgetRenderer { return &rowRenderer{r} }

type rowRenderer struct{ r *row }

func (x *rowRenderer) MinSize() fyne.Size {
	return x.r.content.MinSize().AddWidthHeight(0, x.r.top+style.Gap)
}

func (x *rowRenderer) Layout(s fyne.Size) { x.r.place(s) }

func (x *rowRenderer) Refresh() { x.r.content.Refresh() }

func (x *rowRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{x.r.content} }

func (x *rowRenderer) Destroy() {}

// Passages returns its selectable texts.
func (r *row) Passages() []selection.Passage {
	if c, ok := r.content.(interface{ Passages() []selection.Passage }); ok {
		return c.Passages()
	}
	return nil
}
