package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

type detail struct {
	p     *Page
	id    protocol.CronJobID
	job   protocol.CronJob
	runs  *widgets.ItemList
	shown []protocol.CronRun
	next  *widgets.Paragraph // the next run
	count *widgets.Text
}

func newDetail(p *Page, id protocol.CronJobID) *detail {
	d := &detail{
		p: p, id: id, next: widgets.NewParagraph("", style.ColorText, "text"),
		count: widgets.NewText("", style.ColorMuted, style.SizeSmall),
	}
	d.runs = widgets.NewItemList(func(i int) {
		if key := d.shown[i].SessionKey; key != "" {
			p.h.OpenChat(key)
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
	shown := cmp.Or(results[r.Status], result{"clock", style.ColorMuted, "Status " + r.Status})
	word := shown.word
	if text := cmp.Or(r.Error, r.Summary); text != "" {
		word += ": " + text
	}
	took := state.DurationText(time.Duration(r.DurationMs) * time.Millisecond)
	return widgets.ListItem{Icon: shown.icon, Color: shown.color, Title: state.When(r.Ts, d.p.now()), Text: word, Detail: took}
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
		text := widgets.NewParagraph("It has not run yet.", style.ColorMuted, "text")
		history = container.NewVBox(widgets.Inset(0, 0, 0, style.Inside, text))
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

type option struct{ value, words string }

var (
	kinds  = []option{{protocol.CronEvery, "Repeats"}, {protocol.CronAt, "Once"}, {protocol.CronExpr, "Cron"}}
	units  = []option{{"minutes", "minutes"}, {"hours", "hours"}, {"days", "days"}}
	modes  = []option{{protocol.CronTask, "A new chat"}, {protocol.CronSystemEvent, "The main chat"}}
	missed = []option{{protocol.MissedLatest, "Run once"}, {protocol.MissedAll, "Run each of them"}, {protocol.MissedSkip, "Skip them"}, {protocol.MissedAsk, "Ask me"}}
)

func choose(list []option, value string, chosen func(string)) *widgets.Select {
	s := widgets.NewSelect(state.Map(list, func(o option) string { return o.words }), nil)
	s.SetSelectedIndex(max(0, slices.IndexFunc(list, func(o option) bool { return o.value == value })))
	s.OnChanged = func(string) { chosen(list[s.SelectedIndex()].value) }
	return s
}

func entry(text, hint string, changed func(string)) *widget.Entry {
	e := widget.NewEntry()
	e.SetText(text)
	e.SetPlaceHolder(hint)
	e.OnChanged = changed
	return e
}

func (p *Page) openForm(f state.ScheduleForm) {
	p.form, p.detail = true, nil
	title := "New schedule"
	if f.ID != "" {
		title = "Edit " + f.Name
	}
	message := widgets.NewParagraph("", style.ColorMuted, "text")
	message.Hide()
	name := entry(f.Name, "Morning report", func(s string) { f.Name = s })
	text := widgets.NewTextArea(4, "Look at the backups and tell me what failed.")
	text.SetText(f.Text)
	text.OnChanged = func(s string) { f.Text = s }

	every := widgets.NewField("Every", widgets.Row(style.Inside, -1, limitWidth(entry(f.Every, "1", func(s string) { f.Every = s })), choose(units, f.Unit, func(s string) { f.Unit = s })))
	at := widgets.NewField("At", entry(f.At, "18:30, tomorrow 9:00 or 2026-05-03 18:30", func(s string) { f.At = s }))
	expr := widgets.Col(style.Group, widgets.NewField("Cron expression", entry(f.Expr, "0 9 * * 1-5", func(s string) { f.Expr = s }),
		widgets.NewText("Minute, hour, day, month, weekday.", style.ColorMuted, style.SizeSmall)),
		widgets.NewField("Time zone", entry(f.TZ, "Europe/Berlin (empty: yours)", func(s string) { f.TZ = s })))
	once := widget.NewCheck("Delete after the run", func(on bool) { f.Once = on })
	once.SetChecked(f.Once)
	var form *fyne.Container
	arrange := func() {
		widgets.SetVisible(every, f.Kind == protocol.CronEvery)
		widgets.SetVisible(at, f.Kind == protocol.CronAt)
		widgets.SetVisible(once, f.Kind == protocol.CronAt)
		widgets.SetVisible(expr, f.Kind == protocol.CronExpr)
		if form != nil {
			form.Refresh()
		}
	}
	save := widgets.NewButton("Save", "check", func() { p.saveForm(&f, message) })
	save.Primary = true
	cancel := widgets.NewQuietButton("Cancel", "", func() {
		if f.ID != "" {
			p.openJob(f.ID)
		} else {
			p.openList()
		}
	})
	form = widgets.Col(style.Group,
		widgets.NewField("Name", name),
		widgets.NewField("When", choose(kinds, f.Kind, func(s string) { f.Kind = s; arrange() })),
		every, at, once, expr,
		widgets.NewField("Instructions", text),
		widgets.NewField("Runs in", choose(modes, f.Mode, func(s string) { f.Mode = s })),
		widgets.NewField("If the gateway was not running", choose(missed, f.Missed, func(s string) { f.Missed = s })),
		message,
		widgets.Row(style.Inside, -1, save, cancel))
	arrange()
	p.Put(widgets.NewPage(title, widgets.NewForm(form)))
	widgets.Focus(name)
}

func (p *Page) saveForm(f *state.ScheduleForm, message *widgets.Paragraph) {
	message.Show()
	message.Set("Saving…", style.ColorMuted)
	now := *f
	bind.Go(p.ctx, func(ctx context.Context) (protocol.CronJob, error) { return p.m.Save(ctx, now, p.now()) }, func(j protocol.CronJob, err error) {
		if err != nil {
			message.Set(state.Sentence(err), style.ColorBad)
			return
		}
		f.ID = j.ID
		p.openList()
	})
}

func limitWidth(e fyne.CanvasObject) fyne.CanvasObject {
	room := widgets.NewRect("", "", 0)
	room.SetMinSize(fyne.NewSize(6*style.Size("text"), 1))
	return container.NewStack(room, e)
}
