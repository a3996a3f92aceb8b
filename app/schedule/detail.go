package schedule

import (
	"cmp"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// detail is the page of one schedule: its time, its task, and the history of its runs.
type detail struct {
	p         *Page
	id        protocol.CronJobID
	job       protocol.CronJob
	runs      *widgets.ItemList
	shown     []protocol.CronRun
	emptyText *widgets.Paragraph
	next      *widgets.Paragraph // the next run
	count     *widgets.Text
}

func newDetail(p *Page, id protocol.CronJobID) *detail {
	d := &detail{
		p: p, id: id, emptyText: widgets.NewParagraph("It has not run yet.", style.ColorMuted, "text"), next: widgets.NewParagraph("", style.ColorText, "text"),
		count: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	d.runs = widgets.NewItemList(func(i int) {
		if i >= len(d.shown) {
			return
		}
		if r := d.shown[i]; r.SessionKey != "" && p.h.OpenChat != nil {
			p.h.OpenChat(r.SessionKey)
		}
	})
	return d
}

// show redraws the schedule; if it was deleted, the list.
func (d *detail) show(v state.SchedulesView) {
	job, ok := v.Job(d.id)
	if !ok {
		d.p.back()
		return
	}
	d.job = job
	d.shown = v.Runs
	d.runs.Set(state.Map(v.Runs, d.item))
	d.count.SetText("")
	if v.RunsInAll > len(v.Runs) {
		d.count.SetText(fmt.Sprintf("the last %d of %d", len(v.Runs), v.RunsInAll))
	}
	d.next.Set(nextRun(job, d.p.now()), style.ColorText)
	what, err := protocol.Marshal([]any{job.ID, job.Name, job.Enabled, state.IsFinished(job, d.p.now()), job.Schedule, job.Spec, len(v.Runs) == 0})
	if err != nil {
		d.p.Forget() // a content that cannot be compared is always drawn
	}
	d.p.Draw("job "+string(what), d.draw) // not after each run, so that the focus stays
}

func nextRun(j protocol.CronJob, now time.Time) string {
	switch {
	case j.State.RunningAtMs > 0:
		return "Running since " + state.When(j.State.RunningAtMs, now)
	case state.IsFinished(j, now):
		return "Finished. Edit it to set another time."
	case !j.Enabled:
		return "Paused"
	case j.State.NextRunAtMs > 0:
		return display.Capital(state.UntilText(j.State.NextRunAtMs, now))
	}
	return "No further runs"
}

func (d *detail) item(r protocol.CronRun) widgets.ListItem {
	icon, color, word := result(r.Status)
	if text := cmp.Or(r.Error, r.Summary); text != "" {
		word += ": " + text
	}
	return widgets.ListItem{Icon: icon, Color: color, Title: state.When(r.Ts, d.p.now()), Text: word, Detail: state.DurationText(time.Duration(r.DurationMs) * time.Millisecond)}
}

func (d *detail) draw() fyne.CanvasObject {
	p, j := d.p, d.job
	back := widgets.NewQuietButton("All schedules", "back", p.back)
	run := widgets.NewButton("Run now", "play", func() { p.m.Run(d.id) })
	pause := widgets.NewButton("Pause", "pause", func() { p.m.Enable(d.id, false) })
	if !j.Enabled {
		pause = widgets.NewButton("Resume", "play", func() { p.m.Enable(d.id, true) })
	}
	edit := widgets.NewButton("Edit", "edit", func() { p.openForm(state.FormOf(d.job)) })
	remove := widgets.NewQuietButton("Delete", "trash", func() {
		undo := p.m.Delete(d.job)
		p.back()
		p.h.Undo("The schedule was deleted.", undo, time.Now().Add(state.UndoTime))
	})
	widgets.SetVisible(pause, !state.IsFinished(j, p.now()))
	kind, what := "Instructions (new chat)", j.Spec.Message
	if j.Spec.Mode == protocol.CronSystemEvent {
		kind, what = "Instructions (main chat)", j.Spec.Text
	}
	facts := widgets.Col(style.Group,
		widgets.Flow(style.Inside, run, pause, edit, remove),
		widgets.NewFact("When", display.Capital(state.ScheduleText(j.Schedule, p.now()))),
		widgets.NewField("Next", d.next),
		widgets.NewFact(kind, what))
	var history fyne.CanvasObject = d.runs
	if len(d.shown) == 0 {
		history = container.NewVBox(widgets.Inset(0, 0, 0, style.Inside, d.emptyText))
	}
	history = widgets.Border(widgets.Inset(style.Group, 0, 0, 0, widgets.NewSectionHeading("HISTORY")), nil, nil, nil, history)
	return widgets.NewPage(j.Name, widgets.Border(nil, d.count, nil, nil, container.New(partsLayout{}, widgets.NewVScroll(facts), history)), back)
}

// partsLayout puts facts, which may scroll, above the history with two fifths of the height.
type partsLayout struct{}

func (partsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(max(o[0].MinSize().Width, o[1].MinSize().Width), 120)
}

func (partsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	facts := o[0].(*container.Scroll)
	height := min(widgets.Fit(facts.Content, size.Width), size.Height*3/5)
	facts.Move(fyne.Position{})
	facts.Resize(fyne.NewSize(size.Width, height))
	o[1].Move(fyne.NewPos(0, height))
	o[1].Resize(fyne.NewSize(size.Width, size.Height-height))
}
