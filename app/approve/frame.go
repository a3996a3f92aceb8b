package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Width is the dialog's width, and WideWidth that for changes, which are shown side by side.
const (
	Width     float32 = 640
	WideWidth float32 = 920
)

// Limits of the height.
const minHeight, maxHeight float32 = 300, 640

// frame is the window around a question: title, notice, scrolled content and buttons.
type frame struct {
	*buttons
	canvas fyne.Canvas
	onGrow func(fyne.Size) // enlarges the window
	wide   bool            // the content is a change

	title, timeLeft, position *widgets.Text
	notice                    *widgets.Text
	noticeRow                 *fyne.Container
	body                      *fyne.Container
	scroll                    *container.Scroll
	progress                  *canvas.Rectangle // of arming Allow
	head, foot                *fyne.Container   // fixed content above and below the scrolled content
	box                       fyne.CanvasObject
}

func newFrame(b *buttons, c fyne.Canvas) *frame {
	f := &frame{buttons: b, canvas: c, title: widgets.NewHeading("", style.SizeTitle), body: container.NewStack()}
	f.timeLeft, f.position = widgets.NewText("", style.ColorMuted, style.SizeSmall), widgets.NewText("", style.ColorMuted, style.SizeSmall)
	f.notice = widgets.NewText("", style.ColorNeedsYou, style.SizeSmall)
	f.notice.Ellipsis = true
	f.scroll = container.NewVScroll(f.body)
	f.progress = canvas.NewRectangle(style.Color(style.ColorAccent))
	title := widgets.Inset(style.Group, style.Page, style.Inside, style.Page, widgets.Row(style.Group, 0, f.title, f.position, f.timeLeft))
	f.noticeRow = widgets.Inset(0, style.Page, style.Inside, style.Page, f.notice)
	f.noticeRow.Hide()
	f.head = container.NewVBox(title, f.noticeRow, widgets.HLine())
	f.foot = container.NewVBox(widgets.HLine(), container.NewWithoutLayout(f.progress),
		widgets.Inset(style.Inside, style.Page, style.Group, style.Page, container.NewVBox(b.questionRow, b.stepRow)))
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), container.New(frameLayout{}, f.scroll, f.head, f.foot))
	return f
}

// setNotice shows a line above the question; empty hides it.
func (f *frame) setNotice(text string) {
	f.notice.SetText(text)
	widgets.SetVisible(f.noticeRow, text != "")
	f.box.Refresh()
	if text != "" {
		f.grow()
	}
}

// setContent shows an object between the title and the buttons.
func (f *frame) setContent(o fyne.CanvasObject) {
	widgets.SetContent(f.body, widgets.Inset(style.Inside, style.Page, style.Inside, style.Page, o))
	f.scroll.ScrollToTop()
	f.grow()
}

// askReason shows the field for a reason to deny.
func (f *frame) askReason() {
	f.reasonRow.Show()
	f.box.Refresh()
	f.grow()
	f.canvas.Focus(f.reason)
}

// setProgress shows how far Allow is armed.
func (f *frame) setProgress(armed bool, progress float64, width float32) {
	f.progress.FillColor = style.Color(style.ColorAccent)
	f.progress.Resize(fyne.NewSize(float32(progress)*width, 2))
	widgets.SetVisible(f.progress, !armed)
}

// atEnd reports whether the end of the content is in view.
func (f *frame) atEnd() bool {
	height := f.scroll.Size().Height
	return height > 0 && f.scroll.Offset.Y+height >= f.body.MinSize().Height-style.Inside
}

// best returns the size that fits the content within the limits; larger content scrolls.
func (f *frame) best() fyne.Size {
	width := Width
	if f.wide {
		width = WideWidth
	}
	full := widgets.Fit(f.body, width) + widgets.Fit(f.head, width) + widgets.Fit(f.foot, width) + style.Inside
	return fyne.NewSize(width, min(max(full, minHeight), maxHeight))
}

// grow enlarges the window if the content does not fit.
func (f *frame) grow() {
	if has, want := f.canvas.Size(), f.best(); want.Width > has.Width || want.Height > has.Height {
		f.onGrow(has.Max(want))
	}
}

// frameLayout puts its second object at the top, its third at the bottom and gives the rest to the
// first. Unlike a border layout it uses the heights that those need at their actual width.
type frameLayout struct{}

func (frameLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		m := x.MinSize()
		s = fyne.NewSize(max(s.Width, m.Width), s.Height+m.Height)
	}
	return s
}

func (frameLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	top, bottom := widgets.Fit(o[1], size.Width), widgets.Fit(o[2], size.Width)
	o[1].Move(fyne.NewPos(0, 0))
	o[2].Move(fyne.NewPos(0, size.Height-bottom))
	o[0].Move(fyne.NewPos(0, top))
	o[0].Resize(fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
}
