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
	pane     *Pane
	field    *findField
	count    *widgets.Text
	allChats *widgets.Button
	box      *fyne.Container

	matches       []match // from top to bottom
	index         int     // index in hits
	counts        matchCounts
	searching     bool // a search is running and owns counts
	searchAgain   bool // another search must follow
	scrollToMatch bool
	expanded      map[string]expansion // rows that the search expanded, by ID
}

func newFinder(p *Pane) *finder {
	f := &finder{
		pane: p, field: newFindField(), count: widgets.NewText("", style.ColorMuted, style.SizeSmall), expanded: map[string]expansion{},
	}
	f.field.OnChanged = func(string) {
		f.matches = nil
		f.search(true)
	}
	f.field.OnCancel = f.close
	f.field.OnMove = f.move
	up := widgets.NewQuietButton("", "up", func() { f.move(-1) })
	down := widgets.NewQuietButton("", "down", func() { f.move(1) })
	f.allChats = widgets.NewQuietButton("All chats", "search", func() {
		if p.handlers.SearchAll != nil {
			query := f.field.Text
			f.close()
			p.handlers.SearchAll(query)
		}
	})
	f.allChats.Small, f.allChats.Muted = true, true
	shut := widgets.NewQuietButton("", "cross", f.close)
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0),
		widgets.Inset(4, 12, 4, style.Group, widgets.Row(style.Inside, 0, f.field, f.count, up, down, f.allChats, shut)))
	f.box.Hide()
	return f
}

// Find opens the search bar with the text of the previous search.
func (p *Pane) Find() {
	f := p.finder
	widgets.SetVisible(f.allChats, p.handlers.SearchAll != nil)
	f.box.Show()
	p.relayout()
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Focus(f.field)
	}
	f.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	f.search(true)
}

func (f *finder) close() {
	if !f.box.Visible() {
		return
	}
	f.box.Hide()
	f.matches, f.scrollToMatch, f.searchAgain = nil, false, false
	if !f.searching {
		f.counts = matchCounts{}
	}
	f.pane.transcript.Find("")
	f.pane.endReveal()
	f.collapseExpanded()
	f.pane.relayout()
	f.pane.FocusComposer()
}

// search finds the matches. With jump, the last match, or the current one if it still matches,
// scrolls into view. Long chats are searched off the GUI thread, with one search at a time.
func (f *finder) search(jump bool) {
	query := strings.TrimSpace(f.field.Text)
	f.pane.transcript.Find(query)
	f.scrollToMatch = f.scrollToMatch || jump
	if f.searching {
		f.searchAgain = true
		return
	}
	var found []match
	items := f.pane.transcript.Items()
	f.counts.setQuery(query)
	f.searching = true
	f.pane.runInBackground(func() { found = f.counts.search(items) }, func() {
		f.searching = false
		switch {
		case !f.box.Visible():
			f.counts = matchCounts{}
		case f.searchAgain:
			f.searchAgain = false
			f.search(false)
		default:
			f.showMatches(query, found)
		}
	})
}

// showMatches handles the results of a search.
func (f *finder) showMatches(query string, hits []match) {
	var current match
	if f.index >= 0 && f.index < len(f.matches) {
		current = f.matches[f.index]
	}
	f.matches, f.index = hits, max(len(hits)-1, 0) // the newest match
	for i, h := range hits {
		if h.key == current.key && h.index == current.index {
			f.index = i
		}
	}
	f.showCount(query)
	if f.scrollToMatch {
		f.scrollToMatch = false
		f.showMatch()
	}
}

func (f *finder) showCount(query string) {
	text := ""
	switch {
	case query == "":
	case len(f.matches) == 0 && f.pane.state.More:
		text = "Not found in the loaded messages"
	case len(f.matches) == 0:
		text = "Not found"
	default:
		text = fmt.Sprintf("%d of %d", f.index+1, len(f.matches))
		if word := f.expanded[f.collapsibleID(f.matches[f.index])].note; word != "" {
			text += ", " + word
		}
	}
	f.count.SetText(text)
	f.pane.relayout()
}

// move moves to the next or previous match, and wraps around.
func (f *finder) move(by int) {
	if n := len(f.matches); n > 0 {
		f.index = (f.index + by + n) % n
		f.showMatch()
	}
}

// showMatch scrolls the current match into view.
func (f *finder) showMatch() {
	if f.index < len(f.matches) {
		h := f.matches[f.index]
		f.expand(h)
		if !f.pane.transcript.ShowHit(h.key, h.index) {
			f.matches[f.index].collapsible = true
			f.expand(f.matches[f.index])
			f.pane.transcript.ShowHit(h.key, h.index)
		}
		f.showCount(f.field.Text)
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
