package code

import (
	"image"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
	"fairlead/app/widgets"
)

// LineView shows one line of code, cut to the available width. Its text can be selected.
type LineView struct {
	View
	// OnTap is called for a tap that does not select text.
	OnTap func()

	// Repeated is set if another passage begins with the same text: search results count there.
	Repeated bool
}

var _ fyne.Tappable = (*LineView)(nil)

// NewLineView creates an empty line.
func NewLineView() *LineView {
	l := &LineView{View: View{Highlights: selection.Highlights{Current: -1}}}
	l.ExtendBaseWidget(l)
	l.SetLines(nil)
	return l
}

// SetText shows another line.
func (l *LineView) SetText(text string) {
	if text != l.PlainText() {
		l.SetLines(PlainLines(text))
	}
}

// Tapped implements fyne.Tappable.
func (l *LineView) Tapped(*fyne.PointEvent) { widgets.Call(l.OnTap) }

// Index implements [selection.Passage].
func (l *LineView) Index(at fyne.Position) int {
	at.Y = 0
	return l.View.Index(at)
}

// room returns the available columns.
func (l *LineView) room() int { return int((l.Size().Width + 0.5) / Cell().Width) }

// Cut reports whether the text is cut.
func (l *LineView) Cut() bool { return l.columns > l.room() }

// Hides reports whether a search result is in the cut part.
func (l *LineView) Hides(hit int) bool {
	if hit < 0 || hit >= len(l.Highlights.Hits) {
		return false
	}
	n := l.room()
	text := []rune(l.PlainText())
	return l.Cut() && columns(string(text[:min(l.Highlights.Hits[hit][1], len(text))])) >= n
}

// draw paints the visible part, with … for the rest.
func (l *LineView) draw(w, h int) image.Image {
	cell := Cell()
	wide := float32(w) * cell.Height / float32(max(h, 1))
	shown := View{lines: l.lines, offsets: l.offsets, Highlights: l.Highlights, viewed: true, shown: fyne.NewSize(wide, cell.Height)}
	if n := int((wide + 0.5) / cell.Width); l.columns > n && len(l.lines) > 0 {
		text := []rune(l.lines[0].Text())
		room := 0
		for room < len(text) && columns(string(text[:room+1])) < n {
			room++
		}
		shown.lines = []Line{{Spans: []Span{{Text: string(text[:room]) + "…"}}}}
		shown.offsets = []int{0, room + 2}
	}
	shown.columns = l.columns
	return shown.draw(w, h)
}

// CreateRenderer implements fyne.Widget.
func (l *LineView) CreateRenderer() fyne.WidgetRenderer {
	return &lineRenderer{l: l, Raster: widgets.NewRaster(l.draw)}
}

type lineRenderer struct {
	l *LineView
	*widgets.Raster
}

func (r *lineRenderer) MinSize() fyne.Size {
	cell := Cell()
	return fyne.NewSize(min(cell.Width*float32(r.l.columns), 24), cell.Height)
}

func (r *lineRenderer) Layout(size fyne.Size) {
	cell := Cell()
	r.Place(fyne.NewPos(0, (size.Height-cell.Height)/2), fyne.NewSize(min(cell.Width*float32(r.l.columns), size.Width), cell.Height))
}

func (r *lineRenderer) Refresh() {
	r.Layout(r.l.Size())
	r.Redraw()
}

func (r *lineRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.Image} }
func (r *lineRenderer) Destroy()                     {}
