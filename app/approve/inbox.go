package approve

import (
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/apps"
	"fairlead/app/feed"
	"fairlead/app/nodes"
	"fairlead/app/question"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/tools"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// InboxHandlers are the inbox's callbacks, called on the GUI thread.
type InboxHandlers struct {
	Review func(protocol.QuestionID)
	// ReviewAll opens an approval to be answered together with all identical ones.
	ReviewAll func(protocol.QuestionID)
	Deny      func([]protocol.Question)
	Snooze    func(...protocol.Question)
	Wake      func(protocol.QuestionID)
	Chat      func(protocol.SessionKey)
	// Answer answers a question other than an approval. OpenURL opens an address that a server asks
	// to open.
	Answer  func(protocol.Question, protocol.QuestionAnswerParams)
	OpenURL func(string)
}

// InboxKeys are those of a row of the inbox.
var InboxKeys = []widgets.KeyText{{Keys: "Enter", Text: "Review"}, {Keys: "Del", Text: "Deny"}, {Keys: "L", Text: "Not now"}}

// Inbox is the page of all pending approvals, of all chats and machines. It has no Allow button:
// allowing requires the whole question in view, in the dialog. It belongs to the GUI thread.
type Inbox struct {
	Box fyne.CanvasObject

	h        InboxHandlers
	machines *style.Machines
	requests *widgets.Questions // of devices, above the approvals
	consents *widgets.Questions // of apps, below requests
	servers  *widgets.Questions // of MCP servers, below consents
	changes  *widgets.Questions // about changed tools of servers, below servers
	senders  *widgets.Questions // of channels, below changes
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
	in := &Inbox{h: h, machines: machines, requests: widgets.NewQuestions(), consents: widgets.NewQuestions(), servers: widgets.NewQuestions(), changes: widgets.NewQuestions(), senders: widgets.NewQuestions(), rows: widgets.Col(0), more: widgets.NewText("", style.ColorMuted, style.SizeSmall), clock: time.Now}
	in.none = widgets.Inset(2*style.Page, 0, 0, 0, widgets.NewEmptyState("check", "Nothing needs you", "Questions appear here, in the tray and in a window."))
	in.list = widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.Col(style.Gap, in.requests.Box, in.consents.Box, in.servers.Box, in.changes.Box, in.senders.Box, in.rows, in.more)))
	in.Box = widgets.NewPage("Needs you", container.NewStack(in.list, in.none))
	return in
}

// Update shows the approvals of a view. The focused row keeps the focus while it exists.
func (in *Inbox) Update(v feed.View) {
	groups := state.Inbox(v)
	nodes.UpdateRequests(in.requests, v.Questions.Pending.Of(protocol.AskPair, protocol.AskWiden), in.clock(), in.h.Answer)
	apps.UpdateConsents(in.consents, v.Questions.Pending.Of(protocol.AskApp), v.Machines, in.clock(), in.h.Answer)
	tools.UpdateQuestions(in.servers, v, in.clock(), tools.QuestionHandlers{Answer: in.h.Answer, OpenURL: in.h.OpenURL})
	tools.UpdateChanges(in.changes, v, in.clock(), in.h.Answer)
	updateSenders(in.senders, v, in.clock(), in.h.Answer)
	widgets.SetVisible(in.none, v.Needs() == 0)
	widgets.SetVisible(in.list, v.Needs() > 0)
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
	alignButtons(in.all[:len(in.rows.Objects)])
	in.rows.Refresh()
	in.keepFocus()
}

// alignButtons gives the buttons of all rows equal widths, so that they stand in columns.
func alignButtons(rows []*inboxRow) {
	for _, column := range []func(*inboxRow) *widgets.Button{
		func(r *inboxRow) *widgets.Button { return r.all }, func(r *inboxRow) *widgets.Button { return r.deny }, func(r *inboxRow) *widgets.Button { return r.later },
	} {
		widest := ""
		for _, r := range rows {
			if text := column(r).Text; len(text) > len(widest) {
				widest = text
			}
		}
		for _, r := range rows {
			column(r).Widest = widest
			column(r).Refresh()
		}
	}
}

// Tick passes the time.
func (in *Inbox) Tick(now time.Time) {
	in.requests.Tick(now)
	in.consents.Tick(now)
	in.servers.Tick(now)
	in.changes.Tick(now)
	in.senders.Tick(now)
	for i := range in.rows.Objects {
		in.all[i].tick(now)
	}
}

// Focus focuses the first approval, from where the arrow keys move.
func (in *Inbox) Focus(c fyne.Canvas) {
	in.canvas = c
	in.focus(0)
}

func (in *Inbox) focus(i int) {
	if in.canvas == nil || i < 0 || i >= len(in.rows.Objects) {
		return
	}
	in.canvas.Focus(in.all[i].press)
	widgets.ScrollIntoView(in.all[i].box)
}

// keepFocus focuses the last approval if the focused one is gone.
func (in *Inbox) keepFocus() {
	if in.canvas == nil {
		return
	}
	focused := in.canvas.Focused()
	for _, r := range in.all[len(in.rows.Objects):] {
		if slices.Contains([]fyne.Focusable{r.press, r.all, r.deny, r.later}, focused) {
			if len(in.rows.Objects) == 0 {
				in.canvas.Unfocus()
			}
			in.focus(len(in.rows.Objects) - 1)
			return
		}
	}
}

// inboxRow is an approval, or several identical ones. Enter opens it, Delete denies, L snoozes.
type inboxRow struct {
	in          *Inbox
	group       state.Group
	mark        *widgets.Rect
	title, text *widgets.Text
	trail       *widgets.Text
	press       *widgets.Clickable
	all         *widgets.Button // replaces Review for identical approvals
	deny, later *widgets.Button
	box         fyne.CanvasObject
}

func newInboxRow(in *Inbox, i int) *inboxRow {
	r := &inboxRow{
		in: in, mark: widgets.NewRect("", "", 3), title: widgets.NewText("", style.ColorText, "text"), text: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		trail: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	r.title.Ellipsis, r.text.Ellipsis = true, true
	r.mark.SetMinSize(fyne.NewSquareSize(12))
	r.press = widgets.NewClickable(widgets.Inset(style.Inside, style.Inside, style.Inside, style.Inside,
		widgets.Row(style.Inside, 2, r.mark, widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), widgets.Col(2, r.title, r.text), r.trail)), r.review)
	r.press.OnMenu = func(at fyne.Position) {
		widgets.ShowMenuAt(in.rows, at, []*fyne.MenuItem{fyne.NewMenuItem("Review", r.review), fyne.NewMenuItem("Open chat", func() { in.h.Chat(r.group.SessionKey) })})
	}
	r.press.OnKey = func(k fyne.KeyName) bool {
		switch k {
		case fyne.KeyUp:
			in.focus(i - 1)
		case fyne.KeyDown:
			in.focus(i + 1)
		case fyne.KeyDelete:
			r.deny.Tapped(nil)
		case fyne.KeyL:
			r.later.Tapped(nil)
		default:
			return false
		}
		return true
	}
	r.all = widgets.NewButton("Review", "eye", r.review)
	r.deny = widgets.NewQuietButton("Deny", "denied", func() { in.h.Deny(r.group.All) })
	r.deny.Danger = true
	r.later = widgets.NewQuietButton("Not now", "clock", func() {
		if r.group.Later != 0 {
			for _, q := range r.group.All {
				in.h.Wake(q.ID)
			}
			return
		}
		in.h.Snooze(r.group.All...)
	})
	buttons := widgets.Flow(style.Inside, r.all, r.deny, r.later)
	r.box = widgets.Col(style.Gap, widgets.WithControls(rowText, r.press, buttons), widgets.HLine())
	return r
}

// review opens the approval; of several identical ones it opens one, with the offer to answer all.
func (r *inboxRow) review() {
	if len(r.group.All) > 1 && r.group.Later == 0 {
		r.in.h.ReviewAll(r.group.ID)
		return
	}
	r.in.h.Review(r.group.ID)
}

func (r *inboxRow) set(g state.Group) {
	r.group = g
	r.mark.Set(r.in.machines.Color(string(g.Node)), "")
	title, where := display.CallText(g.Question, r.in.machines.Name(string(g.Node)))
	title, _ = wording.Reveal(title)
	where, _ = wording.Reveal(where)
	_, deny := display.AnswerWords(g.Question)
	review := "Review"
	if n := len(g.All); n > 1 {
		title, deny = fmt.Sprintf("%d × %s", n, title), fmt.Sprintf("Deny all %d", n)
		if g.Later == 0 {
			review = fmt.Sprintf("Allow all %d…", n)
		}
	}
	r.all.SetText(review)
	r.later.SetText(widgets.Choose(g.Later != 0, "Show now", "Not now"))
	r.title.Suffix = widgets.Choose(where != "", " "+where, "")
	r.title.Set(title, widgets.Choose(g.Later != 0, style.ColorMuted, style.ColorText))
	r.title.Refresh()
	r.deny.SetText(deny)
	text, _ := wording.Reveal(question.AskerText(g.AskedBy) + " · " + display.Why(g.Question))
	r.text.SetText(text)
	r.tick(r.in.clock())
}

func (r *inboxRow) tick(now time.Time) {
	text := timeLeft(r.group.Question, now)
	if r.group.Later != 0 {
		text = "postponed until " + time.UnixMilli(r.group.Later).Format("15:04")
	}
	if r.trail.Text != text {
		r.trail.SetText(text)
		r.press.Refresh()
	}
}

// rowText is the minimum width of the text beside its buttons.
const rowText float32 = 300
