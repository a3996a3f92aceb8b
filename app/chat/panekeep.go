package chat

import (
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// AddFiles takes files that were dropped or chosen: pictures go with the next message, of others the path is written.
func (p *Pane) AddFiles(paths []string) {
	p.composer.note.Hide()
	for _, path := range paths {
		p.composer.addPath(path)
	}
	p.FocusComposer()
}

// Node is the machine that the chat is about, empty when there is none.
func (p *Pane) Node() protocol.NodeID {
	id, _ := p.composer.nodeName(p.state)
	return protocol.NodeID(id)
}

// Composer is the field to write in, for a window that gives it the keyboard before it is shown the first time.
func (p *Pane) Composer() fyne.Focusable { return p.composer.entry }

// FocusComposer gives the keyboard to the composer, in a window that was drawn already.
func (p *Pane) FocusComposer() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p); c != nil {
		c.Focus(p.composer.entry)
	}
}

// Questions are the cards on the screen that ask something.
func (p *Pane) Questions() []fyne.CanvasObject {
	if !p.Visible() {
		return nil
	}
	var list []fyne.CanvasObject
	for r := range p.transcript.Shown() {
		if card, ok := r.(*row).content.(*widgets.ToolCard); ok && card.Asks() {
			list = append(list, card)
		}
	}
	return list
}

// Draft is what is typed and not sent.
func (p *Pane) Draft() string { return p.composer.entry.Text }

// SetDraft replaces what is typed.
func (p *Pane) SetDraft(text string) { p.composer.entry.fill(text) }

// Attachments are the pictures that go with what is typed.
func (p *Pane) Attachments() []protocol.Attachment { return slices.Clone(p.composer.images) }

// SetAttachments replaces them.
func (p *Pane) SetAttachments(list []protocol.Attachment) {
	p.composer.images = slices.Clone(list)
	p.composer.showThumbs()
}
