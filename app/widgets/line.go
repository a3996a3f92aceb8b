package widgets

import (
	"image"

	"fyne.io/fyne/v2"
)

// Line shows one line of code, cut to the available width. Its text can be selected.
type Line struct {
	Code
	// OnTap is called for a tap that does not select text.
	OnTap func()

	// Repeated is set if another passage begins with the same text: search results count there.
	Repeated bool
}

var _ fyne.Tappable = (*Line)(nil)

func newLine() *Line {
	l := &Line{Code: Code{marks: marks{current: -1}}}
	l.ExtendBaseWidget(l)
	l.SetLines(nil)
	return l
}

// SetText shows another line.
func (l *Line) SetText(text string) {
	if text != l.Words() {
		l.SetLines(PlainLines(text))
	}
}

// Tapped implements fyne.Tappable.
func (l *Line) Tapped(*fyne.PointEvent) { call(l.OnTap) }

// Index implements [Passage].
func (l *Line) Index(at fyne.Position) int {
	at.Y = 0
	return l.Code.Index(at)
}

// room returns the available columns.
func (l *Line) room() int { return int((l.Size().Width + 0.5) / codeCell().Width) }

// Cut reports whether the text is cut.
func (l *Line) Cut() bool { return l.columns > l.room() }

// Hides reports whether a search result is in the cut part.
func (l *Line) Hides(hit int) bool {
	if hit < 0 || hit >= len(l.marks.hits) {
		return false
	}
	n := l.room()
	text := []rune(l.Words())
	return l.Cut() && columns(string(text[:min(l.marks.hits[hit][1], len(text))])) >= n
}

// draw paints the visible part, with … for the rest.
func (l *Line) draw(w, h int) image.Image {
	cell := codeCell()
	wide := float32(w) * cell.Height / float32(max(h, 1))
	shown := Code{lines: l.lines, offs: l.offs, marks: l.marks, viewed: true, shown: fyne.NewSize(wide, cell.Height)}
	if n := int((wide + 0.5) / cell.Width); l.columns > n && len(l.lines) > 0 {
		text := []rune(l.lines[0].text())
		room := 0
		for room < len(text) && columns(string(text[:room+1])) < n {
			room++
		}
		shown.lines = []CodeLine{{Spans: []Span{{Text: string(text[:room]) + "…"}}}}
		shown.offs = []int{0, room + 2}
	}
	shown.columns = l.columns
	return shown.draw(w, h)
}

// CreateRenderer implements fyne.Widget.
func (l *Line) CreateRenderer() fyne.WidgetRenderer {
	return &lineRenderer{l: l, picture: newPicture(l.draw)}
}

type lineRenderer struct {
	l *Line
	*picture
}

func (r *lineRenderer) MinSize() fyne.Size {
	cell := codeCell()
	return fyne.NewSize(min(cell.Width*float32(r.l.columns), 24), cell.Height)
}

func (r *lineRenderer) Layout(size fyne.Size) {
	cell := codeCell()
	r.place(fyne.NewPos(0, (size.Height-cell.Height)/2), fyne.NewSize(min(cell.Width*float32(r.l.columns), size.Width), cell.Height))
}

func (r *lineRenderer) Refresh() {
	r.Layout(r.l.Size())
	r.renew()
}

func (r *lineRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.raster} }
func (r *lineRenderer) Destroy()                     {}
