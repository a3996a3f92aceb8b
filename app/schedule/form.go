package schedule

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

func choose(list []option, value string, chosen func(string)) *widgets.Select {
	s := widgets.NewSelect(lists.Map(list, func(o option) string { return o.words }), nil)
	s.SetSelectedIndex(max(0, slices.IndexFunc(list, func(o option) bool { return o.value == value })))
	s.OnChanged = func(string) { chosen(list[s.SelectedIndex()].value) }
	return s
}

func entry(text, hint string, changed func(string)) *widgets.Entry {
	e := widgets.NewEntry()
	e.SetText(text)
	e.SetPlaceHolder(hint)
	e.OnChanged = changed
	return e
}

// form is the form of a schedule.
type form struct {
	p       *Page
	f       fields
	draft   unsaved.Draft[fields]
	errors  map[string]*widgets.Paragraph // beside the fields of [fieldError]
	shown   map[fyne.CanvasObject]func() bool
	box     *fyne.Container
	next    *widgets.Paragraph // the time in words, with the next runs
	message *widgets.Paragraph
	newest  bind.Newest // the preview
}

// openForm shows a form that starts with f, or with its draft; id names the form among the drafts.
func (p *Page) openForm(id string, start fields) {
	draft, f := unsaved.Open(p.e.Drafts, "schedule "+id, start)
	title := "New schedule"
	if f.ID != "" {
		title = "Edit " + start.Name
	}
	m := &form{
		p: p, f: f, draft: draft, errors: map[string]*widgets.Paragraph{}, shown: map[fyne.CanvasObject]func() bool{},
		next: widgets.NewParagraph("", style.ColorMuted, "text"), message: widgets.NewParagraph("", style.ColorMuted, "text"),
	}
	p.form = m
	p.Show(widgets.Detail{Back: m.back, Closed: m.onClose})
	m.message.Hide()
	discard := func() {
		m.discard()
		p.openForm(id, start)
	}
	name := entry(f.Name, "Morning report", func(s string) { m.f.Name = s; m.onChange(fieldName) })
	rows := append([]fyne.CanvasObject{widgets.NewDraftLine(draft.IsRestored, discard), m.field("Name", fieldName, name)}, m.timeRows()...)
	rows = append(rows, m.taskRows()...)
	m.box = widgets.Col(style.Group, rows...)
	m.arrange()
	p.Put(widgets.NewPage(title, widgets.NewInputForm(m.message, m.buttons(), m.box)))
	widgets.FocusIn(p.Box, name) // it has not been drawn yet
	m.preview()
}

// field creates an input with its label and the place for its error.
func (m *form) field(label, id string, input ...fyne.CanvasObject) fyne.CanvasObject {
	problem := widgets.NewParagraph("", style.ColorBad, style.SizeSmall)
	problem.Hide()
	m.errors[id] = problem
	return widgets.NewField(label, append(input, problem)...)
}

// only shows a row only for some ways to repeat.
func (m *form) only(row fyne.CanvasObject, ways ...string) fyne.CanvasObject {
	m.shown[row] = func() bool { return slices.Contains(ways, m.f.Repeat) }
	return row
}

func (m *form) timeRows() []fyne.CanvasObject {
	f := &m.f
	text := func(to *string) func(string) {
		return func(s string) { *to = s; m.preview() }
	}
	unitChoices := units
	if f.Unit == seconds.value {
		unitChoices = append([]option{seconds}, units...)
	}
	zone := m.field("Time zone", fieldZone, entry(f.TZ, "Europe/Berlin (empty: yours)", text(&f.TZ)))
	hasZone := f.TZ != ""
	m.shown[zone] = func() bool {
		return f.Repeat == repeatCron || hasZone && f.Repeat != repeatEvery && f.Repeat != repeatOnce
	}
	return []fyne.CanvasObject{
		widgets.NewField("Repeats", choose(repeats, f.Repeat, func(s string) { f.Repeat = s; m.arrange(); m.preview() })),
		m.only(m.field("Days", fieldDays, m.days()), repeatWeekly),
		m.only(widgets.NewField("Day of the month", choose(monthDays(), strconv.Itoa(f.Day), func(s string) {
			f.Day, _ = strconv.Atoi(s) // it comes from monthDays
			m.preview()
		})), repeatMonthly),
		m.only(m.field("At", fieldTimes, entry(f.Times, "09:00, 17:30", text(&f.Times))),
			repeatDaily, repeatWeekdays, repeatWeekly, repeatMonthly),
		m.only(m.field("Every", fieldEvery, widgets.Row(style.Inside, -1, limitWidth(entry(f.Every, "1", text(&f.Every))), choose(unitChoices, f.Unit, text(&f.Unit)))),
			repeatEvery),
		m.only(m.field("At", fieldAt, entry(f.At, "18:30, tomorrow 9:00 or 2026-05-03 18:30", text(&f.At))), repeatOnce),
		m.only(m.field("Cron expression", fieldExpr, entry(f.Expr, "0 9 * * 1-5", text(&f.Expr)),
			widgets.NewText("Minute, hour, day, month, weekday.", style.ColorMuted, style.SizeSmall)), repeatCron),
		zone,
		m.next,
	}
}

// days are the days of the week, from Monday.
func (m *form) days() fyne.CanvasObject {
	var boxes []fyne.CanvasObject
	for i := range 7 {
		day := time.Weekday((i + 1) % 7)
		check := widgets.NewCheckBox(day.String()[:3], func(on bool) { m.f.Days[day] = on; m.preview() })
		check.Checked = m.f.Days[day]
		boxes = append(boxes, check)
	}
	return widgets.Flow(style.Inside, boxes...)
}

func monthDays() (list []option) {
	for day := 1; day < repeat.LastDay; day++ {
		list = append(list, option{strconv.Itoa(day), strconv.Itoa(day)})
	}
	return append(list, option{strconv.Itoa(repeat.LastDay), "Last day"})
}

func (m *form) taskRows() []fyne.CanvasObject {
	f := &m.f
	text := widgets.NewTextArea(4, "Look at the backups and tell me what failed.")
	text.SetText(f.Text)
	text.OnChanged = func(s string) { f.Text = s; m.onChange(fieldText) }
	once := widgets.NewCheckBox("Delete after the run", nil)
	once.Checked = f.Once
	once.OnChanged = func(on bool) { f.Once = on; m.onChange() }
	choice := func(to *string) func(string) {
		return func(s string) { *to = s; m.onChange() }
	}
	return []fyne.CanvasObject{
		m.field("Instructions", fieldText, text),
		widgets.NewField("Runs in", choose(modes, f.Mode, choice(&f.Mode))),
		widgets.NewField("Notify me", choose(notifies, f.Notify, choice(&f.Notify))),
		widgets.NewField("If Fairlead was not running", choose(missed, f.Missed, choice(&f.Missed))),
		m.only(once, repeatOnce),
	}
}

func (m *form) buttons() fyne.CanvasObject {
	save := widgets.NewButton("Save", "check", m.save)
	save.Primary = true
	return widgets.Row(style.Inside, -1, save, widgets.NewQuietButton("Cancel", "", func() {
		m.discard()
		m.p.Back()
	}))
}

func (m *form) arrange() {
	for row, isShown := range m.shown {
		widgets.SetVisible(row, isShown())
	}
	m.box.Refresh()
}

// onChange saves the draft, and removes the errors of changed fields.
func (m *form) onChange(fields ...string) {
	m.draft.Save(m.f)
	m.clear(fields...)
}

// discard deletes the draft.
func (m *form) discard() {
	m.newest.Cancel()
	m.draft.Drop()
}

// clear removes the errors of fields.
func (m *form) clear(fields ...string) {
	for _, id := range fields {
		if e := m.errors[id]; e.Visible() {
			e.Hide()
			m.box.Refresh()
		}
	}
}

// problem shows an error beside its field, or above the buttons.
func (m *form) problem(err error) {
	place := m.message
	if field := new(fieldError); errors.As(err, &field) {
		place = m.errors[field.Field]
	}
	place.Show()
	place.Set(strings.TrimSuffix(feed.Sentence(err), ".")+".", style.ColorBad)
	m.box.Refresh()
	m.p.LayOutText()
}

// preview shows the next runs of the time in the form, or what is wrong with it.
func (m *form) preview() {
	ctx := m.newest.Context(m.p.ctx)
	m.onChange()
	m.message.Hide()
	m.p.LayOutText()
	now, f := m.p.now(), m.f
	bind.Go(ctx, func(ctx context.Context) (string, error) { return m.p.m.Preview(ctx, f, now) }, func(text string, err error) {
		m.clear(fieldTimes, fieldDays, fieldEvery, fieldAt, fieldExpr, fieldZone)
		m.next.Set(text, style.ColorMuted)
		widgets.SetVisible(m.next, text != "")
		isEmpty := f.Repeat == repeatOnce && f.At == "" || f.Repeat == repeatCron && f.Expr == ""
		if err != nil && !isEmpty {
			m.problem(err)
		}
		m.box.Refresh()
	})
}

func (m *form) save() {
	m.message.Show()
	m.message.Set("Saving…", style.ColorMuted)
	m.p.LayOutText()
	p, f, now := m.p, m.f, m.p.now()
	var j protocol.CronJob
	bind.Run(p.ctx, m.draft.Saving(func(ctx context.Context) (err error) {
		j, err = p.m.Save(ctx, f, now)
		return err
	}), func(err error) {
		if err != nil {
			m.message.Set("Not saved: a field above needs a correction.", style.ColorBad) // its place may be out of view
			m.problem(err)
			return
		}
		m.discard()
		if p.form != m {
			return // the person has left the form
		}
		if f.ID == "" {
			p.ShowList() // its page needs the list with it
			return
		}
		p.openJob(j.ID)
	})
}

// back returns to the schedule, and reports whether there is one. The draft stays.
func (m *form) back() bool {
	m.newest.Cancel()
	if m.f.ID == "" {
		return false
	}
	m.p.openJob(m.f.ID)
	return true
}

func (m *form) onClose() {
	m.newest.Cancel()
	m.p.form = nil
}

func limitWidth(e fyne.CanvasObject) fyne.CanvasObject {
	room := widgets.NewRect("", "", 0)
	room.SetMinSize(fyne.NewSize(6*style.Size("text"), 1))
	return container.NewStack(room, e)
}
