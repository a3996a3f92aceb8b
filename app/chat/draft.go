package chat

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// AddFiles handles files that were dropped or chosen: pictures become attachments of the next
// message, paths of other files are inserted into the text.
func (p *Pane) AddFiles(paths []string) {
	p.composer.problem.Hide()
	for _, path := range paths {
		p.composer.addPath(path)
	}
	p.FocusComposer()
}

// Node returns the chat's machine, empty if there is none.
func (p *Pane) Node() protocol.NodeID {
	id := p.composer.currentMachine(p.state)
	return protocol.NodeID(id)
}

// Composer returns the text field, for a window that focuses it before it is first shown.
func (p *Pane) Composer() fyne.Focusable { return p.composer.entry }

// FocusComposer focuses the text field in a window that was drawn already.
func (p *Pane) FocusComposer() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Focus(p.composer.entry)
	}
}

// Questions returns the visible cards with a pending approval.
func (p *Pane) Questions() []fyne.CanvasObject {
	if !p.Visible() {
		return nil
	}
	var list []fyne.CanvasObject
	for r := range p.transcript.VisibleRows() {
		if card, ok := r.(*row).content.(*transcript.CallCard); ok && card.CanAnswer() {
			list = append(list, card)
		}
	}
	return list
}

// Draft returns the unsent text.
func (p *Pane) Draft() string { return p.composer.entry.Text }

// SetDraft replaces the unsent text.
func (p *Pane) SetDraft(text string) { p.composer.entry.setText(text) }

// Attachments returns the pictures of the unsent message.
func (p *Pane) Attachments() []protocol.Attachment { return slices.Clone(p.composer.images) }

// SetAttachments replaces the pictures of the unsent message.
func (p *Pane) SetAttachments(list []protocol.Attachment) {
	p.composer.images = slices.Clone(list)
	p.composer.showThumbnails()
}
