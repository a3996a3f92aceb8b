package conversation

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
)

// row is one row of the transcript: a widget, and a function that shows an item.
type row struct {
	widgets.Composite
	content fyne.CanvasObject
	box     *fyne.Container
	top     float32
	bind    func(transcript.Item)
}

func newRow(top float32, o fyne.CanvasObject, bind func(transcript.Item)) *row {
	r := &row{content: o, box: container.NewStack(o), top: top, bind: bind}
	r.Compose(r, r.box)
	return r
}

// Bind implements transcript.Row.
func (r *row) Bind(i transcript.Item) {
	r.bind(i)
	r.box.Layout = layout.NewCustomPaddedLayout(r.top, style.Gap, 0, 0)
	if s := r.Size(); s.Width > 0 {
		r.box.Layout.Layout(r.box.Objects, s)
	}
}

// Passages implements transcript.Row.
func (r *row) Passages() []selection.Passage {
	if c, ok := r.content.(interface{ Passages() []selection.Passage }); ok {
		return c.Passages()
	}
	return nil
}

// rowFactory creates the rows of a conversation.
type rowFactory struct {
	chat     *shown
	list     *transcript.View
	choices  *choices
	messages *messageRows
	cards    *cardRows
}

func newRowFactory(chat *shown, list *transcript.View, seen *choices, onChange func()) *rowFactory {
	return &rowFactory{
		chat: chat, list: list, choices: seen,
		messages: newMessageRows(chat, list, seen),
		cards:    &cardRows{chat, list, seen, &callActions{chat, onChange}},
	}
}

func (f *rowFactory) row(kind int) transcript.Row {
	switch kind {
	case kindMessage:
		return f.messages.row()
	case kindTool:
		return f.cards.row()
	case kindThinking:
		return f.thinkingRow()
	case kindNotice:
		return f.noticeRow()
	case kindProblem:
		return f.problemRow()
	case kindDay:
		d := transcript.NewDivider()
		return newRow(style.Group, d, func(i transcript.Item) { d.SetText(i.Data.(dayData).text) })
	}
	return f.queuedRow()
}

func (f *rowFactory) thinkingRow() *row {
	var d thinkingData
	var row string
	e := transcript.NewExpander("thinking")
	e.OnToggle = func(open bool) { f.choices.setExpanded(row, d.id, open) }
	e.OnPress = f.list.Selection.Press
	e.OnMenu = func(at fyne.Position) { copyMenu(f.list, e, at, "Copy thinking", d.text) }
	return newRow(style.Inside, e, func(i transcript.Item) {
		d, row = i.Data.(thinkingData), i.Key
		e.Set(d.title, d.text, f.choices.expanded[d.id])
	})
}

func (f *rowFactory) noticeRow() *row {
	var d noticeData
	n := transcript.NewNotice()
	n.OnButton = func() { f.chat.act(d.action, "") }
	return newRow(style.Inside, n, func(i transcript.Item) {
		d = i.Data.(noticeData)
		n.Set(d.icon, d.text, d.button)
	})
}

func (f *rowFactory) problemRow() *row {
	var d problemData
	e := widgets.NewErrorBox(widgets.Problem{}, func() { f.chat.act(d.action, d.run) })
	e.OnRetry = func() { f.chat.act(actionRetry, d.run) }
	return newRow(style.Inside, e, func(i transcript.Item) {
		d = i.Data.(problemData)
		e.Set(d.problem)
	})
}

// queuedRow shows a message that waits for the run in progress.
func (f *rowFactory) queuedRow() *row {
	var d queuedData
	text := widgets.NewText("", style.ColorMuted, "text")
	text.Ellipsis = true
	label := widgets.NewText("Next", style.ColorMuted, style.SizeSmall)
	takeBack := widgets.NewQuietButton("Take back", "cross", func() {
		if f.chat.author != nil {
			f.chat.author.TakeBack(d.run, d.text)
		}
	})
	takeBack.Small = true
	line := widgets.Inset(4, 4, 4, 12, widgets.Row(style.Inside, 1, label, text, takeBack))
	box := container.NewStack(widgets.NewRect("", style.ColorLine, style.Corner), line)
	return newRow(style.Gap, box, func(i transcript.Item) {
		d = i.Data.(queuedData)
		first, _, many := strings.Cut(d.text, "\n")
		if many {
			first += " …"
		}
		if strings.TrimSpace(first) == "" {
			first = "Pictures"
		}
		text.SetText(first)
	})
}

// copyMenu offers to copy the selection or the whole text, and more.
func copyMenu(list *transcript.View, over fyne.CanvasObject, at fyne.Position, name, whole string, more ...*fyne.MenuItem) {
	var items []*fyne.MenuItem
	if list.Selection.Exists() {
		items = append(items, fyne.NewMenuItem("Copy", func() { copyText(list.Selection.Text()) }))
	}
	items = append(items, fyne.NewMenuItem(name, func() { copyText(whole) }))
	widgets.ShowMenuAt(over, at, append(items, more...))
}

func copyText(s string) { fyne.CurrentApp().Clipboard().SetContent(s) }
