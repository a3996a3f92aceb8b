package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// titleSpace is the space before the titles of pages. titleHasBack is whether it has a way back.
var (
	titleSpace   fyne.Size
	titleHasBack bool
)

// ReserveTitleSpace reserves space of a size before the title of every page for an object of the
// window, such as a button; the zero size removes it. If the object is a way back, pages hide their
// own. It belongs to the GUI thread. Visible pages must be refreshed afterwards.
func ReserveTitleSpace(room fyne.Size, isBack bool) { titleSpace, titleHasBack = room, isBack }

// NewPage creates a page: its title with actions beside or below it, and the body. The way back, the
// button with that icon, stands before the title: the second click of a double click on the button
// that opened the page must not close it.
func NewPage(title string, body fyne.CanvasObject, actions ...fyne.CanvasObject) fyne.CanvasObject {
	name := NewHeading(title, style.SizeTitle)
	name.Ellipsis = true
	l := &pageLayout{title: title}
	others := slices.Clone(actions)
	for i, a := range actions {
		if b, ok := a.(*Button); ok && b.Icon == "back" {
			l.hasBack, others = true, append([]fyne.CanvasObject{b}, slices.Delete(others, i, i+1)...)
			break
		}
	}
	return container.New(l, append(append([]fyne.CanvasObject{name}, others...), body)...)
}

// minTitleWidth is the minimum width of a long title beside its actions.
const minTitleWidth = 140

// titleHeight returns the height of a title's line: that of a button, whether there is one or not, so
// that all titles stand at the same place.
func titleHeight(name fyne.CanvasObject) float32 {
	return max(name.MinSize().Height, titleSpace.Height, buttonHeight, MeasureText("M", style.Size("text"), fyne.TextStyle{}).Height+8)
}

type pageLayout struct {
	title   string
	hasBack bool // the first action is the way back
	hidBack bool // because the title has one
}

func (l *pageLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	body, actions := o[len(o)-1].MinSize(), o[1:len(o)-1]
	width, height := body.Width, titleHeight(o[0])
	for _, a := range actions {
		m := a.MinSize()
		width, height = max(width, m.Width), max(height, m.Height)
	}
	return fyne.NewSize(width+2*style.Page, 2*style.Group+height+body.Height)
}

func (l *pageLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left, right, y := max(style.Page, titleSpace.Width), size.Width-style.Page, style.Group
	height, wide := titleHeight(o[0]), float32(0)
	body, actions := o[len(o)-1], o[1:len(o)-1]
	switch {
	case !l.hasBack:
	case titleHasBack && actions[0].Visible():
		actions[0].Hide()
		l.hidBack = true
	case !titleHasBack && l.hidBack: // not if the page itself hides it
		actions[0].Show()
		l.hidBack = false
	}
	for _, a := range actions {
		if m := a.MinSize(); a.Visible() {
			height, wide = max(height, m.Height), wide+style.Inside+m.Width
		}
	}
	put := func(c fyne.CanvasObject, x, width float32) {
		h := c.MinSize().Height
		c.Resize(fyne.NewSize(max(width, 0), h))
		c.Move(fyne.NewPos(x, y+(height-h)/2))
	}
	name := MeasureText(l.title, style.Size(style.SizeTitle), fyne.TextStyle{Bold: true}).Width
	x, back := right-wide+style.Inside, float32(0)
	if right-wide-left < min(name, minTitleWidth*style.Size("text")/14) {
		put(o[0], left, right-left)
		y += height + style.Gap
		x = style.Page
	} else {
		if l.hasBack && actions[0].Visible() {
			back = actions[0].MinSize().Width + style.Inside
			put(actions[0], left, back-style.Inside)
			actions = actions[1:]
		}
		put(o[0], left+back, right-wide-left)
		x += back
	}
	for _, a := range actions {
		if !a.Visible() {
			continue
		}
		m := a.MinSize()
		if x+m.Width > right+0.5 && x > style.Page {
			x, y = style.Page, y+height+style.Gap
		}
		put(a, x, m.Width)
		x += m.Width + style.Inside
	}
	y += height + style.Group
	body.Move(fyne.NewPos(style.Page, y))
	body.Resize(fyne.NewSize(size.Width-2*style.Page, max(size.Height-y, 0)))
}

// WithHeader puts an object at the top, with its height for the width, and another below it.
func WithHeader(top, rest fyne.CanvasObject) *fyne.Container {
	return container.New(&FrameLayout{Top: top, Rest: rest}, top, rest)
}

// FrameLayout fits objects at the top and the bottom around the rest. Either may be nil.
type FrameLayout struct{ Top, Rest, Bottom fyne.CanvasObject }

// MinSize implements fyne.Layout.
func (l *FrameLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	sum, most := Measure(0, o)
	return fyne.NewSize(most.Width, sum.Height)
}

// Layout implements fyne.Layout.
func (l *FrameLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	top, bottom := float32(0), float32(0)
	if l.Top != nil {
		top = Fit(l.Top, size.Width)
		l.Top.Move(fyne.Position{})
	}
	if l.Bottom != nil {
		bottom = Fit(l.Bottom, size.Width)
		l.Bottom.Move(fyne.NewPos(0, size.Height-bottom))
	}
	l.Rest.Move(fyne.NewPos(0, top))
	l.Rest.Resize(fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
}

// NewForm creates the body of a page that scrolls as a whole. Scrolling objects in it, such as a
// [code.Panel], must forward the scroll events that they do not use.
func NewForm(rows ...fyne.CanvasObject) *container.Scroll {
	return NewVScroll(Inset(0, style.Inside, style.Page, 0, LimitWidth(720, true, Col(style.Group, rows...))))
}

// NewInputForm is [NewForm] for fields that are saved together: the message about that and the
// buttons stay in view below the fields.
func NewInputForm(message, buttons fyne.CanvasObject, rows ...fyne.CanvasObject) *fyne.Container {
	return WithFormFoot(NewForm(rows...), message, buttons)
}

// WithFormFoot puts the message and the buttons of [NewInputForm] below a form that exists.
func WithFormFoot(form *container.Scroll, message, buttons fyne.CanvasObject) *fyne.Container {
	return WithFoot(form, Inset(0, style.Inside, style.Group, 0, NewFormFoot(message, buttons)))
}

// NewFormFoot creates what stays in view below the fields of a form: a line, and objects below it.
func NewFormFoot(rows ...fyne.CanvasObject) fyne.CanvasObject {
	return LimitWidth(720, true, Col(style.Inside, append([]fyne.CanvasObject{Inset(0, 0, style.Gap, 0, HLine())}, rows...)...))
}

// WithFoot puts an object at the bottom, with its height for the width, and another above it.
func WithFoot(rest, foot fyne.CanvasObject) *fyne.Container {
	return container.New(&FrameLayout{Rest: rest, Bottom: foot}, rest, foot)
}

// DraftRestored says that a form or a file is shown as the person left it, with unsaved changes.
const DraftRestored = "Your unsaved changes were restored."

// NewDraftLine creates the line above a form that offers to discard its draft. It is hidden if the
// form was opened without one.
func NewDraftLine(isRestored bool, discard func()) fyne.CanvasObject {
	line := Flow(style.Inside, NewText(DraftRestored, style.ColorMuted, "text"), NewQuietButton("Discard", "undo", discard))
	SetVisible(line, isRestored)
	return line
}

// NewField creates an input below its label, which also is its name for reading aids.
func NewField(name string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	NameControls(name, rows...)
	return Col(style.Gap, append([]fyne.CanvasObject{NewText(name, style.ColorMuted, style.SizeSmall)}, rows...)...)
}

// NewNamedField is [NewField] for a name from outside, which may be wider than the page.
func NewNamedField(name string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	NameControls(name, rows...)
	return Col(style.Gap, append([]fyne.CanvasObject{NewParagraph(name, style.ColorMuted, style.SizeSmall)}, rows...)...)
}

// NewFact creates a text below its label.
func NewFact(name, text string) fyne.CanvasObject {
	return NewField(name, NewParagraph(text, style.ColorText, "text"))
}

// NewSectionHeading creates the small heading of a section, with actions at the right.
func NewSectionHeading(title string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	t := NewText(title, style.ColorMuted, style.SizeSmall)
	t.Style.Bold, t.Ellipsis = true, true
	if len(actions) == 0 {
		return Inset(style.Inside, 0, 0, 0, t)
	}
	return Inset(style.Inside, 0, 0, 0, Row(style.Inside, 0, append([]fyne.CanvasObject{t}, actions...)...))
}

// Focus focuses an object if it is on the screen.
func Focus(o interface {
	fyne.CanvasObject
	fyne.Focusable
},
) {
	FocusIn(o, o)
}

// FocusIn focuses an object that may not have been drawn yet, in the window of another one, or that of
// [Opening] if that has not been drawn either.
func FocusIn(window fyne.CanvasObject, o fyne.Focusable) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(window); c != nil {
		c.Focus(o)
		return
	}
	undrawn = o
}

// undrawn is the object to focus whose window the toolkit does not know. It belongs to the GUI thread.
var undrawn fyne.Focusable

// Opening calls a function that opens a page in a window, and focuses what that wants to be focused.
func Opening(window fyne.Canvas, open func()) {
	undrawn = nil
	open()
	if undrawn != nil {
		window.Focus(undrawn)
		undrawn = nil
	}
}
