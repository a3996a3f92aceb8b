package schedule

import (
	"cmp"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// heartbeat shows the heartbeat: at an interval the agent checks by itself what to do, as its
// HEARTBEAT.md says.
type heartbeat struct {
	p    *Page
	box  fyne.CanvasObject
	line *widgets.Paragraph
	drop *widgets.Button
}

var intervals = []option{{"0m", "Off"}, {"15m", "Every 15 min"}, {"30m", "Every 30 min"}, {"1h", "Every hour"}, {"4h", "Every 4 hours"}, {"24h", "Once a day"}}

func newHeartbeat(p *Page) *heartbeat {
	b := &heartbeat{p: p, line: widgets.NewParagraph("", style.ColorMuted, "text")}
	b.drop = widgets.NewButton("Off", "", nil)
	b.drop.TrailingIcon = "down"
	b.drop.OnTap = func() {
		var items []*fyne.MenuItem
		for _, o := range intervals {
			items = append(items, fyne.NewMenuItem(o.words, func() { p.m.SetHeartbeat(o.value) }))
		}
		widgets.ShowMenu(b.drop, items)
	}
	now := widgets.NewQuietButton("Now", "play", func() { p.m.RunHeartbeat() })
	b.box = widgets.Inset(style.Inside, 0, style.Group, 0, widgets.Col(style.Inside, widgets.HLine(),
		widgets.Row(style.Inside, 0, widgets.NewText("HEARTBEAT", style.ColorMuted, style.SizeSmall), b.drop, now), b.line))
	return b
}

func (b *heartbeat) show(v state.SchedulesView) {
	words := v.Every
	for _, o := range intervals {
		if o.value == v.Every {
			words = o.words
		}
	}
	off := v.Every == "0m" || v.Every == "0" || v.Every == ""
	if off {
		words = "Off"
	} else if words == v.Every {
		words = "Every " + v.Every
	}
	b.drop.SetText(words)
	h, now := v.Heartbeat, b.p.now()
	text := "The agent checks HEARTBEAT.md for things to do."
	if h.NextHeartbeatAt != nil && !off {
		text += " Next: " + state.UntilText(*h.NextHeartbeatAt, now) + "."
	}
	if h.LastHeartbeatAt != nil {
		text += " Last: " + state.When(*h.LastHeartbeatAt, now) + "."
	}
	b.line.Set(text+lastResult(h), style.ColorMuted)
}

// lastResult says why the latest heartbeat was skipped, or that it failed.
func lastResult(h protocol.HeartbeatState) string {
	why := map[string]string{
		protocol.SkipOutsideHours: "it is outside its active hours", protocol.SkipNoFile: "there is no HEARTBEAT.md",
		protocol.SkipEmptyFile: "HEARTBEAT.md is empty", protocol.SkipBusy: "the chat was busy",
	}[h.LastError]
	switch h.LastStatus {
	case protocol.CronSkipped:
		return " The last one was skipped: " + cmp.Or(why, h.LastError) + "."
	case protocol.CronError:
		return " The last one failed: " + strings.TrimRight(h.LastError, ".") + "."
	}
	return ""
}
