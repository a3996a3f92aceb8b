package widgets

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Question is a question with a time limit, which the person allows or denies.
type Question struct {
	Box *fyne.Container
	// Tick passes the time. It is called several times a second while the question is visible.
	Tick func(now time.Time)
	// OnResize, if set, is called when the height changes because of the person's choices.
	OnResize func()

	left  *Text
	allow *Button
	deny  *Button
}

// NewQuestion creates a question with rows below its title. answer is called with the person's
// answer. notNow closes the question without one; if it is nil, that button is left out. The caller
// sets Tick, which calls [Question.Set].
func NewQuestion(title string, rows []fyne.CanvasObject, answer func(allow bool), notNow func()) *Question {
	q := &Question{left: NewText("", style.ColorMuted, style.SizeSmall)}
	heading := NewParagraph(title, style.ColorText, "text")
	heading.SetStyle(fyne.TextStyle{Bold: true})
	q.deny = NewButton("Deny", "denied", func() { answer(false) })
	buttons := []fyne.CanvasObject{q.deny}
	if notNow != nil {
		buttons = append(buttons, NewQuietButton("Not now", "clock", notNow))
	}
	q.allow = NewButton("", "check", func() { answer(true) })
	q.allow.Primary = true
	top := WithIcon("text", 0, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), heading, q.left)
	q.Box = Col(style.Inside, slices.Concat([]fyne.CanvasObject{top}, rows, []fyne.CanvasObject{Flow(style.Inside, append(buttons, q.allow)...)})...)
	return q
}

// SetDeny sets the text of the button that denies.
func (q *Question) SetDeny(text string) { q.deny.SetText(text) }

// EnableDeny sets whether the button that denies can be pressed.
func (q *Question) EnableDeny(on bool) { SetEnabled(q.deny, on) }

// Set sets the time left, the text of the button that allows, and whether it is enabled.
func (q *Question) Set(left, allow string, enabled bool) {
	q.left.SetText(left)
	if q.allow.Text != allow || q.allow.Disabled() == enabled {
		q.allow.SetText(allow)
		SetEnabled(q.allow, enabled)
		q.Box.Refresh()
	}
}

// HideAnswers leaves out the buttons that allow and deny.
func (q *Question) HideAnswers() {
	q.allow.Hide()
	q.deny.Hide()
}

// InCard puts a question into a card of a list.
func InCard(q *Question) fyne.CanvasObject {
	return Inset(0, 0, style.Inside, 0, container.NewStack(NewRect(style.ColorSurface, style.ColorNeedsYou, style.Corner),
		Inset(style.Inside, style.Group, style.Inside, style.Group, q.Box)))
}

// Questions lists questions on a page, each in a card. Create it with [NewQuestions].
type Questions struct {
	Box  *fyne.Container
	ids  []string
	list []*Question
}

// NewQuestions creates an empty list. It is hidden while it is empty, so that it makes no gap.
func NewQuestions() *Questions {
	l := &Questions{Box: container.NewVBox()}
	l.Box.Hide()
	return l
}

// Update shows the questions with these IDs. Those that are shown already stay as they are; create
// makes the one at a position.
func (l *Questions) Update(ids []string, create func(i int) *Question) {
	if slices.Equal(l.ids, ids) {
		return
	}
	shown := make(map[string]*Question)
	for i, q := range l.list {
		shown[l.ids[i]] = q
	}
	l.ids, l.list, l.Box.Objects = ids, nil, nil
	for i, id := range ids {
		q := shown[id]
		if q == nil {
			q = create(i)
			q.OnResize = l.Box.Refresh
		}
		l.list = append(l.list, q)
		l.Box.Add(InCard(q))
	}
	SetVisible(l.Box, len(l.list) > 0)
	l.Box.Refresh()
}

// Tick passes the time.
func (l *Questions) Tick(now time.Time) {
	for _, q := range l.list {
		q.Tick(now)
	}
}
