package schedule

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// option is a choice of the form with its label.
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
	save := widgets.NewButton("Save", "check", nil)
	save.Primary = true
	save.OnTap = func() { p.saveForm(&f, message) }
	form = widgets.Col(style.Group,
		widgets.NewField("Name", name),
		widgets.NewField("When", choose(kinds, f.Kind, func(s string) { f.Kind = s; arrange() })),
		every, at, once, expr,
		widgets.NewField("Instructions", text),
		widgets.NewField("Runs in", choose(modes, f.Mode, func(s string) { f.Mode = s })),
		widgets.NewField("If the gateway was not running", choose(missed, f.Missed, func(s string) { f.Missed = s })),
		message,
		widgets.Row(style.Inside, -1, save, widgets.NewQuietButton("Cancel", "", func() { p.closeForm(f.ID) })))
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

// closeForm returns to a form's schedule, or to the list from a new one.
func (p *Page) closeForm(id protocol.CronJobID) {
	if id != "" {
		p.openJob(id)
		return
	}
	p.openList()
}

// limitWidth limits an entry to the width of a number.
func limitWidth(e fyne.CanvasObject) fyne.CanvasObject {
	room := widgets.NewRect("", "", 0)
	room.SetMinSize(fyne.NewSize(6*style.Size("text"), 1))
	return container.NewStack(room, e)
}
