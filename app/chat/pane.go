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
	handlers Handlers
	machines *style.Machines
	builder  *builder
	state    State
	hasState bool
	readOnly bool
	now      time.Time

	header             *header
	finder             *finder
	transcript         *transcript.View
	composer           *composer
	hint               *hint
	empty              fyne.CanvasObject
	content            *fyne.Container
	headerBackground   *widgets.Background // backgrounds, and the line below the header
	composerBackground *widgets.Background
	headerLine         fyne.CanvasObject
	reserved           float32 // height between the transcript and the composer, see [Pane.Reserve]
	problemBox         *widgets.ErrorBox
	loadingText        *widgets.Text
	loadingSince       time.Time          // start of loading
	revealID           protocol.MessageID // message to reveal once it is loaded
	revealText         string             // text to find in it; may be empty
	revealedAt         time.Time          // time when a row was highlighted; zero for none

	positions       map[protocol.SessionKey]position
	restorePosition bool            // the scroll position shall be restored
	expanded        expansion       // parts that the reader expanded or collapsed
	showSource      map[string]bool // rows shown as raw Markdown
	wrapOutput      bool            // outputs wrap their lines
	images          map[string]fyne.Resource
	pointed         *transcript.MessageView // the message whose buttons are shown, or nil
	pointedID       protocol.MessageID      // of that message; empty while it is streamed
}

// New creates a pane without a conversation; [Pane.Update] sets one. All windows share machines.
func New(h Handlers, machines *style.Machines) *Pane {
	p := &Pane{handlers: h, machines: machines, builder: newBuilder(machines), wrapOutput: h.WrapOutput, now: time.Now(), positions: map[protocol.SessionKey]position{}, expanded: expansion{}, showSource: map[string]bool{}, images: map[string]fyne.Resource{}}
	if h.Work == nil {
		p.handlers.Work = func(work, done func()) { work(); done() }
	}
	p.transcript = transcript.New(rowFactory{p}.row)
	p.transcript.Width = columnWidth
	p.transcript.OnTop = func() {
		if p.state.More {
			p.handlers.Older()
		}
	}
	p.headerBackground, p.composerBackground, p.headerLine = widgets.NewBackground("background", "", 0), widgets.NewBackground("background", "", 0), widgets.HLine()
	p.transcript.ItemText = rowFactory{p}.itemText
	p.transcript.OnType = func(r rune) {
		p.FocusComposer()
		p.composer.entry.TypedRune(r)
	}
	p.transcript.OnPaste = func() {
		p.FocusComposer()
		p.composer.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: fyne.CurrentApp().Clipboard()})
	}
	p.transcript.OnLeave = p.FocusComposer
	p.header, p.finder = newHeader(p), newFinder(p)
	p.hint = newHint()
	p.composer = newComposer(p)
	p.empty = newEmpty(p)
	p.problemBox = widgets.NewErrorBox(widgets.Problem{}, func() { rowFactory{p}.runAction(actionReload, "") })
	p.loadingText = widgets.NewText("Loading…", style.ColorMuted, "text")
	p.loadingText.Align = fyne.TextAlignCenter
	p.content = container.New(contentLayout{}, p.transcript, p.empty, p.problemBox, p.loadingText)
	// Above the transcript: Fyne's software painter does not clip what scrolls within a row.
	p.Compose(p, container.New(paneLayout{p}, p.content, p.headerBackground, p.composerBackground, p.header.box, p.headerLine, p.finder.box, p.composer.box, p.hint.box, p.composer.entry.completion.box))
	p.show()
	return p
}

// NewReader creates a read-only pane for an archived conversation, without header and composer.
func NewReader(h Handlers, machines *style.Machines) *Pane {
	p := New(h, machines)
	p.readOnly = true
	p.content.Remove(p.empty)
	p.empty = widgets.NewEmptyState("chat", "No messages", "")
	p.content.Add(p.empty)
	for _, o := range []fyne.CanvasObject{p.header.box, p.composer.box, p.headerBackground, p.composerBackground, p.headerLine, p.empty} {
		o.Hide()
	}
	return p
}

// Update shows a state. A change of the conversation resets the reader's view state and draft; the
// scroll position is restored when the reader comes back.
func (p *Pane) Update(s State) {
	if p.hasState && s.Session.SessionKey != p.state.Session.SessionKey {
		items, from := p.transcript.Items(), p.state.Session.SessionKey
		if key, into := p.transcript.Top(); p.transcript.AtEnd() || key == "" {
			delete(p.positions, from)
		} else {
			p.positions[from] = position{key, into, items[len(items)-1].Key}
		}
		p.restorePosition = true
		p.finder.close()
		undos := p.builder.undos // they survive, by the ID of their call
		p.builder = newBuilder(p.machines)
		p.builder.undos = undos
		clear(p.expanded)
		clear(p.showSource)
		clear(p.images)
		p.composer.reset()
		p.revealID = ""
		p.endReveal()
		p.transcript.ClearSelection()
		p.transcript.SetItems(nil)
		p.transcript.ScrollToEnd()
	}
	if s.Loading && (!p.hasState || !p.state.Loading) {
		p.loadingSince = p.now
	}
	p.state, p.hasState = s, true
	p.show()
}

// Tick passes the time, once a second: it updates durations and enables Allow.
func (p *Pane) Tick(now time.Time) {
	// a new day, or the end of the chat's trust period
	over := p.now.Year() != now.Year() || p.now.YearDay() != now.YearDay()
	p.now = now
	p.composer.entry.completion.tick(time.Now())
	over = over || p.header.mode.Text != p.header.modeName(p.state)
	if !p.revealedAt.IsZero() && now.Sub(p.revealedAt) >= revealTime {
		p.endReveal()
	}
	if len(p.state.Runs) > 0 || len(p.state.Calls) > 0 || len(p.state.Approvals) > 0 || p.state.Loading || over {
		p.show()
	}
}

func (p *Pane) show() {
	ids := make([]string, len(p.state.Nodes))
	for i, n := range p.state.Nodes {
		ids[i] = string(n.ID)
	}
	if len(ids) > 0 {
		p.machines.Add(ids)
	}
	p.header.show(p.state)
	p.composer.update(p.state)
	items := p.builder.build(p.state, p.now)
	p.transcript.SetItems(items)
	if p.finder.box.Visible() {
		p.finder.search(false)
	}
	if p.restorePosition && !p.state.Loading && len(items) > 0 {
		p.restorePosition = false
		// not if there are new messages
		if at := p.positions[p.state.Session.SessionKey]; at.key != "" && items[len(items)-1].Key == at.lastKey {
			p.transcript.ScrollToOffset(at.key, at.offset)
		}
	}
	p.revealPending()

	trouble := p.state.Problem != "" && len(items) == 0
	loading := p.state.Loading && len(items) == 0 && !trouble
	widgets.SetVisible(p.transcript, len(items) > 0)
	widgets.SetVisible(p.empty, p.hasState && len(items) == 0 && !trouble && !loading)
	widgets.SetVisible(p.problemBox, trouble)
	widgets.SetVisible(p.loadingText, loading && p.now.Sub(p.loadingSince) >= 300*time.Millisecond)
	if trouble {
		p.problemBox.Set(widgets.Problem{Title: sentence(p.state.Problem), Button: "Try again"})
	}
	p.relayout()
}

// expansion has the reader's choices to expand or collapse parts of rows.
type expansion map[string]bool

// isExpanded reports whether a collapsible part is expanded: the reader's choice, else the default.
func (e expansion) isExpanded(id string, open bool) bool {
	if was, chosen := e[id]; chosen {
		return was
	}
	return open
}

// setExpanded records that the reader expanded or collapsed a part of a row. An expanded part is
// brought into view.
func (p *Pane) setExpanded(row, id string, open bool) {
	p.expanded[id] = open
	if p.finder.box.Visible() {
		p.finder.before[id] = open
	}
	p.transcript.HeightChanged()
	if open {
		p.transcript.RevealRow(row)
	}
}

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
func (p *Pane) AddFiles(paths []string) {
	p.composer.problem.Hide()
	for _, path := range paths {
		p.composer.addPath(path)
	}
	p.FocusComposer()
}

// Node returns the chat's machine, empty if none exists.
func (p *Pane) Node() protocol.NodeID { return p.composer.currentMachine(p.state) }

// Composer returns the text field, for a window that focuses it before it is first shown.
func (p *Pane) Composer() fyne.Focusable { return p.composer.entry }

// FocusComposer focuses the text field in a window that was drawn already.
func (p *Pane) FocusComposer() { widgets.FocusIn(p, p.composer.entry) }

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
	p.composer.images = slices.Clone(list)
	p.composer.showThumbnails()
}
