package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

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
	layout := &widgets.FrameLayout{Top: f.head, Rest: f.scroll, Bottom: f.foot}
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), container.New(layout, f.scroll, f.head, f.foot))
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
	width := widgets.Choose(f.wide, WideWidth, Width)
	full := widgets.Fit(f.body, width) + widgets.Fit(f.head, width) + widgets.Fit(f.foot, width) + style.Inside
	return fyne.NewSize(width, min(max(full, minHeight), maxHeight))
}

// grow enlarges the window if the content does not fit.
func (f *frame) grow() {
	if has, want := f.canvas.Size(), f.best(); want.Width > has.Width || want.Height > has.Height {
		f.onGrow(has.Max(want))
	}
}

// buttons are the dialog's buttons, and the field for a reason.
type buttons struct {
	deny, denyWithReason, notNow *widgets.Button
	next, edit                   *widgets.Button
	allow                        *widgets.SplitButton
	reason                       *textEntry
	reasonRow                    *fyne.Container
	questionRow                  *fyne.Container

	back, confirm *widgets.Button // of a step
	stepRow       *fyne.Container
}

func newButtons(d *Dialog) *buttons {
	b := &buttons{
		deny:           widgets.NewButton("Deny", "denied", d.Deny),
		denyWithReason: widgets.NewQuietButton("Deny with reason…", "", func() { d.frame.askReason() }),
		notNow:         widgets.NewQuietButton("Not now", "clock", d.snooze),
		next:           widgets.NewQuietButton("Next", "right", func() { d.show(d.queue.index + 1) }),
		edit:           widgets.NewQuietButton("Edit…", "", d.startEdit),
		allow:          widgets.NewSplitButton("Allow once", true, func() { d.allow(d.options.scope) }, d.scopeMenu),
		reason:         newTextEntry(d.keys.handle, d.arming.keyPressed),
		back:           widgets.NewButton("Back", "back", func() { d.show(d.queue.index) }),
		confirm:        widgets.NewButton("", "", d.finishStep),
	}
	b.deny.Danger, b.confirm.Primary = true, true
	for _, k := range []*widgets.Button{b.deny, b.denyWithReason, b.allow.Main, b.allow.More, b.next, b.notNow, b.edit, b.back, b.confirm} {
		k.OnKey = d.keys.handle
	}
	b.reason.SetPlaceHolder("Reason for the agent (optional)")
	b.reason.OnSubmitted = func(string) { d.Deny() }
	b.reasonRow = widgets.Border(nil, nil, nil, widgets.NewButton("Deny", "", d.Deny), b.reason)
	b.reasonRow.Hide()
	b.questionRow = widgets.Col(style.Gap, b.reasonRow, buttonRow([]fyne.CanvasObject{b.deny, b.denyWithReason, b.notNow}, []fyne.CanvasObject{b.next, b.edit, b.allow}))
	b.stepRow = buttonRow([]fyne.CanvasObject{b.back}, []fyne.CanvasObject{b.confirm})
	b.stepRow.Hide()
	return b
}

// buttonRow puts buttons at the left and the right, or below each other if they do not fit.
func buttonRow(left, right []fyne.CanvasObject) *fyne.Container {
	return container.New(&buttonRowLayout{}, widgets.Flow(style.Gap, left...), widgets.Flow(style.Gap, right...))
}

type buttonRowLayout struct{ below bool } // result of the last layout

// MinSize implements fyne.Layout. Its height is for the width of the last layout.
func (l *buttonRowLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	left, right := o[0].MinSize(), o[1].MinSize()
	height := widgets.Choose(l.below, left.Height+style.Gap+right.Height, max(left.Height, right.Height))
	return fyne.NewSize(max(left.Width, right.Width), height)
}

// Layout implements fyne.Layout.
func (l *buttonRowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := func(group fyne.CanvasObject) float32 { // in one line
		sum, _ := widgets.Measure(style.Gap, group.(*fyne.Container).Objects)
		return min(sum.Width, size.Width)
	}
	left, right := width(o[0]), width(o[1])
	y := widgets.Fit(o[0], left) + style.Gap
	widgets.Fit(o[1], right)
	if l.below = left+style.Gap+right > size.Width; !l.below {
		y = 0
	}
	o[1].Move(fyne.NewPos(size.Width-right, y))
}

// newCheck returns a check box that passes key presses to the dialog.
func newCheck(text string, on bool, onKey func(fyne.KeyName) bool, changed func(bool)) *keyCheck {
	c := &keyCheck{onKey: onKey}
	c.Text, c.Checked, c.OnChanged = text, on, changed
	c.ExtendBaseWidget(c)
	return c
}

// newLongCheck returns a check box whose text wraps if it is too long for one line.
func newLongCheck(text string, on bool, onKey func(fyne.KeyName) bool, changed func(bool)) (*keyCheck, fyne.CanvasObject) {
	if len(text) <= longText {
		c := newCheck(text, on, onKey, changed)
		return c, c
	}
	c := newCheck("", on, onKey, changed)
	words := widgets.NewParagraph(text, style.ColorText, "text")
	area := widgets.NewTapArea(container.NewWithoutLayout(), func() { c.SetChecked(!c.Checked) })
	return c, container.New(besideCheck{}, c, words, area)
}

// longText is the length in bytes from which a check box's text may need several lines.
const longText = 56

// besideCheck puts a wrapping text beside a check box, and makes the text clickable.
type besideCheck struct{}

func (besideCheck) MinSize(o []fyne.CanvasObject) fyne.Size {
	box, words := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(box.Width+words.Width, max(box.Height, words.Height))
}

func (besideCheck) Layout(o []fyne.CanvasObject, size fyne.Size) {
	box := o[0].MinSize()
	o[0].Resize(box)
	box.Width -= 6 // the padding of a check box after its text
	h := widgets.Fit(o[1], max(size.Width-box.Width, 0))
	o[1].Move(fyne.NewPos(box.Width, max((box.Height-h)/2, 0)))
	o[2].Resize(o[1].Size())
	o[2].Move(o[1].Position())
}

// keyCheck is a check box that passes key presses to its dialog.
type keyCheck struct {
	widget.Check
	onKey func(fyne.KeyName) bool
}

// TypedKey implements fyne.Focusable.
func (c *keyCheck) TypedKey(e *fyne.KeyEvent) {
	if !c.onKey(e.Name) {
		c.Check.TypedKey(e)
	}
}
