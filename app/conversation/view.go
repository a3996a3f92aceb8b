// Package conversation shows the messages of one conversation: its rows, the search in them, and
// what a person does with them. A page shows a chat or an archived conversation with it.
//
// A [View] shows a complete [State] that it receives at most a few times a second. It compares the
// new state with the previous one and redraws only changed rows. View state, such as expanded cards,
// belongs to the view and survives updates.
package conversation

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/chats"
	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// ColumnWidth is the maximum width of the rows, of text and cards alike: about 95 letters of text,
// and 80 of code.
const ColumnWidth = 640

// View shows one conversation. It belongs to the GUI thread.
type View struct {
	Content *fyne.Container // the rows, or what replaces them
	Bar     *fyne.Container // of the search; hidden unless a search is open

	OnResize func() // called when the bar or the content needs another layout
	OnPlaced func() // called when rows were placed, see Overflow
	OnLeave  func() // called when the search was closed, which had the keyboard

	shown      *shown
	transcript *transcript.View
	choices    *choices
	pictures   *pictures
	finder     *finder
	reveal     *reveal
	positions  *positions

	empty        fyne.CanvasObject
	problemBox   *widgets.ErrorBox
	loadingText  *widgets.Text
	loadingSince time.Time // start of loading
}

// New creates a view without a conversation; [View.Open] and [View.Set] set one. Its work ends with
// ctx. empty is shown while there are no messages; author is nil if they cannot be changed.
func New(ctx context.Context, e host.Env, empty fyne.CanvasObject, author Author) *View {
	v := &View{empty: empty, OnResize: func() {}, OnLeave: func() {}, OnPlaced: func() {}}
	v.shown = &shown{ctx: ctx, host: e, author: author, builder: newBuilder(e.Machines), now: time.Now()}
	var rows *rowFactory
	v.transcript = transcript.New(func(kind int) transcript.Row { return rows.row(kind) })
	v.choices = newChoices(v.transcript, e.Prefs)
	v.reveal = &reveal{list: v.transcript}
	v.positions = &positions{list: v.transcript, left: map[protocol.SessionKey]position{}}
	v.finder = newFinder(v.shown, v.transcript, v.choices)
	rows = newRowFactory(v.shown, v.transcript, v.choices, v.redraw)
	v.pictures = rows.messages.pictures
	v.finder.onResize = func() { v.OnResize() }
	v.finder.onClose = func() {
		v.reveal.end()
		v.OnLeave()
	}
	v.transcript.Width, v.transcript.Selection.ItemText = ColumnWidth, v.choices.visibleText
	v.transcript.OnPlaced = func() { v.OnPlaced() }
	v.transcript.OnTop = func() {
		if v.shown.state.More {
			v.shown.history.Older()
		}
	}
	v.problemBox = widgets.NewErrorBox(widgets.Problem{}, func() { v.shown.act(actionReload, "") })
	v.loadingText = widgets.NewText("Loading…", style.ColorMuted, "text")
	v.loadingText.Align = fyne.TextAlignCenter
	v.Content = container.New(contentLayout{}, v.transcript, v.empty, v.problemBox, v.loadingText)
	v.Bar = v.finder.box
	return v
}

// Open sets where older messages come from.
func (v *View) Open(h *chats.History) { v.shown.history = h }

// Set sets what to show. After a change of the conversation, which it reports, the reader's view
// state is reset; the scroll position is restored when the reader comes back. Draw shows it.
func (v *View) Set(s State) (changed bool) {
	c := v.shown
	from := c.state.Session.SessionKey
	if changed = c.isSet && s.Session.SessionKey != from; changed {
		v.positions.leave(from)
		v.finder.close()
		undos := c.builder.undos // they survive, by the ID of their call
		c.builder = newBuilder(c.host.Machines)
		c.builder.undos = undos
		v.choices.reset()
		clear(v.pictures.loaded)
		v.reveal.id = ""
		v.reveal.end()
		v.transcript.Selection.Clear()
		v.transcript.SetItems(nil)
		v.transcript.ScrollToEnd()
	}
	if s.Loading && (!c.isSet || !c.state.Loading) {
		v.loadingSince = c.now
	}
	c.state, c.isSet = s, true
	return changed
}

// SetTime passes the time, once a second, and reports whether something shows it. Draw shows it.
func (v *View) SetTime(now time.Time) (isShown bool) {
	c := v.shown
	isNewDay := c.now.Year() != now.Year() || c.now.YearDay() != now.YearDay()
	c.now = now
	v.reveal.expire(now)
	s := c.state
	return len(s.Runs) > 0 || len(s.Calls) > 0 || len(s.Approvals) > 0 || s.Loading || isNewDay
}

// Draw shows the state at the time. The caller lays the view out afterwards.
func (v *View) Draw() {
	s := v.shown.state
	items := v.shown.builder.build(s, v.shown.now)
	v.transcript.SetItems(items)
	if v.finder.box.Visible() {
		v.finder.search(false)
	}
	if !s.Loading {
		v.positions.enter(s.Session.SessionKey)
	}
	v.showRevealed()

	trouble := s.Problem != "" && len(items) == 0
	loading := s.Loading && len(items) == 0 && !trouble
	widgets.SetVisible(v.transcript, len(items) > 0)
	widgets.SetVisible(v.empty, v.shown.isSet && len(items) == 0 && !trouble && !loading)
	widgets.SetVisible(v.problemBox, trouble)
	widgets.SetVisible(v.loadingText, loading && v.shown.now.Sub(v.loadingSince) >= 300*time.Millisecond)
	if trouble {
		v.problemBox.Set(widgets.Problem{Title: format.Sentence(s.Problem), Button: "Try again"})
	}
}

func (v *View) redraw() {
	v.Draw()
	v.OnResize()
}

// State returns the state that the view shows.
func (v *View) State() State { return v.shown.state }

// Now returns the time that is shown.
func (v *View) Now() time.Time { return v.shown.now }

// Find opens the search bar with the text of the previous search.
func (v *View) Find() { v.finder.start() }

// CloseFind closes the search bar.
func (v *View) CloseFind() { v.finder.close() }

// Reveal scrolls to a message and highlights it briefly: now, or as soon as it is loaded. It also
// finds a text: the search bar opens at its first match in the message. An empty text is not
// searched for.
func (v *View) Reveal(id protocol.MessageID, text string) {
	v.reveal.id, v.reveal.text = id, text
	v.showRevealed()
}

// PendingReveal returns the message that is still to be revealed, or an empty ID.
func (v *View) PendingReveal() protocol.MessageID { return v.reveal.id }

func (v *View) showRevealed() {
	if key, text := v.reveal.show(v.shown.builder.rows, v.shown.now); text != "" {
		v.finder.openAt(key, text)
	}
}

// ScrollToEnd scrolls to the newest message.
func (v *View) ScrollToEnd() { v.transcript.ScrollToEnd() }

// Overflow reports whether something may extend out of the content above or below.
func (v *View) Overflow() (above, below bool) {
	above, below = v.transcript.Overflow()
	return above, below || !v.transcript.Visible()
}

// Parts are the sizes of what replaces the rows, as the layout needs them.
type Parts struct {
	problem        fyne.Size
	empty, loading bool
}

// Parts returns the present sizes. A view is laid out again when they change.
func (v *View) Parts() Parts {
	p := Parts{empty: v.empty.Visible(), loading: v.loadingText.Visible()}
	if v.problemBox.Visible() {
		p.problem = v.problemBox.MinSize()
	}
	return p
}

// LayOut places the content. Its rows are as wide as width allows.
func (v *View) LayOut(at fyne.Position, size fyne.Size, width float32) {
	v.transcript.Width = width
	v.Content.Move(at)
	v.Content.Resize(size)
	v.Content.Layout.Layout(v.Content.Objects, size) // its content may have a new height
}

// Column returns the width of the rows in a view, and the margin beside them.
func Column(width float32) (column, margin float32) {
	margin = widgets.Choose[float32](width < style.Narrow-200, 12, style.Page)
	return min(width-2*margin, ColumnWidth*style.Size("text")/14), margin
}

// contentLayout gives all space to the transcript, and centres an object that replaces it.
type contentLayout struct{}

func (contentLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(120, 80) }

func (contentLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for i, o := range objects {
		if i == 0 {
			o.Resize(size)
			continue
		}
		width := min(size.Width-2*style.Page, 620)
		h := widgets.Fit(o, width)
		o.Move(fyne.NewPos(float32(int((size.Width-width)/2)), float32(int(max(size.Height-h, 0)/2))))
	}
}
