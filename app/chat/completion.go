package chat

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

const (
	completionRows         = 8  // visible at once
	completionRowHeight    = 28 // at the normal text size
	maxCompletionWidth     = 520
	completionLabelsLength = 48 // characters of a label
	// closeAfter is the time after which the list closes when the composer has lost the keyboard. A
	// click on the list takes the keyboard, too, and must arrive before.
	closeAfter = 500 * time.Millisecond
)

// completion is the list of what can be inserted at the cursor, above the composer. The composer
// keeps the keyboard.
type completion struct {
	chat      *current
	complete  func(m Model, ctx context.Context, before string, node protocol.NodeID) Completions
	accept    func(word string, o Completion) // replaces the word before the cursor
	isEditing func() bool                     // reports whether an earlier message is edited
	onResize  func()                          // called when the list appears or disappears
	onTap     func()                          // called after a completion was clicked

	rows     *fyne.Container
	scroll   *container.Scroll
	box      *fyne.Container
	before   string // the text before the cursor that the list belongs to
	found    Completions
	selected int
	request  int       // number of the latest request
	leftAt   time.Time // when the composer lost the keyboard; zero while it has it
}

func newCompletion(chat *current) *completion {
	c := &completion{chat: chat, complete: Model.Complete, rows: container.NewVBox()}
	c.rows.Layout = widgets.Col(0).Layout
	c.scroll = widgets.NewVScroll(c.rows)
	c.box = container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Inset(4, 4, 4, 4, c.scroll))
	c.box.Hide()
	return c
}

// update asks for completions of the text before the cursor; empty closes the list.
func (c *completion) update(before string) {
	c.request++
	request := c.request
	isCommand := strings.HasPrefix(before, "/") && c.isEditing() // it cannot replace a message
	if before == "" || isCommand {
		c.close()
		return
	}
	var found Completions
	m, node := c.chat.model(), c.chat.currentMachine()
	c.chat.host.Run(c.chat.ctx, "", func(ctx context.Context) error {
		found = c.complete(m, ctx, before, node)
		return nil
	}, func() {
		if request == c.request {
			c.show(before, found)
		}
	})
}

func (c *completion) show(before string, found Completions) {
	if len(found.List) == 0 {
		c.close()
		return
	}
	c.before, c.found, c.selected, c.leftAt = before, found, 0, time.Time{}
	c.rows.Objects = nil
	for i, o := range found.List {
		c.rows.Add(newCompletionRow(o, func() { c.selectRow(i) }, func() {
			c.choose(i)
			c.onTap()
		}))
	}
	c.box.Show()
	c.selectRow(0)
	c.onResize()
}

func (c *completion) close() {
	if c.box.Visible() {
		c.box.Hide()
		c.onResize()
	}
	c.leftAt = time.Time{}
}

func (c *completion) selectRow(i int) {
	c.selected = i
	for n, o := range c.rows.Objects {
		o.(*completionRow).highlight(n == i)
	}
	if i < len(c.rows.Objects) {
		widgets.ScrollIntoView(c.rows.Objects[i])
	}
}

// key handles a key of the composer while the list is open; it reports whether it used the key.
func (c *completion) key(name fyne.KeyName) bool {
	if !c.box.Visible() {
		return false
	}
	n := len(c.found.List)
	switch name {
	case fyne.KeyUp:
		c.selectRow((c.selected + n - 1) % n)
	case fyne.KeyDown:
		c.selectRow((c.selected + 1) % n)
	case fyne.KeyTab:
		c.choose(c.selected)
	case fyne.KeyReturn, fyne.KeyEnter:
		if o := c.found.List[c.selected]; o.Item == nil && o.Insert == c.before[c.found.Start:] { // it is complete: send it
			c.close()
			return false
		}
		c.choose(c.selected)
	case fyne.KeyEscape:
		c.update("")
	case fyne.KeyLeft, fyne.KeyRight, fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyPageDown:
		c.update("")
		return false
	default:
		return false
	}
	return true
}

// choose inserts a completion.
func (c *completion) choose(i int) {
	o, word := c.found.List[i], c.before[c.found.Start:]
	c.accept(word, o)
	if o.Item != nil {
		c.close()
		return
	}
	if o.Continues() {
		c.update(c.before[:c.found.Start] + o.Insert)
	}
}

// tick closes the list some time after the composer lost the keyboard.
func (c *completion) tick(now time.Time) {
	if !c.leftAt.IsZero() && now.Sub(c.leftAt) >= closeAfter {
		c.update("")
	}
}

// layOut places the list above a line of the pane.
func (c *completion) layOut(x, bottom, width float32) {
	if !c.box.Visible() {
		return
	}
	line := c.rows.Objects[0].MinSize().Height
	size := fyne.NewSize(min(width, maxCompletionWidth*style.Size("text")/14), float32(min(len(c.rows.Objects), completionRows))*line+8)
	c.box.Resize(fyne.NewSize(size.Width, min(size.Height, max(bottom-style.Inside, line))))
	c.box.Move(fyne.NewPos(x, max(bottom-size.Height-style.Gap, 0)))
	widgets.Relayout(c.box)
}

// completionRow is one completion. It never has the keyboard.
type completionRow struct {
	widgets.Composite
	background *widgets.Rect
	onHover    func()
	onTap      func()
}

func newCompletionRow(o Completion, onHover, onTap func()) *completionRow {
	r := &completionRow{background: widgets.NewRect("", "", style.Corner), onHover: onHover, onTap: onTap}
	label := widgets.NewText(clipLabel(o.Label), style.ColorText, style.SizeSidebar)
	detail := widgets.NewText(o.Detail, style.ColorMuted, style.SizeSmall)
	detail.Ellipsis = true
	line := widgets.Inset(0, style.Inside, 0, style.Inside, widgets.Row(style.Inside, 2, widget.NewIcon(style.IconIn(o.Icon, style.ColorMuted)), label, detail))
	height := widgets.NewRect("", "", 0)
	height.SetMinSize(fyne.NewSize(0, completionRowHeight*style.Size("text")/14))
	r.Compose(r, container.NewStack(r.background, height, line))
	return r
}

// clipLabel shortens a long label, of a path in the middle.
func clipLabel(s string) string {
	r := []rune(s)
	if len(r) <= completionLabelsLength {
		return s
	}
	half := completionLabelsLength / 2
	return string(r[:half]) + "…" + string(r[len(r)-half+1:])
}

func (r *completionRow) highlight(on bool) {
	r.background.Set(widgets.Choose(on, style.ColorSelected, ""), "")
}

// Tapped implements fyne.Tappable.
func (r *completionRow) Tapped(*fyne.PointEvent) { r.onTap() }

// MouseIn implements desktop.Hoverable.
func (r *completionRow) MouseIn(*desktop.MouseEvent) { r.onHover() }

// MouseMoved implements desktop.Hoverable.
func (r *completionRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *completionRow) MouseOut() {}
