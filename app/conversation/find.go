package conversation

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/host"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
)

// finder is the search bar below the header. It expands the row of the current match.
type finder struct {
	chat     *shown
	list     *transcript.View
	choices  *choices
	onResize func() // called when the bar needs another size or place
	onClose  func() // called after the bar was closed

	field *findField
	count *widgets.Text
	box   *fyne.Container

	matches       []match // from top to bottom
	index         int     // index in matches
	searching     bool    // a search is running
	searchAgain   bool    // another search must follow
	scrollToMatch bool
	startKey      string // row whose first match becomes the current one; empty for none
}

func newFinder(chat *shown, list *transcript.View, seen *choices) *finder {
	f := &finder{chat: chat, list: list, choices: seen, field: newFindField(), count: widgets.NewText("", style.ColorMuted, style.SizeSmall)}
	f.field.OnChanged = func(string) {
		f.matches = nil
		f.search(true)
	}
	f.field.OnCancel = f.close
	f.field.OnMove = f.move
	up := widgets.NewIconButton("up", "Previous result", func() { f.move(-1) })
	down := widgets.NewIconButton("down", "Next result", func() { f.move(1) })
	allChats := widgets.NewQuietButton("All chats", "search", func() {
		query := f.field.Text
		f.close()
		chat.host.Open(host.Search(query))
	})
	allChats.Small, allChats.Muted = true, true
	shut := widgets.NewIconButton("cross", "Close the search", f.close)
	f.box = container.NewStack(widgets.NewRect(style.ColorSurface, "", 0),
		widgets.Inset(4, 12, 4, style.Group, widgets.Row(style.Inside, 0, f.field, f.count, up, down, allChats, shut)))
	f.box.Hide()
	return f
}

// start opens the search bar with the text of the previous search.
func (f *finder) start() {
	f.open()
	widgets.Focus(f.field)
	f.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	f.search(true)
}

func (f *finder) open() {
	f.box.Show()
	f.choices.beginSearch()
	f.onResize()
}

// openAt opens the search bar with a text, at its first match in a row. The composer keeps the
// focus, so that a person who came for the chat can write at once; Escape closes the bar.
func (f *finder) openAt(key, text string) {
	f.open()
	f.startKey, f.matches = key, nil
	if f.field.Text == text {
		f.search(true)
		return
	}
	f.field.SetText(text) // which searches
}

func (f *finder) close() {
	if !f.box.Visible() {
		return
	}
	f.box.Hide()
	f.matches, f.scrollToMatch, f.searchAgain = nil, false, false
	f.list.Search.Find("")
	f.choices.endSearch()
	f.onResize()
	f.onClose()
}

// search finds the matches. With jump, the last match, or the current one if it still matches,
// scrolls into view. Long chats are searched off the GUI thread, with one search at a time.
func (f *finder) search(jump bool) {
	query := strings.TrimSpace(f.field.Text)
	f.list.Search.Find(query)
	f.scrollToMatch = f.scrollToMatch || jump
	if f.searching {
		f.searchAgain = true
		return
	}
	f.searching = true
	f.chat.find(f.list.Items(), query, func(matches []match) {
		f.searching = false
		switch {
		case !f.box.Visible():
		case f.searchAgain:
			f.searchAgain = false
			f.search(false)
		default:
			f.showMatches(query, matches)
		}
	})
}

func (f *finder) showMatches(query string, hits []match) {
	var current match
	if f.index >= 0 && f.index < len(f.matches) {
		current = f.matches[f.index]
	}
	f.matches, f.index = hits, max(len(hits)-1, 0) // the newest match
	if i := slices.IndexFunc(hits, func(h match) bool { return h.key == current.key && h.index == current.index }); i >= 0 {
		f.index = i
	}
	if i := slices.IndexFunc(hits, func(h match) bool { return h.key == f.startKey }); i >= 0 {
		f.index, f.startKey = i, ""
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
	case len(f.matches) == 0 && f.chat.state.More:
		text = "Not found in the loaded messages"
	case len(f.matches) == 0:
		text = "Not found"
	default:
		text = fmt.Sprintf("%d of %d", f.index+1, len(f.matches))
		if h := f.matches[f.index]; h.hidden && f.choices.isExpandedBySearch(h) {
			text += ", " + h.note
		}
	}
	f.count.SetText(text)
	f.onResize()
}

// move moves to the next or previous match, and wraps around.
func (f *finder) move(by int) {
	if n := len(f.matches); n > 0 {
		f.index = (f.index + by + n) % n
		f.showMatch()
	}
}

func (f *finder) showMatch() {
	if f.index < len(f.matches) {
		h := &f.matches[f.index]
		f.choices.expandMatch(*h)
		if !f.list.Search.ShowHit(h.key, h.index) {
			h.hidden = true
			f.choices.expandMatch(*h)
			f.list.Search.ShowHit(h.key, h.index)
		}
		f.showCount(f.field.Text)
	}
}

// findField is the search field: Enter and Down move on, Shift+Enter and Up back, Escape closes.
type findField struct {
	widgets.SearchField
}

func newFindField() *findField {
	f := &findField{}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder("Find in this chat")
	f.SetIcon(style.IconInField("search", style.ColorMuted))
	return f
}

// TypedKey implements fyne.Focusable.
func (f *findField) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeyF3:
		f.OnMove(widgets.Choose(f.Shift, -1, 1))
	case fyne.KeyEscape:
		f.OnCancel()
	default:
		f.SearchField.TypedKey(k)
	}
}

// match is a match: the row and the match's index in it.
type match struct {
	key    string
	index  int
	part   string // ID of the row's collapsible part; empty if none exists
	open   bool   // its default state
	note   string // completed action, as a text for the bar
	hidden bool   // visible only if the part is expanded
}

// findMatches returns the matches in rows, from top to bottom. It may be called on any goroutine.
func findMatches(items []transcript.Item, query string) (list []match) {
	if query == "" {
		return nil
	}
	count := func(texts []string) (n int) {
		for _, text := range texts {
			n += selection.Count(text, query)
		}
		return n
	}
	for _, it := range items {
		folded, open := searchTexts(it)
		m := match{key: it.Key, note: "card expanded"}
		if it.Kind == kindThinking {
			m.note = "thinking expanded"
		}
		m.part, m.open = collapsible(it)
		outside := count(folded)
		for i := range count(open) {
			m.index, m.hidden = i, m.part != "" && i >= outside
			list = append(list, m)
		}
	}
	return list
}

// searchTexts are the searchable texts of a row: while it is collapsed, and otherwise.
func searchTexts(it transcript.Item) (folded, open []string) {
	switch d := it.Data.(type) {
	case messageData:
		return nil, []string{d.text}
	case toolData:
		return d.card.SearchTexts()
	case thinkingData:
		return nil, []string{d.text}
	}
	return nil, nil
}
