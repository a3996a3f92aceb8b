// Package chat is the pane of one conversation: header, transcript and composer.
//
// The pane shows a complete [State] that it receives at most a few times a second, and calls
// [Handlers]; it makes no requests itself. [Pane.Update] compares the new state with the previous
// one and redraws only changed rows. View state (expanded cards, the draft, the chosen machine)
// belongs to the pane and survives updates.
package chat

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Pane shows one conversation. It belongs to the GUI thread.
type Pane struct {
	widgets.Composite
	chat       *conversation
	transcript *transcript.View
	choices    *choices
	pictures   *pictures
	header     *header
	finder     *finder
	composer   *composer
	reveal     *reveal
	positions  *positions

	empty        fyne.CanvasObject
	content      *fyne.Container
	covers       *covers
	headerLine   fyne.CanvasObject // the line below the header
	reserved     float32           // height between the transcript and the composer, see [Pane.Reserve]
	laidOut      parts             // sizes of the latest layout
	problemBox   *widgets.ErrorBox
	loadingText  *widgets.Text
	loadingSince time.Time // start of loading
}

// New creates a pane without a conversation; [Pane.Update] sets one. All windows share machines.
func New(h Handlers, machines *style.Machines) *Pane {
	if h.Work == nil {
		h.Work = func(work, done func()) { work(); done() }
	}
	p := &Pane{chat: &conversation{handlers: h, machines: machines, builder: newBuilder(machines), now: time.Now()}}
	var rows *rowFactory
	p.transcript = transcript.New(func(kind int) transcript.Row { return rows.row(kind) })
	p.choices = newChoices(p.transcript, h.WrapOutput)
	p.reveal = &reveal{list: p.transcript}
	p.positions = &positions{list: p.transcript, left: map[protocol.SessionKey]position{}}
	p.composer = newComposer(p.chat, p.transcript, p)
	p.finder = newFinder(p.chat, p.transcript, p.choices)
	p.header = newHeader(p.chat, p)
	again := &requests{p.chat, p.transcript}
	rows = newRowFactory(p.chat, p.transcript, p.choices, p.composer, again, p.show)
	p.pictures = rows.messages.pictures

	p.composer.onResize, p.finder.onResize = p.relayout, p.relayout
	p.composer.entry.onEscape = p.finder.close
	p.header.onRename = p.composer.focus
	p.finder.onClose = func() {
		p.reveal.end()
		p.composer.focus()
	}
	p.transcript.Width, p.transcript.Selection.ItemText = columnWidth, p.choices.visibleText
	p.covers = newCovers(p.transcript)
	p.transcript.OnPlaced = p.covers.show
	p.transcript.OnTop = func() {
		if p.chat.state.More {
			p.chat.handlers.Older()
		}
	}
	p.headerLine = widgets.HLine()
	p.empty = p.composer.newEmpty()
	p.problemBox = widgets.NewErrorBox(widgets.Problem{}, func() { again.runAction(actionReload, "") })
	p.loadingText = widgets.NewText("Loading…", style.ColorMuted, "text")
	p.loadingText.Align = fyne.TextAlignCenter
	p.content = container.New(contentLayout{}, p.transcript, p.empty, p.problemBox, p.loadingText)
	// Above the transcript: Fyne's software painter does not clip what scrolls within a row.
	p.Compose(p, container.New(paneLayout{p}, p.content, p.covers.header, p.covers.composer, p.header.box, p.headerLine, p.finder.box, p.composer.box, p.composer.hint.box, p.composer.entry.completion.box))
	p.show()
	return p
}

// NewReader creates a read-only pane for an archived conversation, without header and composer.
func NewReader(h Handlers, machines *style.Machines) *Pane {
	p := New(h, machines)
	p.chat.readOnly, p.covers.isUnused = true, true
	p.covers.show()
	p.content.Remove(p.empty)
	p.empty = widgets.NewEmptyState("chat", "No messages", "")
	p.content.Add(p.empty)
	for _, o := range []fyne.CanvasObject{p.header.box, p.composer.box, p.headerLine, p.empty} {
		o.Hide()
	}
	return p
}

// Update shows a state. A change of the conversation resets the reader's view state and draft; the
// scroll position is restored when the reader comes back.
func (p *Pane) Update(s State) {
	c := p.chat
	if from := c.state.Session.SessionKey; c.isSet && s.Session.SessionKey != from {
		p.positions.leave(from)
		p.finder.close()
		undos := c.builder.undos // they survive, by the ID of their call
		c.builder = newBuilder(c.machines)
		c.builder.undos = undos
		c.machine = ""
		p.choices.reset()
		clear(p.pictures.loaded)
		p.composer.reset()
		p.reveal.id = ""
		p.reveal.end()
		p.transcript.Selection.Clear()
		p.transcript.SetItems(nil)
		p.transcript.ScrollToEnd()
	}
	if s.Loading && (!c.isSet || !c.state.Loading) {
		p.loadingSince = c.now
	}
	c.state, c.isSet = s, true
	p.show()
}

// Tick passes the time, once a second: it updates durations and enables Allow.
func (p *Pane) Tick(now time.Time) {
	c := p.chat
	isNewDay := c.now.Year() != now.Year() || c.now.YearDay() != now.YearDay()
	c.now = now
	p.composer.entry.completion.tick(time.Now())
	isNewMode := p.header.mode.Text != p.header.modeName() // a trust has another minute left, or none
	p.reveal.expire(now)
	if s := c.state; len(s.Runs) > 0 || len(s.Calls) > 0 || len(s.Approvals) > 0 || s.Loading || isNewDay || isNewMode {
		p.show()
	}
}

func (p *Pane) show() {
	s := p.chat.state
	ids := make([]string, len(s.Nodes))
	for i, n := range s.Nodes {
		ids[i] = string(n.ID)
	}
	if len(ids) > 0 {
		p.chat.machines.Add(ids)
	}
	p.header.show()
	p.composer.update()
	items := p.chat.builder.build(s, p.chat.now)
	p.transcript.SetItems(items)
	if p.finder.box.Visible() {
		p.finder.search(false)
	}
	if !s.Loading {
		p.positions.enter(s.Session.SessionKey)
	}
	p.showRevealed()

	trouble := s.Problem != "" && len(items) == 0
	loading := s.Loading && len(items) == 0 && !trouble
	widgets.SetVisible(p.transcript, len(items) > 0)
	p.covers.show()
	widgets.SetVisible(p.empty, p.chat.isSet && len(items) == 0 && !trouble && !loading)
	widgets.SetVisible(p.problemBox, trouble)
	widgets.SetVisible(p.loadingText, loading && p.chat.now.Sub(p.loadingSince) >= 300*time.Millisecond)
	if trouble {
		p.problemBox.Set(widgets.Problem{Title: sentence(s.Problem), Button: "Try again"})
	}
	if (paneLayout{p}).parts() != p.laidOut { // each layout causes a frame
		p.relayout()
	}
}

// Stop stops the run in progress; it reports whether there was one.
func (p *Pane) Stop() bool { return p.composer.entry.onStop() }

// Find opens the search bar with the text of the previous search.
func (p *Pane) Find() { p.finder.start() }

// Reveal scrolls to a message and highlights it briefly: now, or as soon as it is loaded. It also
// finds a text: the search bar opens at its first match in the message. An empty text is not
// searched for.
func (p *Pane) Reveal(id protocol.MessageID, text string) {
	p.reveal.id, p.reveal.text = id, text
	p.showRevealed()
}

// PendingReveal returns the message that is still to be revealed, or an empty ID.
func (p *Pane) PendingReveal() protocol.MessageID { return p.reveal.id }

func (p *Pane) showRevealed() {
	if key, text := p.reveal.show(p.chat.builder.rows, p.chat.now); text != "" {
		p.finder.openAt(key, text)
	}
}

// ScrollToEnd scrolls to the newest message.
func (p *Pane) ScrollToEnd() { p.transcript.ScrollToEnd() }

// Rename lets the person edit the title in the header.
func (p *Pane) Rename() { p.header.Rename() }

// SetLeading puts an object before the title, such as the drawer's button; nil removes it.
func (p *Pane) SetLeading(o fyne.CanvasObject) {
	p.header.leading.Objects = nil
	if o != nil {
		p.header.leading.Objects = []fyne.CanvasObject{o}
		o.Refresh() // the theme may have changed while it was not displayed
	}
	widgets.SetVisible(p.header.leading, o != nil)
	p.relayout()
}

// AddFiles attaches pictures to the next message, and the paths of other files.
func (p *Pane) AddFiles(paths []string) { p.composer.addPaths(paths) }

// Node returns the chat's machine, empty if none exists.
func (p *Pane) Node() protocol.NodeID { return p.chat.currentMachine() }

// Composer returns the text field, for a window that focuses it before it is first shown.
func (p *Pane) Composer() fyne.Focusable { return p.composer.entry }

// FocusComposer focuses the text field in a window that was drawn already.
func (p *Pane) FocusComposer() { p.composer.focus() }

// FootHeight returns the height of the composer and of the space around it.
func (p *Pane) FootHeight() float32 { return p.Size().Height - p.composer.box.Position().Y }

// Reserve leaves this height free between the transcript and the composer, for the window's
// messages.
func (p *Pane) Reserve(height float32) {
	if p.reserved != height {
		p.reserved = height
		p.relayout()
	}
}

// Draft returns the unsent text of a new message, also while an earlier one is edited.
func (p *Pane) Draft() string { return p.composer.draft().text }

// SetDraft replaces the unsent text. It ends the editing of a message.
func (p *Pane) SetDraft(text string) {
	p.composer.endEdit()
	p.composer.entry.setText(text)
}

// Attachments returns the pictures of the unsent message.
func (p *Pane) Attachments() []protocol.Attachment { return slices.Clone(p.composer.draft().images) }

// SetAttachments replaces the pictures of the unsent message.
func (p *Pane) SetAttachments(list []protocol.Attachment) {
	p.composer.endEdit()
	p.composer.files.list = slices.Clone(list)
	p.composer.files.show()
}
