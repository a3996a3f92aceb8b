package code

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/widgets"
)

// LineView shows one line of code, cut to the available width.
type LineView struct {
	widget.BaseWidget
	selection.Mouse
	OnTap func() // for a tap that does not select text
	// Repeated is set if another passage begins with the same text: search results count there.
	Repeated bool

	text    *selection.Text
	rows    *rows
	picture *picture
}

// NewLineView creates an empty line.
func NewLineView() *LineView {
	l := &LineView{rows: &rows{}}
	l.text, l.Mouse = selection.NewText(l, l.rows.texts), selection.NewMouse(l)
	l.picture = newPicture(l.text, l.rows)
	l.ExtendBaseWidget(l)
	l.setLines(nil)
	return l
}

// SetText shows another line.
func (l *LineView) SetText(text string) {
	if text != l.text.PlainText() {
		l.setLines(PlainLines(text))
	}
}

func (l *LineView) setLines(lines []Line) {
	l.rows.set(lines)
	l.text.Changed()
}

// CreateRenderer implements fyne.Widget.
func (l *LineView) CreateRenderer() fyne.WidgetRenderer { return l.picture.renderer(l.Size) }

// Tapped implements fyne.Tappable.
func (l *LineView) Tapped(*fyne.PointEvent) { widgets.Call(l.OnTap) }

// MinSize implements fyne.CanvasObject.
func (l *LineView) MinSize() fyne.Size {
	cell := Cell()
	return fyne.NewSize(min(cell.Width*float32(l.rows.columns), 24), cell.Height)
}

// Resize implements fyne.CanvasObject.
func (l *LineView) Resize(size fyne.Size) {
	l.BaseWidget.Resize(size)
	if l.picture.setView(fyne.Position{}, size) {
		l.Refresh()
	}
}

// Index implements [selection.Passage].
func (l *LineView) Index(at fyne.Position) int {
	at.Y = 0
	return l.rows.index(at)
}

// Selectable implements [selection.Passage].
func (l *LineView) Selectable() *selection.Text { return l.text }

// AccessibilityLabel implements fyne.Accessible.
func (l *LineView) AccessibilityLabel() string { return l.text.AccessibleText() }

// AccessibilityRole implements fyne.Accessible.
func (l *LineView) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// PositionOf implements [selection.Passage].
func (l *LineView) PositionOf(at int) fyne.Position { return l.rows.positionOf(at) }

// Slice implements [selection.Passage].
func (l *LineView) Slice(from, to int) string { return l.text.Slice(from, to) }

// room returns the available columns.
func (l *LineView) room() int { return int((l.Size().Width + 0.5) / Cell().Width) }

// Cut reports whether the text is cut.
func (l *LineView) Cut() bool { return l.rows.columns > l.room() }

// Hides reports whether a search result is in the cut part.
func (l *LineView) Hides(hit int) bool {
	if hit < 0 || hit >= len(l.text.Hits) {
		return false
	}
	return l.Cut() && columns(l.Slice(0, l.text.Hits[hit][1])) >= l.room()
}
