// Package chat is the page of one chat: header, messages and composer.
//
// The [Page] loads the chat and follows it. Its [Pane] shows a complete state, and carries out what
// the person wants. View state, such as the draft and the chosen machine, belongs to the pane and
// survives updates.
package chat

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/conversation"
	"fairlead/app/host"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Pane shows one chat. It belongs to the GUI thread.
type Pane struct {
	widgets.Frame
	chat     *current
	view     *conversation.View
	requests *requests
	header   *header
	composer *composer

	headerBackground   *widgets.Background // backgrounds, and the line below the header
	composerBackground *widgets.Background
	headerLine         fyne.CanvasObject
	reserved           float32 // height between the transcript and the composer, see [Pane.Reserve]
	laidOut            parts   // sizes of the latest layout
}

// New creates a pane without a chat; [Pane.Update] sets one. Its work ends with ctx. menu returns
// the actions on the chat, and may be nil.
func New(ctx context.Context, e host.Env, menu func() []*fyne.MenuItem, d *Drafts) *Pane {
	p := &Pane{chat: &current{ctx: ctx, host: e, menu: menu, now: time.Now()}}
	p.requests = &requests{chat: p.chat, drafts: d, onSend: func() {}}
	p.composer = newComposer(p.chat, p.requests, p)
	p.requests.composer = p.composer
	p.view = conversation.New(ctx, e, p.composer.examples.Box, p.requests)
	p.chat.view = p.view
	p.header = newHeader(p.chat, p)

	p.composer.onResize, p.view.OnResize = p.relayout, p.relayout
	p.composer.entry.onEscape = p.view.CloseFind
	p.header.onRename = p.composer.focus
	p.view.OnLeave, p.view.OnPlaced = p.composer.focus, paneLayout{p}.cover
	p.headerBackground, p.composerBackground, p.headerLine = widgets.NewBackground("background", "", 0), widgets.NewBackground("background", "", 0), widgets.HLine()
	// Above the rows: Fyne's software painter does not clip what scrolls within a row.
	p.Compose(p, container.New(paneLayout{p}, p.view.Content, p.headerBackground, p.composerBackground, p.header.box, p.headerLine, p.view.Bar, p.composer.box, p.composer.hint.box, p.composer.entry.completion.box))
	p.show()
	return p
}

// Update shows a state. A change of the chat resets the reader's view state and draft.
func (p *Pane) Update(s conversation.State) {
	if p.view.Set(s) {
		p.chat.machine = ""
		p.composer.reset()
	}
	p.chat.state = s
	p.show()
}

// Tick passes the time, once a second: it updates durations and enables Allow.
func (p *Pane) Tick(now time.Time) {
	p.chat.now = now
	p.composer.entry.completion.tick(time.Now())
	// a trust has another minute left, or has ended
	if p.view.SetTime(now) || p.header.mode.Text != p.header.modeName() {
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
		p.chat.host.Machines.Add(ids)
	}
	p.header.show()
	p.composer.update()
	p.view.Draw()
	paneLayout{p}.cover()
	if p.parts() != p.laidOut { // each layout causes a frame
		p.relayout()
	}
}

// Stop stops the run in progress; it reports whether there was one.
func (p *Pane) Stop() bool { return p.composer.entry.onStop() }

// Find opens the search bar with the text of the previous search.
func (p *Pane) Find() { p.view.Find() }

// Reveal scrolls to a message, see [conversation.View.Reveal].
func (p *Pane) Reveal(id protocol.MessageID, text string) { p.view.Reveal(id, text) }

// PendingReveal returns the message that is still to be revealed, or an empty ID.
func (p *Pane) PendingReveal() protocol.MessageID { return p.view.PendingReveal() }

// ScrollToEnd scrolls to the newest message.
func (p *Pane) ScrollToEnd() { p.view.ScrollToEnd() }

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
func (p *Pane) Draft() string { return p.composer.content().text }

// SetDraft replaces the unsent text. It ends the editing of a message.
func (p *Pane) SetDraft(text string) {
	p.composer.endEdit()
	p.composer.entry.setText(text)
}

// Attachments returns the pictures of the unsent message.
func (p *Pane) Attachments() []protocol.Attachment {
	return slices.Clone(p.composer.content().images)
}

// SetAttachments replaces the pictures of the unsent message.
func (p *Pane) SetAttachments(list []protocol.Attachment) {
	p.composer.endEdit()
	p.composer.files.list = slices.Clone(list)
	p.composer.files.show()
}
