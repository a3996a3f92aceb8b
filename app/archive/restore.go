package archive

import (
	"context"
	"time"

	"fairlead/app/bind"
	"fairlead/gateway/protocol"
)

// undoFor is how long the window offers to undo; the page can do it later, too.
const undoFor = 15 * time.Second

// restoreWithUndo restores an archived conversation, and offers to undo that.
func (p *Page) restoreWithUndo(a protocol.ArchiveInfo) {
	button := p.restoreButton
	button.Disable()
	p.restore(a.ID, func(before protocol.ArchiveID) {
		var undo func()
		if before != "" {
			undo = func() { p.restore(before, func(protocol.ArchiveID) {}, func() {}) }
		}
		if p.ctx.Err() == nil { // the page is still open
			p.openChat()
		}
		p.h.Undo("The earlier conversation was restored.", undo, time.Now().Add(undoFor))
	}, button.Enable)
}

func (p *Page) restore(id protocol.ArchiveID, done func(before protocol.ArchiveID), failed func()) {
	bind.Go(context.WithoutCancel(p.ctx), func(ctx context.Context) (protocol.ArchiveID, error) { return p.app.Archives.Restore(ctx, p.key, id) },
		func(before protocol.ArchiveID, err error) {
			if err != nil {
				failed()
				p.h.Say("The conversation was not restored: " + err.Error())
				return
			}
			done(before)
		})
}
