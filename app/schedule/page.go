// Package schedule is the page of schedules with their history, the form and the heartbeat.
package schedule

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/lists"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// Handlers are the page's callbacks.
type Handlers struct {
	OpenChat func(protocol.SessionKey)
	OpenRun  func(protocol.SessionKey, protocol.RunID) // opens a chat at a run
	EditFile func(name string)                         // of the agent's files
	// LeaveChat shows another chat than this one, which will be deleted.
	LeaveChat func(protocol.SessionKey)
	Undo      state.OfferUndo
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
	form      *form   // nil while no form is shown: updates do not disturb it
	drafts    *unsaved.Store
	heartbeat *heartbeat
	now       func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, state.NewSchedules(a), a.Drafts, h)
	bind.Follow(ctx, p.m.Follow)
	bind.Watch(ctx, p.m.Value, p.show)
	return p
}

func newPage(ctx context.Context, m *state.Schedules, drafts *unsaved.Store, h Handlers) *Page {
	p := &Page{ctx: ctx, m: m, drafts: drafts, h: h, Body: widgets.NewBody(), now: time.Now}
	p.list = widgets.NewItemList(func(i int) { p.openJob(p.view.Jobs[i].ID) })
	p.heartbeat = newHeartbeat(p)
	p.openList()
	return p
}

func (p *Page) show(v state.SchedulesView) {
	p.view = v
	p.list.Set(lists.Map(v.Jobs, p.item))
	p.heartbeat.show(v)
	switch {
	case p.form != nil:
	case p.detail != nil:
		p.detail.show(v)
	default:
		p.drawList()
	}
}

func (p *Page) item(j protocol.CronJob) widgets.ListItem {
	now := p.now()
	item := widgets.ListItem{Icon: "clock", Color: style.ColorAccent, Title: j.Name, Text: whenText(j.Schedule, now)}
	switch {
	case j.State.NeedsApproval:
		item.Detail, item.Icon, item.Color = "needs your approval", "question", style.ColorNeedsYou
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
		item.Detail = wording.UntilText(j.State.NextRunAtMs, now)
	default:
		item.Detail = "no further runs"
	}
	if j.State.LastStatus == protocol.CronError && j.State.RunningAtMs == 0 {
		item.Icon, item.Color = "warning", style.ColorBad
		item.Text += " · the last run failed"
	}
	return item
}

// whenText describes a schedule, with its time zone if that has another time.
func whenText(s protocol.CronSchedule, now time.Time) string {
	text := format.Capital(repeat.Text(s, now))
	if zone, err := time.LoadLocation(s.TZ); err == nil && s.TZ != "" && now.In(zone).Format("15:04") != now.Format("15:04") {
		text += " (" + s.TZ + ")"
	}
	return text
}

func (p *Page) openList() {
	p.detail, p.form = nil, nil
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
		body = widgets.NewEmptyPage("calendar", "Nothing is scheduled", "Run something once or repeatedly. Ask in a chat, or create one here.", p.addButton())
	default:
		body = p.list
	}
	return widgets.NewPage("Schedule", widgets.Border(nil, p.heartbeat.box, nil, nil, body), add)
}

func (p *Page) addButton() *widgets.Button {
	b := widgets.NewButton("New schedule", "plus", func() { p.openForm("new", state.NewScheduleForm()) })
	b.Primary = true
	return b
}

func (p *Page) openJob(id protocol.CronJobID) {
	p.form = nil
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

// Back returns from a form, which leaves a draft, or from one schedule to the list. It reports
// whether one was shown.
func (p *Page) Back() bool {
	switch {
	case p.form != nil:
		p.form.close()
	case p.detail != nil:
		p.back()
		widgets.Focus(p.list)
	default:
		return false
	}
	return true
}
