package inbox

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/question"
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
	canvas        fyne.Canvas
	onResize      func(fyne.Size) // resizes the window
	given, before fyne.Size       // the size that the window was given last, and the one before that
	wide          bool            // the content is a change
	hadFocus      bool            // something in the window has been given the focus

	title              *widgets.Paragraph
	timeLeft, position *widgets.Text
	notice             *widgets.Text
	noticeRow          *fyne.Container
	body               *fyne.Container
	scroll             *container.Scroll
	head, foot         *fyne.Container // fixed content above and below the scrolled content
	hint               *fyne.Container // explains why a button waits, over the end of the content
	whyWaiting         *wrapText       // its text
	box                fyne.CanvasObject
}

func newFrame(b *buttons, c fyne.Canvas) *frame {
	f := &frame{buttons: b, canvas: c, title: widgets.NewParagraph("", style.ColorText, style.SizeTitle), body: container.NewStack()}
	f.timeLeft, f.position = widgets.NewText("", style.ColorMuted, style.SizeSmall), widgets.NewText("", style.ColorMuted, style.SizeSmall)
	f.title.SetStyle(fyne.TextStyle{Bold: true})
	f.notice = widgets.NewText("", style.ColorNeedsYou, style.SizeSmall)
	f.notice.Ellipsis = true
	f.scroll = container.NewVScroll(f.body)
	title := widgets.Inset(style.Group, style.Page, style.Inside, style.Page, widgets.Row(style.Group, 0, f.title, f.position, f.timeLeft))
	f.noticeRow = widgets.Inset(0, style.Page, style.Inside, style.Page, f.notice)
	f.noticeRow.Hide()
	f.head = container.NewVBox(title, f.noticeRow, widgets.HLine())
	f.foot = container.NewVBox(widgets.HLine(),
		widgets.Inset(style.Inside, style.Page, style.Group, style.Page, container.NewVBox(b.questionRow, b.stepRow)))
	read := &widgets.Composite{} // reading aids look into no scrolled area
	read.Compose(read, f.scroll)
	layout := &widgets.FrameLayout{Top: f.head, Rest: read, Bottom: f.foot}
	f.whyWaiting = newWrapText(style.SizeSmall, false, span{color: style.ColorText})
	f.hint = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Inset(style.Gap, style.Inside, style.Gap, style.Inside, f.whyWaiting))
	f.hint.Hide()
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0), container.New(layout, read, f.head, f.foot), container.New(hintLayout{f}, f.hint))
	return f
}

// showAbove shows an object, such as a bar, above everything else.
func (f *frame) showAbove(o fyne.CanvasObject) {
	f.head.Objects = append([]fyne.CanvasObject{o}, f.head.Objects...)
	f.box.Refresh()
}

// explain shows why a button waits; an empty verb hides that.
func (f *frame) explain(verb string) {
	if verb != "" {
		f.whyWaiting.setText(question.WhyWaits(verb))
	}
	widgets.SetVisible(f.hint, verb != "")
	f.box.Refresh()
}

// hintLayout puts a hint above the right end of the buttons.
type hintLayout struct{ f *frame }

func (hintLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l hintLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	text := widgets.MeasureText(l.f.whyWaiting.text(), style.Size(style.SizeSmall), fyne.TextStyle{})
	width := min(text.Width+2*style.Inside+1, max(size.Width-2*style.Page, 0))
	height := widgets.Fit(o[0], width)
	o[0].Move(fyne.NewPos(size.Width-width-style.Page, size.Height-l.f.foot.MinSize().Height-height))
}

// setNotice shows a line above the question; empty hides it.
func (f *frame) setNotice(text string) {
	f.notice.SetText(text)
	widgets.SetVisible(f.noticeRow, text != "")
	f.box.Refresh()
	f.fit()
}

// setContent shows an object between the title and the buttons.
func (f *frame) setContent(o fyne.CanvasObject) {
	widgets.SetContent(f.body, widgets.Inset(style.Inside, style.Page, style.Inside, style.Page, o))
	f.scroll.ScrollToTop()
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
	full = float32(math.Ceil(float64(full)))
	return fyne.NewSize(width, min(max(full, minHeight), maxHeight))
}

// fit gives the window the size of its content. If the person has resized it, it only grows.
func (f *frame) fit() {
	has, want := f.canvas.Size(), f.best()
	if !isNear(has, f.given) && !isNear(has, f.before) { // before: the window manager has not followed yet
		want = want.Max(has)
	}
	if !isNear(want, has) || !isNear(want, f.given) {
		f.given, f.before = want, has
		f.onResize(want)
	}
}

// isNear reports whether two sizes are the same window's, in whole pixels.
func isNear(a, b fyne.Size) bool {
	return max(a.Width-b.Width, b.Width-a.Width) < 1 && max(a.Height-b.Height, b.Height-a.Height) < 1
}

// focus gives an object the keyboard. While the window does not have the keyboard itself, no ring
// marks the object: another window shows where typing goes.
func (f *frame) focus(o fyne.Focusable) {
	b, isButton := f.canvas.Focused().(*widgets.Button)
	f.canvas.Focus(o)
	if !f.hadFocus || isButton && !b.HasKeyboard() { // the window opens without the keyboard
		o.FocusLost()
	}
	f.hadFocus = true
}

// askReason shows the field for a reason instead of the other answers.
func (f *frame) askReason() {
	f.showReason(true)
	f.canvas.Focus(f.reason)
	f.fit()
}

// hideReason shows the other answers again.
func (f *frame) hideReason() {
	f.showReason(false)
	f.setNotice("")
	f.canvas.Focus(f.deny)
	f.fit()
}

// buttons are the dialog's buttons, and the field for a reason.
type buttons struct {
	deny, denyWithReason, notNow *widgets.Button
	next, edit                   *widgets.Button
	allow                        *widgets.SplitButton
	answerRow, questionRow       *fyne.Container

	reason                     *textEntry
	denyForReason, leaveReason *widgets.Button
	reasonRow                  *fyne.Container

	back, confirm *widgets.Button // of a step
	stepRow       *fyne.Container
}

// actions are what the buttons do.
type actions struct {
	deny, snooze, next, edit, allow func()
	scopes                          func() []*fyne.MenuItem // of Allow
	askReason, hideReason           func()
	back, confirm                   func() // of a step
	onKey                           func(fyne.KeyName) bool
	onType                          func()
	explain                         func(hovered bool) // explains why Allow waits
}

func newButtons(a actions) *buttons {
	b := &buttons{
		deny:           widgets.NewButton("Deny", "denied", a.deny),
		denyWithReason: widgets.NewQuietButton("Deny with reason…", "", a.askReason),
		notNow:         widgets.NewQuietButton("Not now", "clock", a.snooze),
		next:           widgets.NewQuietButton("Next", "right", a.next),
		edit:           widgets.NewQuietButton("Edit…", "", a.edit),
		allow:          widgets.NewSplitButton("Allow once", true, a.allow, a.scopes),
		reason:         newTextEntry(a.onKey, a.onType),
		denyForReason:  widgets.NewButton("Deny", "denied", a.deny),
		leaveReason:    widgets.NewQuietButton("Cancel", "", a.hideReason),
		back:           widgets.NewButton("Back", "back", a.back),
		confirm:        widgets.NewButton("", "", a.confirm),
	}
	b.deny.Danger, b.denyForReason.Danger, b.confirm.Primary = true, true, true
	for _, k := range []*widgets.Button{b.deny, b.denyWithReason, b.allow.Main, b.allow.More, b.next, b.notNow, b.edit, b.denyForReason, b.leaveReason, b.back, b.confirm} {
		k.OnKey = a.onKey
	}
	b.reason.SetPlaceHolder("Reason for the agent (optional)")
	b.reason.OnSubmitted = func(string) { a.deny() }
	b.reasonRow = widgets.Col(style.Inside, b.reason, buttonRow([]fyne.CanvasObject{b.denyForReason, b.leaveReason}, nil))
	b.answerRow = buttonRow([]fyne.CanvasObject{b.deny, b.denyWithReason, b.notNow}, []fyne.CanvasObject{b.next, b.edit, b.allow})
	b.questionRow = widgets.Col(0, b.reasonRow, b.answerRow)
	b.allow.Main.OnHover, b.confirm.OnHover = a.explain, a.explain
	b.stepRow = buttonRow([]fyne.CanvasObject{b.back}, []fyne.CanvasObject{b.confirm})
	b.stepRow.Hide()
	return b
}

// showReason shows the field for a reason instead of the answers, or the answers again.
func (b *buttons) showReason(on bool) {
	widgets.SetVisible(b.reasonRow, on)
	widgets.SetVisible(b.answerRow, !on)
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
	c.Name = text
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
	widgets.CheckBox
	onKey func(fyne.KeyName) bool
}

// TypedKey implements fyne.Focusable.
func (c *keyCheck) TypedKey(e *fyne.KeyEvent) {
	if !c.onKey(e.Name) {
		c.CheckBox.TypedKey(e)
	}
}
