// Package schedule is the page of schedules with their history, the form and the heartbeat.
package schedule

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	OpenChat func(protocol.SessionKey)
	Undo     state.OfferUndo
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   *state.Schedules
	h   Handlers
	widgets.Body

	view      state.SchedulesView
	list      *widgets.ItemList
	detail    *detail // nil while the list or the form is shown
	form      bool    // the form is open: updates do not disturb it
	heartbeat *heartbeat
	now       func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, state.NewSchedules(a), h)
	go p.m.Follow(ctx)
	bind.Watch(ctx, p.m.Value, p.show)
	return p
}

func newPage(ctx context.Context, m *state.Schedules, h Handlers) *Page {
	p := &Page{ctx: ctx, m: m, h: h, Body: widgets.NewBody(), now: time.Now}
	p.list = widgets.NewItemList(func(i int) { p.openJob(p.view.Jobs[i].ID) })
	p.heartbeat = newHeartbeat(p)
	p.openList()
	return p
}

func (p *Page) show(v state.SchedulesView) {
	p.view = v
	p.list.Set(state.Map(v.Jobs, p.item))
	p.heartbeat.show(v)
	switch {
	case p.form:
	case p.detail != nil:
		p.detail.show(v)
	default:
		p.drawList()
	}
}

func (p *Page) item(j protocol.CronJob) widgets.ListItem {
	now := p.now()
	item := widgets.ListItem{Icon: "clock", Color: style.ColorAccent, Title: j.Name, Text: state.ScheduleText(j.Schedule, now)}
	switch {
	case j.State.RunningAtMs > 0:
		item.Detail = "running"
	case state.IsFinished(j, now):
		item.Detail, item.Muted, item.Icon, item.Color = "done", true, "check", style.ColorMuted
		if j.State.LastStatus == protocol.CronSkipped {
			item.Detail = "skipped"
		}
	case !j.Enabled:
		item.Detail, item.Muted, item.Icon, item.Color = "paused", true, "pause", style.ColorMuted
	case j.State.NextRunAtMs > 0:
		item.Detail = state.UntilText(j.State.NextRunAtMs, now)
	default:
		item.Detail = "no further runs"
	}
	if j.State.LastStatus == protocol.CronError && j.State.RunningAtMs == 0 {
		item.Icon, item.Color = "warning", style.ColorBad
		item.Text += " · the last run failed"
	}
	return item
}

func (p *Page) openList() {
	p.detail, p.form = nil, false
	p.Forget()
	p.drawList()
}

// drawList redraws only after changes, so that buttons stay while the person uses them.
func (p *Page) drawList() {
	p.Draw(fmt.Sprint("list ", p.view.Loaded, p.view.Problem, len(p.view.Jobs) == 0), p.all)
}

func (p *Page) all() fyne.CanvasObject {
	add := p.addButton()
	var body fyne.CanvasObject
	switch v := p.view; {
	case v.Problem != "":
		body = widgets.NewLoadError("The schedules could not be loaded.", v.Problem, p.m.Reload)
	case !v.Loaded:
		body = widgets.NewLoading()
	case len(v.Jobs) == 0:
		add.Hide() // the button below does the same
		body = widgets.NewEmptyPage("calendar", "Nothing is scheduled", "Run something once or repeatedly. Ask in a chat, or create a schedule here.", p.addButton())
	default:
		body = p.list
	}
	return widgets.NewPage("Schedule", widgets.Border(nil, p.heartbeat.box, nil, nil, body), add)
}

func (p *Page) addButton() *widgets.Button {
	b := widgets.NewButton("New schedule", "plus", func() { p.openForm(state.NewScheduleForm()) })
	b.Primary = true
	return b
}

func (p *Page) openJob(id protocol.CronJobID) {
	p.form = false
	p.detail = newDetail(p, id)
	p.m.Show(id)
	p.detail.show(p.view)
}

func (p *Page) back() {
	p.m.Show("")
	p.openList()
}

type result struct {
	icon  string
	color fyne.ThemeColorName
	word  string
}

var results = map[string]result{
	protocol.CronOK:      {"check", style.ColorGood, "Done"},
	protocol.CronError:   {"cross", style.ColorBad, "Failed"},
	protocol.CronSkipped: {"right", style.ColorMuted, "Skipped"},
}

// Back returns from one schedule to the list, but not from a form, and reports whether it did.
func (p *Page) Back() bool {
	if p.detail == nil {
		return false
	}
	p.back()
	widgets.Focus(p.list)
	return true
}

// heartbeat shows the heartbeat, in which the agent does what HEARTBEAT.md says.
type heartbeat struct {
	p    *Page
	box  fyne.CanvasObject
	line *widgets.Paragraph
	drop *widgets.Button
}

var intervals = []option{{"0m", "Off"}, {"15m", "Every 15 min"}, {"30m", "Every 30 min"}, {"1h", "Every hour"}, {"4h", "Every 4 hours"}, {"24h", "Once a day"}}

func newHeartbeat(p *Page) *heartbeat {
	b := &heartbeat{p: p, line: widgets.NewParagraph("", style.ColorMuted, "text")}
	b.drop = widgets.NewMenuButton("Off", "", func() []*fyne.MenuItem {
		return state.Map(intervals, func(o option) *fyne.MenuItem {
			return fyne.NewMenuItem(o.words, func() { p.m.SetHeartbeat(o.value) })
		})
	})
	now := widgets.NewQuietButton("Now", "play", func() { p.m.RunHeartbeat() })
	b.box = widgets.Inset(style.Inside, 0, style.Group, 0, widgets.Col(style.Inside, widgets.HLine(),
		widgets.Row(style.Inside, 0, widgets.NewText("HEARTBEAT", style.ColorMuted, style.SizeSmall), b.drop, now), b.line))
	return b
}

func (b *heartbeat) show(v state.SchedulesView) {
	words, off := "Every "+v.Every, v.Every == "0m" || v.Every == "0" || v.Every == ""
	if off {
		words = "Off"
	}
	for _, o := range intervals {
		if o.value == v.Every {
			words = o.words
		}
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
