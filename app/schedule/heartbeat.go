package schedule

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// heartbeat shows the heartbeat: what it does, what it costs, and its switch.
type heartbeat struct {
	p                   *Page
	box                 fyne.CanvasObject
	purpose, cost, last *widgets.Paragraph
	on                  *widgets.CheckBox
	interval            *widgets.Button
	check               *widgets.Button
}

func newHeartbeat(p *Page) *heartbeat {
	b := &heartbeat{
		p: p, purpose: widgets.NewParagraph("", style.ColorText, "text"), cost: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		last: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
	}
	b.on = widgets.NewCheckBox("On", nil)
	b.interval = widgets.NewMenuButton(Heartbeat{}.IntervalText(), "", func() []*fyne.MenuItem {
		var items []*fyne.MenuItem
		for _, c := range heartbeatChoices {
			items = append(items, fyne.NewMenuItem(c.Text, func() { p.m.SetHeartbeat(c.Every) }))
		}
		return items
	})
	b.check = widgets.NewQuietButton("Check now", "play", func() { p.m.RunHeartbeat() })
	edit := widgets.NewQuietButton("Edit HEARTBEAT.md", "edit", func() { p.e.Open(host.AgentFile("HEARTBEAT.md")) })
	b.box = widgets.Inset(style.Inside, 0, style.Group, 0, widgets.Col(style.Inside, widgets.HLine(), widgets.NewSectionHeading("HEARTBEAT"),
		b.purpose, b.cost, b.last, widgets.Flow(style.Inside, b.on, b.interval, b.check, edit)))
	return b
}

func (b *heartbeat) show(v View) {
	h := v.Heartbeat
	b.on.OnChanged = nil // not by the person
	b.on.SetChecked(h.On())
	b.on.OnChanged = b.p.m.SwitchHeartbeat
	b.interval.SetText(h.IntervalText())
	widgets.SetVisible(b.interval, h.On())
	b.purpose.Set(h.PurposeText(), style.ColorText)
	b.cost.Set(h.CostText(), style.ColorMuted)
	last := h.LastText(b.p.now())
	b.last.Set(last, style.ColorMuted)
	widgets.SetVisible(b.last, last != "")
}
