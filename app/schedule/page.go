// Package schedule is the page of schedules with their history, the form and the heartbeat.
package schedule

import (
	"context"
	"fmt"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	m   *Model
	e   host.Env
	widgets.MasterDetail

	view      View
	add       *widgets.Button
	detail    *detail // the latest one
	form      *form   // nil while no form is shown
	heartbeat *heartbeat
	now       func() time.Time
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, e host.Env) *Page {
	p := newPage(ctx, e)
	bind.Follow(ctx, p.m.Follow)
	bind.Watch(ctx, p.m.Value, p.show)
	return p
}

// OpenAt implements [host.Opener].
func (p *Page) OpenAt(to host.Target) {
	if _, isNew := to.(host.New); isNew {
		p.Create()
	}
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{ctx: ctx, m: newModel(e.Feed), e: e, now: time.Now}
	p.MasterDetail = widgets.NewMasterDetail(widgets.NewItemList(func(i int) { p.openJob(p.view.Jobs[i].ID) }), p.page, p.fill)
	p.heartbeat = newHeartbeat(p)
	p.ShowList()
	return p
}

func (p *Page) show(v View) {
	p.view = v
	p.heartbeat.show(v)
	p.Update()
}

func (p *Page) item(j protocol.CronJob) widgets.ListItem {
	now := p.now()
	item := widgets.ListItem{Icon: "clock", Color: style.ColorAccent, Title: j.Name, Text: whenText(j.Schedule, now)}
	switch {
	case j.State.NeedsApproval:
		item.Detail, item.Icon, item.Color = "needs your approval", "question", style.ColorNeedsYou
	case j.State.RunningAtMs > 0:
		item.Detail = "running"
	case isFinished(j, now):
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

// page is the page around the list.
func (p *Page) page(master fyne.CanvasObject) fyne.CanvasObject {
	p.add = p.addButton()
	return widgets.NewPage("Schedule", widgets.Border(nil, p.heartbeat.box, nil, nil, master), p.add)
}

// fill lists the schedules. It redraws only after changes, so that buttons stay while the person
// uses them.
func (p *Page) fill() {
	v := p.view
	p.List.Set(lists.Map(v.Jobs, p.item))
	isEmpty := v.Loaded && v.Problem == "" && len(v.Jobs) == 0
	widgets.SetVisible(p.add, !isEmpty) // the button below does the same
	p.Master.Draw(fmt.Sprint(v.Loaded, v.Problem, isEmpty), func() fyne.CanvasObject {
		switch {
		case v.Problem != "":
			return widgets.NewLoadError("The schedules could not be loaded.", v.Problem, p.m.Reload)
		case !v.Loaded:
			return widgets.NewLoading()
		case isEmpty:
			return widgets.NewEmptyPage("calendar", "Nothing is scheduled", "Run something once or repeatedly. Ask in a chat, or create one here.", p.addButton())
		}
		return p.List
	})
}

// Create opens the form of a new schedule.
func (p *Page) Create() { p.openForm("new", newFields()) }

func (p *Page) addButton() *widgets.Button {
	b := widgets.NewButton("New schedule", "plus", p.Create)
	b.Primary = true
	return b
}

func (p *Page) openJob(id protocol.CronJobID) {
	p.form = nil
	p.detail = newDetail(p, id)
	p.m.Show(id)
	p.Show(widgets.Detail{Update: p.detail.show, Closed: func() { p.m.Show("") }})
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
