package chat

import (
	"context"
	"io"
	"time"

	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/host"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"

	"fyne.io/fyne/v2"
)

// current is the chat that the pane shows now. Its parts read it; the pane changes it.
type current struct {
	ctx     context.Context // of the pane
	host    host.Env
	menu    func() []*fyne.MenuItem // the actions on the chat; may be nil
	view    *conversation.View
	state   conversation.State
	now     time.Time
	machine protocol.NodeID // chosen by the person; empty is automatic
}

// model returns the model of the chat.
func (c *current) model() Model { return NewModel(c.host.Feed, c.state.Session.SessionKey) }

// currentMachine returns the chosen machine, else the local one, else the first that is online.
func (c *current) currentMachine() protocol.NodeID {
	id := c.machine
	if id == "" {
		for _, n := range c.state.Nodes {
			if n.Online && (id == "" || n.Local) {
				id = n.ID
			}
		}
	}
	return id
}

// withPictures calls a function with the pictures of a message, if the chat is still open then.
func (c *current) withPictures(content protocol.Content, do func([]protocol.Attachment)) {
	if conversation.ImageKeys(content) == "" {
		do(nil)
		return
	}
	key := c.state.Session.SessionKey
	var list []protocol.Attachment
	c.host.Run(c.ctx, "The pictures in that message could not be loaded", func(ctx context.Context) (err error) {
		list, err = chats.Pictures(ctx, c.host.Feed, content)
		return err
	}, func() {
		if c.state.Session.SessionKey == key {
			do(list)
		}
	})
}

// ExportFile is the dialog that saves a chat to a file.
func ExportFile(e host.Env, key protocol.SessionKey, f export.Format) host.SaveFile {
	return host.SaveFile{
		Name: f.FileName(e.Chats.Title(key)), Title: "Export chat", Failed: "The chat could not be saved",
		Write: func(ctx context.Context, w io.Writer) (string, error) { return "", e.Chats.Export(ctx, key, f, w) },
	}
}
