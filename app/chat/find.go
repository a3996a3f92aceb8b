package chat

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// finder is the search bar below the header. Matches are highlighted, and Enter moves between them.
// The row of the current match is expanded until the bar is closed.
type finder struct {
	p     *Pane
	field *findField
	count *widgets.Text
	every *widgets.Button
	box   *fyne.Container

	hits     []hit // from top to bottom
	at       int   // index in hits
	counts   counts
	busy     bool // a search is running and owns counts
	again    bool // another search must follow
	jump     bool
	unfolded map[string]folding // rows that the search expanded, by ID
}

func newFinder(p *Pane) *finder {
	f := &finder{
		p: p, field: newFindField(), count: widgets.NewText("", style.ColorMuted, style.SizeSmall), unfolded: map[string]folding{},
	}
	f.field.OnChanged = func(string) {
		f.hits = nil
		f.look(true)
	}
	f.field.OnCancel = f.close
	f.field.OnMove = f.step
	up := widgets.NewQuiet("", "up", func() { f.step(-1) })
	down := widgets.NewQuiet("", "down", func() { f.step(1) })
	f.every = widgets.NewQuiet("All chats", "search", func() {
		if p.h.SearchAll != nil {
			query := f.field.Text
			f.close()
			p.h.SearchAll(query)
		}
	})
	f.every.Small, f.every.Muted = true, true
	shut := widgets.NewQuiet("", "cross", f.close)
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0),
		widgets.Inset(4, 12, 4, style.Group, widgets.Row(style.Inside, 0, f.field, f.count, up, down, f.every, shut)))
	f.box.Hide()
	return f
}

// Find opens the search bar with the text of the previous search.
func (p *Pane) Find() {
	f := p.find
	setVisible(f.every, p.h.SearchAll != nil)
	f.box.Show()
	p.relayout()
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Focus(f.field)
	}
	f.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	f.look(true)
}

func (f *finder) close() {
	if !f.box.Visible() {
		return
	}
	f.box.Hide()
	f.hits, f.jump, f.again = nil, false, false
	if !f.busy {
		f.counts = counts{}
	}
	f.p.transcript.Find("")
	f.p.unmark()
	f.foldAgain()
	f.p.relayout()
	f.p.FocusComposer()
}

// look finds the matches. With jump, the last match, or the current one if it still matches,
// scrolls into view. Long chats are searched off the GUI thread, with one search at a time.
func (f *finder) look(jump bool) {
	query := strings.TrimSpace(f.field.Text)
	f.p.transcript.Find(query)
	f.jump = f.jump || jump
	if f.busy {
		f.again = true
		return
	}
	var found []hit
	items := f.p.transcript.Items()
	f.counts.ask(query)
	f.busy = true
	f.p.work(func() { found = f.counts.search(items) }, func() {
		f.busy = false
		switch {
		case !f.box.Visible():
			f.counts = counts{}
		case f.again:
			f.again = false
			f.look(false)
		default:
			f.found(query, found)
		}
	})
}

// found handles the results of a search.
func (f *finder) found(query string, hits []hit) {
	var current hit
	if f.at >= 0 && f.at < len(f.hits) {
		current = f.hits[f.at]
	}
	f.hits, f.at = hits, max(len(hits)-1, 0) // the newest match
	for i, h := range hits {
		if h.key == current.key && h.n == current.n {
			f.at = i
		}
	}
	f.say(query)
	if f.jump {
		f.jump = false
		f.show()
	}
}

func (f *finder) say(query string) {
	text := ""
	switch {
	case query == "":
	case len(f.hits) == 0 && f.p.state.More:
		text = "Not found in the loaded messages"
	case len(f.hits) == 0:
		text = "Not found"
	default:
		text = fmt.Sprintf("%d of %d", f.at+1, len(f.hits))
		if word := f.unfolded[f.foldOf(f.hits[f.at])].word; word != "" {
			text += ", " + word
		}
	}
	f.count.SetText(text)
	f.p.relayout()
}

// step moves to the next or previous match, and wraps around.
func (f *finder) step(by int) {
	if n := len(f.hits); n > 0 {
		f.at = (f.at + by + n) % n
		f.show()
	}
}

// show scrolls the current match into view.
func (f *finder) show() {
	if f.at < len(f.hits) {
		h := f.hits[f.at]
		f.unfold(h)
		if !f.p.transcript.ShowHit(h.key, h.n) {
			f.hits[f.at].fold = true
			f.unfold(f.hits[f.at])
			f.p.transcript.ShowHit(h.key, h.n)
		}
		f.say(f.field.Text)
	}
}

// findField is the search field: Enter and Down move forward, Shift+Enter and Up move back, Escape
// closes.
type findField struct {
	widgets.SearchField
	shift bool
}

func newFindField() *findField {
	f := &findField{}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder("Find in this chat")
	f.SetIcon(style.IconInField("search", style.ColorMuted))
	return f
}

// KeyDown implements desktop.Keyable.
func (f *findField) KeyDown(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		f.shift = true
	}
	f.SearchField.KeyDown(k)
}

// KeyUp implements desktop.Keyable.
func (f *findField) KeyUp(k *fyne.KeyEvent) {
	if k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight {
		f.shift = false
	}
	f.SearchField.KeyUp(k)
}

// TypedKey implements fyne.Focusable.
func (f *findField) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyF3:
		if f.shift {
			f.OnMove(-1)
		} else {
			f.OnMove(1)
		}
	case fyne.KeyEscape:
		f.OnCancel()
	default:
		f.SearchField.TypedKey(k)
	}
}
