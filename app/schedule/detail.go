package schedule

import (
	"cmp"
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

type detail struct {
	p     *Page
	id    protocol.CronJobID
	job   protocol.CronJob
	runs  *widgets.ItemList
	shown []protocol.CronRun
	next  *widgets.Paragraph // the next run
	count *widgets.Text
	chat  *widgets.Button // opens the schedule's chat
	zone  string          // time zone of a schedule by the calendar, once it is loaded
}

func newDetail(p *Page, id protocol.CronJobID) *detail {
	d := &detail{
		p: p, id: id, next: widgets.NewParagraph("", style.ColorText, "text"),
		count: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	d.chat = widgets.NewQuietButton("Open chat", "chat", func() { p.e.Open(host.Chat{Key: protocol.ScheduleChat(d.job.AgentID, d.id)}) })
	d.runs = widgets.NewItemList(func(i int) {
		if r := d.shown[i]; r.SessionKey != "" {
			p.e.Open(host.Chat{Key: r.SessionKey, Run: r.RunID})
		}
	})
	return d
}

// show redraws the schedule; if it was deleted, the list.
func (d *detail) show() {
	v := d.p.view
	job, ok := v.Job(d.id)
	if !ok {
		d.p.ShowList()
		return
	}
	if v.Shown != d.id { // the history of another schedule, until this one's is loaded
		v.Runs, v.RunsInAll, v.Preview = nil, 0, protocol.CronPreviewResult{}
	}
	d.job, d.zone = job, v.Preview.TimeZone
	d.shown = v.Runs
	d.runs.Set(lists.Map(v.Runs, d.item))
	d.count.SetText("")
	if v.RunsInAll > len(v.Runs) {
		d.count.SetText(fmt.Sprintf("The last %d of %d runs", len(v.Runs), v.RunsInAll))
	}
	widgets.SetVisible(d.chat, job.Spec.Mode == protocol.CronTask && (len(v.Runs) > 0 || job.State.RunningAtMs > 0))
	d.next.Set(nextRuns(job, v.Preview, d.p.now()), style.ColorText)
	what, err := protocol.Marshal([]any{
		job.ID, job.Name, job.Enabled, isFinished(job, d.p.now()), job.Schedule, job.Spec, job.Notify, job.Missed, v.Preview.TimeZone, len(v.Runs) == 0,
	})
	if err != nil {
		d.p.Forget() // a content that cannot be compared is always drawn
	}
	d.p.Draw("job "+string(what), d.draw) // not after each run, so that the focus stays
}

func (d *detail) item(r protocol.CronRun) widgets.ListItem {
	shown := cmp.Or(results[r.Status], result{"clock", style.ColorMuted, "Status " + r.Status})
	word := shown.word
	if r.Denied > 0 && r.Status == protocol.CronOK {
		shown.icon, shown.color = "denied", style.ColorNeedsYou
		word += ", but " + format.Plural(r.Denied, "call was denied", "calls were denied")
	}
	if text := format.FirstLine(cmp.Or(r.Error, r.Summary), 0); text != "" {
		word += ": " + text
	}
	took := ""
	if r.DurationMs > 0 { // it ran
		took = format.Duration(time.Duration(r.DurationMs) * time.Millisecond)
	}
	return widgets.ListItem{Icon: shown.icon, Color: shown.color, Title: format.When(r.Ts, d.p.now()), Text: word, Detail: took}
}

func (d *detail) draw() fyne.CanvasObject {
	p, j := d.p, d.job
	back := widgets.NewQuietButton("All schedules", "back", p.Leave)
	run := widgets.NewButton("Run now", "play", func() { p.m.Run(d.id) })
	pause := widgets.NewButton("Pause", "pause", func() { p.m.Enable(d.id, false) })
	if !j.Enabled {
		pause = widgets.NewButton("Resume", "play", func() { p.m.Enable(d.id, true) })
	}
	edit := widgets.NewButton("Edit", "edit", func() { p.openForm(string(d.job.ID), fieldsOf(d.job)) })
	duplicate := widgets.NewQuietButton("Duplicate", "copy", func() { p.openForm("copy of "+string(d.job.ID), fieldsOf(d.job).Copy()) })
	remove := widgets.NewQuietButton("Delete", "trash", func() {
		undo := p.m.Delete(d.job)
		p.e.Open(host.OtherChat(protocol.ScheduleChat(d.job.AgentID, d.id)))
		p.Leave()
		p.e.Undo("“"+format.Line(d.job.Name, 48)+"” was deleted.", undo, time.Now().Add(feed.UndoTime))
	})
	widgets.SetVisible(pause, !isFinished(j, p.now()))
	what := j.Spec.Message
	if j.Spec.Mode == protocol.CronSystemEvent {
		what = j.Spec.Text
	}
	when := format.Capital(repeat.Text(j.Schedule, p.now()))
	if d.zone != "" && j.Schedule.Kind == protocol.CronExpr {
		when += " (" + d.zone + ")"
	}
	facts := widgets.Col(style.Group,
		widgets.Flow(style.Inside, run, pause, edit, duplicate, remove),
		widgets.NewField("When", widgets.NewParagraph(when, style.ColorText, "text"), d.next),
		widgets.NewFact("Instructions", what),
		widgets.Beside(2*style.Page, 240, widgets.NewField("Runs in", widgets.NewText(wordsOf(modes, j.Spec.Mode), style.ColorText, "text")),
			widgets.NewFact("Notify me", wordsOf(notifies, j.Notifies()))))
	head := widgets.Inset(style.Group, 0, 0, 0, widgets.NewSectionHeading("RUNS", d.chat))
	if len(d.shown) == 0 {
		none := widgets.NewParagraph("It has not run yet.", style.ColorMuted, "text")
		return widgets.NewPage(j.Name, widgets.NewVScroll(widgets.Col(style.Inside, facts, head, none)), back)
	}
	history := widgets.Border(head, nil, nil, nil, d.runs)
	return widgets.NewPage(j.Name, widgets.Border(nil, widgets.Inset(style.Gap, 0, style.Inside, 0, d.count), nil, nil, container.New(partsLayout{}, widgets.NewVScroll(facts), history)), back)
}

// partsLayout puts facts, which may scroll, above the history with nearly half of the height.
type partsLayout struct{}

func (partsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(max(o[0].MinSize().Width, o[1].MinSize().Width), 120)
}

func (partsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	facts := o[0].(*container.Scroll)
	height := min(widgets.Fit(facts.Content, size.Width), size.Height*11/20)
	facts.Move(fyne.Position{})
	facts.Resize(fyne.NewSize(size.Width, height))
	o[1].Move(fyne.NewPos(0, height))
	o[1].Resize(fyne.NewSize(size.Width, size.Height-height))
}
