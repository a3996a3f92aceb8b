package chat

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// content returns the unsent new message, also while an earlier one is edited.
func (c *composer) content() draft {
	if c.edited != "" {
		return c.before
	}
	return draft{c.entry.Text, c.files.list}
}

// setContent replaces the unsent new message. It ends the editing of an earlier one.
func (c *composer) setContent(d draft) {
	c.endEdit()
	c.entry.setText(d.text)
	c.files.set(d.images)
}

// newEditNote explains that the composer edits an earlier message.
func newEditNote(c *composer) fyne.CanvasObject {
	text := widgets.NewText("Editing. Sending replaces what came after.", style.ColorMuted, style.SizeSmall)
	text.Ellipsis = true
	cancel := widgets.NewQuietButton("Cancel", "", func() {
		c.endEdit()
		c.focus()
	})
	cancel.Small = true
	note := widgets.Inset(0, 0, 0, style.Inside, widgets.Row(style.Inside, 1, widget.NewIcon(style.IconIn("edit", style.ColorMuted)), text, cancel))
	note.Hide()
	return note
}

// edit puts a message of the person into the field, to be changed and sent again.
func (c *composer) edit(m protocol.Message) {
	c.startEdit(m)
	c.entry.setText(m.Content.Text())
	c.focus()
}

// onRecall follows the browsing of sent messages: one with an ID is edited.
func (c *composer) onRecall(s sentText) {
	if m := c.chat.state.Stored(s.id); m != nil {
		c.startEdit(*m)
		return
	}
	if c.edited != "" { // the text is the recalled one already
		c.leaveEdit()
	}
}

func (c *composer) startEdit(m protocol.Message) {
	if c.edited == "" {
		c.before = draft{c.entry.draft, c.files.list}
		if c.entry.historyIndex == len(c.entry.history) {
			c.before.text = c.entry.Text
		}
	}
	c.edited, c.files.list = m.ID, nil
	c.chat.withPictures(m.Content, func(list []protocol.Attachment) {
		if c.edited == m.ID {
			c.files.list = list
			c.files.show()
		}
	})
	c.editNote.Show()
	c.files.show()
}

// endEdit shows the unsent new message again, if an earlier one was edited.
func (c *composer) endEdit() {
	if c.edited == "" {
		return
	}
	c.leaveEdit()
	c.entry.historyIndex = len(c.entry.history)
	c.entry.setText(c.before.text)
}

func (c *composer) leaveEdit() {
	c.edited, c.files.list = "", c.before.images
	c.editNote.Hide()
	c.files.show()
}

// prepend puts a text before the unsent message.
func (c *composer) prepend(text string) {
	c.endEdit()
	c.entry.setText(strings.TrimRight(text+"\n"+c.entry.Text, "\n"))
	c.focus()
}

// reset empties the composer for another chat.
func (c *composer) reset() {
	c.edited, c.files.list = "", nil
	c.editNote.Hide()
	c.entry.history, c.entry.historyIndex = nil, 0
	c.entry.SetText("")
	c.files.show()
}
