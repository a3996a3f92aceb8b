package approve

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// inboxRow is an approval, or several identical ones. Enter opens it, Delete denies, L snoozes, and
// the arrow keys move between rows.
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
		in.h.Snooze(r.group.All)
	})
	buttons := widgets.Row(style.Inside, -1, r.all, r.deny, r.later)
	r.box = widgets.Col(0, container.New(&inboxRowLayout{}, r.press, buttons), widgets.HLine())
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
	r.mark.SetFill(r.in.machines.Color(string(g.Node)))
	title, where := state.QuestionParts(g.Approval, r.in.machines.Name(string(g.Node)))
	title, _ = state.Reveal(title)
	where, _ = state.Reveal(where)
	deny, review := "Deny", "Review"
	if n := len(g.All); n > 1 {
		title, deny = fmt.Sprintf("%d × %s", n, title), fmt.Sprintf("Deny all %d", n)
		if g.Later == 0 {
			review = fmt.Sprintf("Allow all %d…", n)
		}
	}
	r.all.SetText(review)
	color := style.ColorText
	r.later.SetText("Not now")
	if g.Later != 0 {
		color = style.ColorMuted
		r.later.SetText("Show now")
	}
	r.title.Suffix = ""
	if where != "" {
		r.title.Suffix = " " + where
	}
	r.title.Set(title, color)
	r.title.Refresh()
	r.deny.SetText(deny)
	text, _ := state.Reveal(askedBy(g.Approval) + " · " + g.Why)
	r.text.SetText(text)
	r.tick(r.in.clock())
}

func (r *inboxRow) tick(now time.Time) {
	text := strings.Trim(state.SeenWord(r.group.Approval)+" · "+timeLeft(r.group.Approval, now), " ·")
	if r.group.Later != 0 {
		text = "snoozed until " + time.UnixMilli(r.group.Later).Format("15:04")
	}
	if r.trail.Text != text {
		r.trail.SetText(text)
		r.press.Refresh()
	}
}

// inboxRowLayout puts the buttons at the right of the text, or below it if the text would be too
// narrow.
type inboxRowLayout struct {
	below bool // result of the last layout
}

// rowText is the minimum width of the text beside its buttons, at the default text size.
const rowText float32 = 300

func (l *inboxRowLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	text, buttons := o[0].MinSize(), o[1].MinSize()
	s := fyne.NewSize(max(text.Width, buttons.Width), max(text.Height, buttons.Height))
	if l.below {
		s.Height = text.Height + buttons.Height + style.Gap
	}
	return s
}

func (l *inboxRowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	text, buttons := o[0].MinSize(), o[1].MinSize()
	o[1].Resize(buttons)
	if l.below = size.Width-buttons.Width-style.Inside < rowText*style.Size("text")/14; l.below {
		o[0].Resize(fyne.NewSize(size.Width, text.Height))
		o[0].Move(fyne.NewPos(0, 0))
		o[1].Move(fyne.NewPos(max(0, size.Width-buttons.Width), text.Height+style.Gap/2))
		return
	}
	o[0].Resize(fyne.NewSize(size.Width-buttons.Width-style.Inside, size.Height))
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Move(fyne.NewPos(size.Width-buttons.Width, (size.Height-buttons.Height)/2))
}
