package schedule

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// inPage makes a page without a gateway: the test gives it its states.
func inPage(t *testing.T) *Page {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.New(look.Light, 1))
	app := state.NewApp()
	t.Cleanup(app.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	p := newPage(ctx, state.NewSchedules(app), Handlers{Undo: func(string, func(), time.Time) {}})
	p.now = func() time.Time { return noon }
	w := a.NewWindow("")
	w.SetPadded(false)
	w.SetContent(p.Box)
	w.Resize(fyne.NewSize(880, 700))
	t.Cleanup(w.Close)
	return p
}

func at(d time.Duration) int64 { return noon.Add(d).UnixMilli() }

func jobs() state.SchedulesView {
	next := at(20 * time.Minute)
	return state.SchedulesView{Loaded: true, Every: "30m", Heartbeat: protocol.HeartbeatState{NextHeartbeatAt: &next, LastHeartbeatAt: &next, LastStatus: protocol.CronSkipped, LastError: protocol.SkipNoFile},
		Jobs: []protocol.CronJob{
			{ID: "a", Name: "Look at the backups", Enabled: true, Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * 1-5", TZ: "Europe/Berlin"},
				Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "Look at the backups and say what failed."}, State: protocol.CronJobState{NextRunAtMs: at(21 * time.Hour), LastStatus: protocol.CronError}},
			{ID: "b", Name: strings.Repeat("A very long name of a schedule ", 8), Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000}, Spec: protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "x"}},
		}}
}

func button(t *testing.T, o fyne.CanvasObject, text string) *widgets.Button {
	t.Helper()
	var found *widgets.Button
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widgets.Button:
			if o.Text == text {
				found = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c)
			}
		}
	}
	walk(o)
	if found == nil {
		t.Fatalf("no button %q in %s", text, test.RenderObjectToMarkup(o))
	}
	return found
}

func TestViewsLookAsTheyDid(t *testing.T) {
	p := inPage(t)
	golden.Markup(t, "loading", p.Box)
	p.show(state.SchedulesView{Loaded: true})
	golden.Markup(t, "empty", p.Box)
	p.show(state.SchedulesView{Problem: "The disk is full"})
	golden.Markup(t, "problem", p.Box)
	p.show(jobs())
	golden.Markup(t, "list", p.Box)
	p.list.OnChoose(0)
	golden.Markup(t, "detail-new", p.Box)
	v := jobs()
	v.Shown, v.RunsInAll = "a", 300
	v.Runs = []protocol.CronRun{{ID: 2, Ts: at(-time.Hour), Status: protocol.CronError, Error: "the machine nas is offline", DurationMs: 1200},
		{ID: 1, Ts: at(-25 * time.Hour), Status: protocol.CronOK, Summary: "All backups are good.", DurationMs: 65000}}
	p.show(v)
	golden.Markup(t, "detail", p.Box)
	test.Tap(button(t, p.Box, "Edit"))
	golden.Markup(t, "form", p.Box)
}

func TestFormIsNotDisturbedByWhatComesIn(t *testing.T) {
	p := inPage(t)
	p.show(jobs())
	test.Tap(button(t, p.Box, "New schedule"))
	p.show(jobs())
	button(t, p.Box, "Save")
	test.Tap(button(t, p.Box, "Cancel"))
	button(t, p.Box, "New schedule")
}

func TestScheduleThatIsGoneLeavesItsPage(t *testing.T) {
	p := inPage(t)
	p.show(jobs())
	p.list.OnChoose(1)
	button(t, p.Box, "Resume")
	v := jobs()
	v.Jobs = v.Jobs[:1]
	p.show(v)
	if p.detail != nil {
		t.Error("the page of a schedule that is gone is shown")
	}
}

func TestDeleteOffersUndo(t *testing.T) {
	p := inPage(t)
	said := ""
	p.h.Undo = func(text string, undo func(), until time.Time) { said = text; undo() }
	p.show(jobs())
	p.list.OnChoose(0)
	test.Tap(button(t, p.Box, "Delete"))
	if said == "" || p.detail != nil {
		t.Errorf("said %q", said)
	}
}
