package channels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// policy shows and sets who may write to the agent on a channel.
type policy struct {
	p       *Page
	channel string
	box     *fyne.Container
	part    *fyne.Container
	choose  *widgets.Select
	about   *widgets.Paragraph
	allowed *fyne.Container
	name    *widgets.Entry
	now     Policy
	drawn   string
}

type choice struct{ value, words, about string }

var policies = []choice{
	{policyPairing, "People I allow", "Other people wait until you approve them."},
	{policyAllowlist, "Listed people only", "Other people get no answer, and you are not asked."},
	{policyOpen, "Everyone", "Everyone who knows the address can give the agent tasks. Changes still need your approval, but strangers may learn what the agent reads."},
}

func newPolicy(p *Page, channel string) *policy {
	o := &policy{p: p, channel: channel, about: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall), allowed: widgets.Col(style.Gap), part: widgets.Col(0)}
	o.choose = widgets.NewSelect(lists.Map(policies, func(c choice) string { return c.words }), func(string) {
		if i := o.choose.SelectedIndex(); i >= 0 && policies[i].value != o.value() {
			undo := p.m.SetPolicy(channel, policies[i].value)
			p.e.Undo("You changed who may write.", undo, p.now().Add(feed.UndoTime))
		}
	})
	o.name = widgets.NewEntry()
	o.name.SetPlaceHolder("ann@example.org")
	o.name.OnSubmitted = func(string) { o.add() }
	o.box = widgets.Col(style.Group, o.part, widgets.Col(style.Gap, widgets.LimitWidth(320, true, o.choose), o.about),
		widgets.NewField("Listed", o.allowed, widgets.Row(style.Inside, 0, o.name, widgets.NewButton("Add", "plus", o.add))))
	return o
}

func (o *policy) value() string { return cmp.Or(o.now.DMPolicy, policyPairing) }

func (o *policy) show(now Policy, title string) {
	o.now = now
	o.part.Objects = []fyne.CanvasObject{widgets.NewSectionHeading("WHO MAY WRITE ON " + strings.ToUpper(title))}
	for i, x := range policies {
		if x.value == o.value() {
			color := style.ColorMuted
			if x.value == policyOpen {
				color = style.ColorNeedsYou
			}
			o.about.Set(x.about, color)
			if o.choose.SelectedIndex() != i {
				o.choose.SetSelectedIndex(i)
			}
		}
	}
	if key := strings.Join(now.AllowFrom, "\n"); key != o.drawn || o.allowed.Objects == nil {
		o.drawn = key
		o.list()
	}
}

func (o *policy) list() {
	o.allowed.Objects = nil
	if len(o.now.AllowFrom) == 0 {
		o.allowed.Objects = append(o.allowed.Objects, widgets.NewText("Nobody yet.", style.ColorMuted, "text"))
	}
	for i, who := range o.now.AllowFrom {
		shown, _ := wording.Reveal(who)
		if who == "*" {
			shown = "* (everyone)"
		}
		name := widgets.NewText(shown, style.ColorText, "text")
		name.Ellipsis = true
		o.allowed.Objects = append(o.allowed.Objects, widgets.Row(style.Inside, 0, name, widgets.NewQuietButton("Remove", "cross", func() { o.remove(i, who) })))
	}
	o.allowed.Refresh()
}

func (o *policy) add() {
	who := strings.TrimSpace(o.name.Text)
	if who == "" || slices.Contains(o.now.AllowFrom, who) {
		return
	}
	o.name.SetText("")
	undo := o.p.m.SetAllowed(o.channel, append(slices.Clone(o.now.AllowFrom), who))
	o.p.e.Undo("“"+who+"” may write to the agent.", undo, o.p.now().Add(feed.UndoTime))
}

func (o *policy) remove(i int, who string) {
	undo := o.p.m.SetAllowed(o.channel, slices.Delete(slices.Clone(o.now.AllowFrom), i, i+1))
	o.p.e.Undo("“"+who+"” may no longer write to the agent.", undo, o.p.now().Add(feed.UndoTime))
	o.p.focus(o.name)
}

// requestList lists the people who wait for access; the first request gets the focus.
func (p *Page) requestList() []fyne.CanvasObject {
	list := p.view.Pending
	if len(list) == 0 {
		return nil
	}
	_, about := question.PendingText(list[0])
	rows := []fyne.CanvasObject{widgets.NewSectionHeading("ACCESS REQUESTS"), widgets.NewParagraph(about, style.ColorMuted, "text")}
	for i, s := range list {
		if i == p.maxRequests {
			more := widgets.NewQuietButton(fmt.Sprintf("%d more", len(list)-i), "down", func() {
				p.maxRequests += requestsShown
				p.drawList()
			})
			rows = append(rows, widgets.Row(0, -1, more))
			break
		}
		card, button := p.requestCard(s)
		if i == 0 {
			p.first = button
		}
		rows = append(rows, card)
	}
	return rows
}

// requestCard shows one request, and returns the button that refuses it.
func (p *Page) requestCard(s protocol.PendingPair) (fyne.CanvasObject, *widgets.Button) {
	who, _ := question.PendingText(s)
	title := widgets.NewParagraph(who, style.ColorText, "text")
	title.SetStyle(fyne.TextStyle{Bold: true})
	kind, _ := lists.Find(p.view.Kinds, func(k protocol.ChannelKind) bool { return k.Channel == s.Channel })
	where := channelTitle(kind, s.Channel)
	if s.AccountID != "" && s.AccountID != "default" {
		where += ", account " + s.AccountID
	}
	parts := []fyne.CanvasObject{title, widgets.NewParagraph("on "+where+" · "+format.When(s.RequestedAt, p.now()), style.ColorMuted, style.SizeSmall)}
	if text, _ := wording.Reveal(strings.TrimSpace(s.FirstMessage)); text != "" {
		parts = append(parts, widgets.NewParagraph("“"+text+"”", style.ColorText, "text"))
	}
	refuse := widgets.NewButton("Deny", "cross", func() { p.m.Answer(s, false) })
	allow := widgets.NewButton("Allow", "check", func() { p.m.Answer(s, true) })
	p.focusable["refuse "+s.Channel+":"+s.SenderID], p.focusable["allow "+s.Channel+":"+s.SenderID] = refuse, allow
	parts = append(parts, widgets.Flow(style.Inside, refuse, allow))
	edge := widgets.NewRect(style.ColorNeedsYou, "", 2)
	edge.SetMinSize(fyne.NewSize(3, 0))
	text := widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("person", style.ColorNeedsYou)), widgets.Col(style.Gap, parts...))
	return container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Border(nil, nil, edge, nil, widgets.Inset(8, 10, 8, 10, text))), refuse
}
