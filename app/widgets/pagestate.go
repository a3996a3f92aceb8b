package widgets

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Problem is the content of an [ErrorBox]: what happened, what to do, and a button for that.
type Problem struct {
	Title    string
	Advice   string
	Button   string // empty for none
	CanRetry bool   // shows a second button, which retries the failed action
	// IsInfo marks a state that is no error: the person only has to wait.
	IsInfo bool
}

// ErrorBox shows a problem.
type ErrorBox struct {
	Composite
	OnButton      func()
	OnRetry       func()
	title, advice *Paragraph
	icon          *widget.Icon
	edge          *Rect
	button        *Button
	retry         *Button
	foot          *fyne.Container
}

// NewErrorBox creates a box.
func NewErrorBox(p Problem, onButton func()) *ErrorBox {
	b := &ErrorBox{OnButton: onButton, title: NewParagraph("", style.ColorText, "text"), advice: NewParagraph("", style.ColorMuted, "text")}
	b.button = NewButton("", "", func() { Call(b.OnButton) })
	b.retry = NewQuietButton("Try again", "", func() { Call(b.OnRetry) })
	b.foot = Row(style.Inside, 0, layout.NewSpacer(), b.retry, b.button)
	b.icon = widget.NewIcon(style.IconIn("warning", style.ColorBad))
	b.edge = NewRect(style.ColorBad, "", 2)
	b.edge.SetMinSize(fyne.NewSize(3, 0))
	text := WithIcon("text", 0, b.icon, Col(style.Gap, b.title, b.advice, b.foot))
	b.Compose(b, container.NewStack(NewRect(style.ColorSurface, style.ColorLine, style.Corner), Border(nil, nil, b.edge, nil, Inset(8, 10, 8, 10, text))))
	b.Set(p)
	return b
}

// Set shows another problem.
func (b *ErrorBox) Set(p Problem) {
	b.title.Set(p.Title, style.ColorText)
	b.advice.Set(p.Advice, style.ColorMuted)
	color := Choose(p.IsInfo, style.ColorAccent, style.ColorBad)
	SetIcon(b.icon, Choose(p.IsInfo, "info", "warning"), color)
	b.edge.Set(color, "")
	b.button.SetText(p.Button)
	SetVisible(b.advice, p.Advice != "")
	SetVisible(b.retry, p.CanRetry)
	SetVisible(b.foot, p.Button != "")
	b.LayOut()
}

// NewEmptyState creates the content of an empty view, with actions such as a button for adding.
func NewEmptyState(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	parts := []fyne.CanvasObject{}
	if icon != "" {
		i := widget.NewIcon(style.IconIn(icon, style.ColorMuted))
		parts = append(parts, container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(32), i)))
	}
	h := NewParagraph(title, style.ColorText, style.SizeTitle)
	h.segment.Style.Alignment, h.segment.Style.TextStyle.Bold = fyne.TextAlignCenter, true
	parts = append(parts, h)
	if text != "" {
		p := NewParagraph(text, style.ColorMuted, "text")
		p.segment.Style.Alignment = fyne.TextAlignCenter
		parts = append(parts, p)
	}
	if len(actions) > 0 {
		parts = append(parts, Inset(style.Inside, 0, 0, 0, container.New(&flowLayout{gap: style.Inside, centre: true}, actions...)))
	}
	return container.New(&emptyLayout{limitLayout{width: func() float32 { return emptyWidth }}}, Col(style.Inside, parts...))
}

// Widths of an empty state: the maximum, and the minimum width that it requests.
const (
	emptyWidth    float32 = 620
	minEmptyWidth float32 = 320
)

// emptyLayout requests the space that the text needs: wrapping texts request almost none.
type emptyLayout struct{ limitLayout }

func (l *emptyLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	if o[0].Size().Width <= 0 {
		Fit(o[0], minEmptyWidth)
	}
	m := o[0].MinSize()
	return fyne.NewSize(max(m.Width, min(o[0].Size().Width, minEmptyWidth)), m.Height)
}

// Body is the area of a page that is rebuilt only when its structure changes: meanwhile a field
// keeps the focus and its text, and a list its position, while their content is updated. Create it
// with [NewBody].
type Body struct {
	Box *fyne.Container
	key string
}

// NewBody creates an empty one.
func NewBody() Body { return Body{Box: container.NewStack()} }

// Content returns the area.
func (s *Body) Content() fyne.CanvasObject { return s.Box }

// Draw shows the result of make, unless it shows that structure. It reports whether it called make.
func (s *Body) Draw(parts string, make func() fyne.CanvasObject) bool {
	if s.key == parts && len(s.Box.Objects) > 0 {
		return false
	}
	s.Put(make())
	s.key = parts
	return true
}

// Put shows an object until the next Draw.
func (s *Body) Put(o fyne.CanvasObject) {
	s.key = ""
	SetContent(s.Box, o)
}

// Forget forces the next Draw to rebuild.
func (s *Body) Forget() { s.key = "" }

// LayOutText lays the content out after a text has changed.
func (s *Body) LayOutText() {
	s.Box.Refresh()
	s.Box.Refresh() // the height of wrapped text is known only after the first layout
}

// NewLoading is the placeholder for content that is loading.
func NewLoading() fyne.CanvasObject {
	return container.NewVBox(NewText("Loading…", style.ColorMuted, "text"))
}

// NewEmptyPage is the text at the top of an empty page; see [NewEmptyState].
func NewEmptyPage(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVBox(Inset(64, 0, 0, 0, NewEmptyState(icon, title, text, actions...)))
}

// NewEmptyList is the text in place of a list below other objects, such as a search field.
func NewEmptyList(icon, title, text string) fyne.CanvasObject {
	return container.NewVBox(Inset(2*style.Page, 0, 0, 0, NewEmptyState(icon, title, text)))
}

// NewLoadError is the placeholder for content that could not be loaded, with a button to retry.
func NewLoadError(what, why string, retry func()) fyne.CanvasObject {
	return container.NewVBox(NewErrorBox(Problem{Title: what, Advice: why, Button: "Try again"}, retry))
}

// Toast shows a completed action and offers to undo it. Its window calls [Toast.Tick].
type Toast struct {
	Composite
	text      *Paragraph
	remaining *Text
	undo      *Button
	closeIt   *Button
	until     time.Time
	onUndo    func()
	onClose   func()
}

// NewToast creates a hidden bar. onClose is called when it has been closed or has expired.
func NewToast(onClose func()) *Toast {
	t := &Toast{onClose: onClose, text: NewParagraph("", style.ColorText, "text"), remaining: NewText("", style.ColorMuted, style.SizeSmall)}
	t.undo = NewButton("Undo", "undo", t.Undo)
	t.closeIt = NewIconButton("cross", "Close the message", t.Close)
	t.Compose(t, container.NewStack(NewRect("menuBackground", style.ColorLine, style.Corner),
		Inset(6, 6, 6, 12, Row(style.Inside, 0, t.text, t.remaining, t.undo, t.closeIt))))
	t.Hide()
	return t
}

// ShowMessage shows text until a time; undo may be nil.
func (t *Toast) ShowMessage(text string, undo func(), now, until time.Time) {
	t.undo.Icon = "undo"
	t.undo.SetText("Undo")
	t.onUndo, t.until = undo, until
	t.text.Set(text, style.ColorText)
	SetVisible(t.undo, undo != nil)
	SetVisible(t.remaining, undo != nil)
	t.Show()
	t.Tick(now)
}

// ShowAction shows text with a button for something else than undoing it.
func (t *Toast) ShowAction(text, label string, act func(), now, until time.Time) {
	t.ShowMessage(text, act, now, until)
	t.undo.Icon = ""
	t.undo.SetText(label)
	t.remaining.Hide()
	t.LayOut()
}

// NaturalWidth returns the width at which the text needs one line.
func (t *Toast) NaturalWidth() float32 {
	const lineSpace = 40 // of the line without its text, and a little more
	width := MeasureText(t.text.Text(), style.Size("text"), fyne.TextStyle{}).Width + lineSpace
	for _, o := range []fyne.CanvasObject{t.remaining, t.undo, t.closeIt} {
		if o.Visible() {
			width += o.MinSize().Width + style.Inside
		}
	}
	return width
}

// Tick shows the remaining time and hides the bar when it has expired.
func (t *Toast) Tick(now time.Time) {
	if !t.Visible() {
		return
	}
	rest := t.until.Sub(now)
	if rest <= 0 {
		t.Close()
		return
	}
	t.remaining.SetText(fmt.Sprintf("%d s", int((rest+time.Second-1)/time.Second)))
	t.LayOut()
}

// Undo does the same as its button.
func (t *Toast) Undo() {
	act := t.onUndo
	t.Close()
	Call(act)
}

// Close hides the bar.
func (t *Toast) Close() {
	t.onUndo = nil
	t.Hide()
	t.onClose()
}
