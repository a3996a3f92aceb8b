package channels

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// requestList lists the people who wait for access. It returns the object to focus: the first
// request's button, or first if there are no requests.
func (p *Page) requestList(first fyne.Focusable) ([]fyne.CanvasObject, fyne.Focusable) {
	list := p.view.Pending
	if len(list) == 0 {
		return nil, first
	}
	_, about := state.PendingText(list[0])
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
			first = button
		}
		rows = append(rows, card)
	}
	return rows, first
}

// requestCard shows one request, and returns the button that refuses it.
func (p *Page) requestCard(s protocol.PendingPair) (fyne.CanvasObject, *widgets.Button) {
	who, _ := state.PendingText(s)
	title := widgets.NewParagraph(who, style.ColorText, "text")
	title.SetStyle(fyne.TextStyle{Bold: true})
	where := s.Channel
	for _, k := range p.view.Kinds {
		if k.Channel == s.Channel {
			where = state.ChannelTitle(k, s.Channel)
		}
	}
	if s.AccountID != "" && s.AccountID != "default" {
		where += ", account " + s.AccountID
	}
	parts := []fyne.CanvasObject{title, widgets.NewParagraph("on "+where+" · "+state.When(s.RequestedAt, p.now()), style.ColorMuted, style.SizeSmall)}
	if text, _ := state.Reveal(strings.TrimSpace(s.FirstMessage)); text != "" {
		parts = append(parts, widgets.NewParagraph("“"+text+"”", style.ColorText, "text"))
	}
	answer := func(allow bool) func() {
		return func() {
			p.m.Answer(s, allow)
		}
	}
	refuse := widgets.NewButton("Deny", "cross", answer(false))
	allow := widgets.NewButton("Allow", "check", answer(true))
	p.focusable["refuse "+s.Channel+":"+s.SenderID], p.focusable["allow "+s.Channel+":"+s.SenderID] = refuse, allow
	parts = append(parts, widgets.Flow(style.Inside, refuse, allow))
	edge := widgets.NewRect(style.ColorNeedsYou, "", 2)
	edge.SetMinSize(fyne.NewSize(3, 0))
	text := widgets.WithIcon("text", 0, widget.NewIcon(style.IconIn("person", style.ColorNeedsYou)), widgets.Col(style.Gap, parts...))
	return container.NewStack(widgets.NewRect(style.ColorSurface, style.ColorLine, style.Corner), widgets.Border(nil, nil, edge, nil, widgets.Inset(8, 10, 8, 10, text))), refuse
}
