package approve

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// InboxHandlers are the inbox's callbacks, called on the GUI thread.
type InboxHandlers struct {
	Review func(protocol.ApprovalID)
	// ReviewAll opens an approval to be answered together with all identical ones.
	ReviewAll func(protocol.ApprovalID)
	Deny      func([]protocol.Approval)
	Snooze    func([]protocol.Approval)
	Wake      func(protocol.ApprovalID)
	Chat      func(protocol.SessionKey)
}

// Inbox is the page of all pending approvals, of all chats and machines. It has no Allow button:
// allowing requires the whole question in view, in the dialog. It belongs to the GUI thread.
type Inbox struct {
	Box fyne.CanvasObject

	h        InboxHandlers
	machines *style.Machines
	rows     *fyne.Container
	none     fyne.CanvasObject
	list     *container.Scroll
	more     *widgets.Text
	all      []*inboxRow
	clock    func() time.Time
	canvas   fyne.Canvas // set by Focus
}

// maxRows is the maximum number of approvals listed.
const maxRows = 100

// NewInbox creates the page.
func NewInbox(h InboxHandlers, machines *style.Machines) *Inbox {
	in := &Inbox{h: h, machines: machines, rows: widgets.Col(0), more: widgets.NewText("", style.ColorMuted, style.SizeSmall), clock: time.Now}
	in.none = widgets.Inset(2*style.Page, 0, 0, 0, widgets.NewEmptyState("check", "Nothing needs you", "Questions appear here, in the tray and in a window."))
	in.list = widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.Col(style.Gap, in.rows, in.more)))
	in.Box = widgets.NewPage("Needs you", container.NewStack(in.list, in.none))
	return in
}

// Update shows the approvals of a view. The focused row keeps the focus while it exists.
func (in *Inbox) Update(v state.View) {
	groups := state.Inbox(v)
	widgets.SetVisible(in.none, len(groups) == 0)
	widgets.SetVisible(in.list, len(groups) > 0)
	hidden := 0
	if len(groups) > maxRows {
		hidden, groups = len(groups)-maxRows, groups[:maxRows]
	}
	in.more.SetText("")
	if hidden > 0 {
		in.more.SetText(fmt.Sprintf("%d more appear as you answer these", hidden))
	}
	for len(in.all) < len(groups) {
		in.all = append(in.all, newInboxRow(in, len(in.all)))
	}
	in.rows.Objects = in.rows.Objects[:0]
	for i, g := range groups {
		in.all[i].set(g)
		in.rows.Objects = append(in.rows.Objects, in.all[i].box)
	}
	in.rows.Refresh()
	in.keepFocus()
}

// Tick passes the time.
func (in *Inbox) Tick(now time.Time) {
	for i := range in.rows.Objects {
		in.all[i].tick(now)
	}
}

// Focus focuses the first approval, from where the arrow keys move. Without approvals it does
// nothing.
func (in *Inbox) Focus(c fyne.Canvas) {
	in.canvas = c
	in.focus(0)
}

func (in *Inbox) focus(i int) {
	if in.canvas == nil || i < 0 || i >= len(in.rows.Objects) {
		return
	}
	in.canvas.Focus(in.all[i].press)
	row, top, height := in.all[i].box, in.list.Offset.Y, in.list.Size().Height
	switch y := row.Position().Y; {
	case y < top:
		in.list.ScrollToOffset(fyne.NewPos(0, y))
	case y+row.Size().Height > top+height:
		in.list.ScrollToOffset(fyne.NewPos(0, y+row.Size().Height-height))
	}
}

// keepFocus focuses the last approval if the focused one is gone.
func (in *Inbox) keepFocus() {
	if in.canvas == nil {
		return
	}
	had := in.canvas.Focused()
	for _, r := range in.all[len(in.rows.Objects):] {
		if had == fyne.Focusable(r.press) || had == fyne.Focusable(r.all) || had == fyne.Focusable(r.deny) || had == fyne.Focusable(r.later) {
			if len(in.rows.Objects) == 0 {
				in.canvas.Unfocus()
			}
			in.focus(len(in.rows.Objects) - 1)
			return
		}
	}
}
