package schedule

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	*pagetest.Host
}

func newTestPage(t *testing.T) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	p := &bench{Host: &pagetest.Host{}}
	p.Page = newPage(ctx, host.Env{Host: p.Host, Feed: app.Feed, Drafts: app.Drafts})
	p.now = pagetest.Clock
	pagetest.Window(t, p.Box, 880, 700)
	return p
}

func at(d time.Duration) int64 { return pagetest.Noon.Add(d).UnixMilli() }

func jobs() View {
	next := at(20 * time.Minute)
	return View{
		Loaded: true, Heartbeat: Heartbeat{Every: "30m", HeartbeatState: protocol.HeartbeatState{
			NextHeartbeatAt: &next, LastHeartbeatAt: &next, LastStatus: protocol.CronSkipped, LastError: protocol.SkipNoFile,
			Runs: 4, Usage: &protocol.Usage{Total: 12_400, Cost: new(0.016)},
		}},
		Jobs: []protocol.CronJob{
			{
				ID: "a", Name: "Look at the backups", Enabled: true, Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * 1-5", TZ: "Europe/Berlin"},
				Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "Look at the backups and say what failed."}, State: protocol.CronJobState{NextRunAtMs: at(21 * time.Hour), LastStatus: protocol.CronError},
			},
			{ID: "b", Name: strings.Repeat("A very long name of a schedule ", 8), Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000}, Spec: protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "x"}},
		},
	}
}

func TestViewsMatchGolden(t *testing.T) {
	p := newTestPage(t)
	golden.Markup(t, "loading", p.Box)
	p.show(View{Loaded: true})
	golden.Markup(t, "empty", p.Box)
	p.show(View{Problem: "The disk is full"})
	golden.Markup(t, "problem", p.Box)
	p.show(jobs())
	golden.Markup(t, "list", p.Box)
	p.List.OnChoose(0)
	golden.Markup(t, "detail-new", p.Box)
	v := jobs()
	v.Shown, v.RunsInAll = "a", 300
	v.Preview = protocol.CronPreviewResult{TimeZone: "Europe/Berlin", NextRunsMs: []int64{at(21 * time.Hour), at(45 * time.Hour), at(69 * time.Hour)}}
	v.Runs = []protocol.CronRun{
		{ID: 2, Ts: at(-time.Hour), Status: protocol.CronError, Error: "the machine nas is offline", DurationMs: 1200},
		{ID: 1, Ts: at(-25 * time.Hour), Status: protocol.CronOK, Summary: "## All backups are good.\n\x1b[1m\r\nDetails…", DurationMs: 65000},
	}
	p.show(v)
	golden.Markup(t, "detail", p.Box)
	if row := p.detail.runs.Items()[1].Text; row != "Done: All backups are good." {
		t.Errorf(`the row says %q, want "Done: All backups are good."`, row)
	}
	test.Tap(pagetest.Button(t, p.Box, "Edit"))
	golden.Markup(t, "form", p.Box)
}

func TestRunOpensItsPlaceInTheChat(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	p.List.OnChoose(0)
	v := jobs()
	v.Shown, v.Runs = "a", []protocol.CronRun{{ID: 1, Ts: at(-time.Hour), Status: protocol.CronOK, SessionKey: "agent:main:cron:a", RunID: "r"}}
	p.show(v)
	p.detail.runs.OnChoose(0)
	if want := []string{"chat {agent:main:cron:a r <nil>}"}; !slices.Equal(p.Did, want) {
		t.Errorf("did %q, want %q", p.Did, want)
	}
}

func TestHistoryOfAnotherScheduleIsNotShown(t *testing.T) {
	p := newTestPage(t)
	v := jobs()
	v.Shown, v.Runs = "a", []protocol.CronRun{{ID: 1, Status: protocol.CronOK}}
	p.show(v)
	p.List.OnChoose(1)
	if n := len(p.detail.runs.Items()); n != 0 {
		t.Errorf("it shows %d runs, want 0", n)
	}
}

func TestErrorsAreShownBesideTheirFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t)
		p.openForm("new", newFields())
		test.Tap(pagetest.Button(t, p.Box, "Save"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Enter a name")
	})
}

func TestDuplicateOpensANewScheduleWithTheSameFields(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	p.List.OnChoose(0)
	test.Tap(pagetest.Button(t, p.Box, "Duplicate"))
	pagetest.Shows(t, p.Box, "New schedule")
	widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
		if e, ok := o.(*widgets.Entry); ok && e.PlaceHolder == "Morning report" && e.Text != "Look at the backups (copy)" {
			t.Errorf("it is called %q", e.Text)
		}
	})
}

func TestHeartbeatSwitchShowsTheSetting(t *testing.T) {
	p := newTestPage(t)
	v := jobs()
	p.show(v)
	if !p.heartbeat.on.Checked || !p.heartbeat.interval.Visible() {
		t.Error("it is shown as off")
	}
	v.Heartbeat = Heartbeat{Every: "0m", HeartbeatState: protocol.HeartbeatState{EstimatedTokens: 4100}}
	p.show(v)
	if p.heartbeat.on.Checked || p.heartbeat.interval.Visible() {
		t.Error("it is shown as on")
	}
	pagetest.Shows(t, p.Box, "Each check uses about 4,100 tokens.")
}

func TestUpdatesDoNotDisturbTheForm(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	test.Tap(pagetest.Button(t, p.Box, "New schedule"))
	p.show(jobs())
	pagetest.Button(t, p.Box, "Save")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	pagetest.Button(t, p.Box, "New schedule")
}

func TestFormDraftIsRestored(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	open := func() (name *widgets.Entry) {
		test.Tap(pagetest.Button(t, p.Box, "New schedule"))
		return widgettest.Find(p.Box, func(e *widgets.Entry) bool { return e.PlaceHolder == "Morning report" })
	}
	test.Type(open(), "Weekly")
	if !p.Back() || p.form != nil {
		t.Fatal("Back does not leave the form")
	}
	if name := open(); name.Text != "Weekly" {
		t.Errorf("Name after the return: got %q, want what was typed", name.Text)
	}
	pagetest.Shows(t, p.Box, widgets.DraftRestored)
	test.Tap(pagetest.Button(t, p.Box, "Discard"))
	if p.form.f.Name != "" {
		t.Errorf("Name after Discard: got %q, want none", p.form.f.Name)
	}
	test.Type(widgettest.Find(p.Box, func(e *widgets.Entry) bool { return e.PlaceHolder == "Morning report" }), "Other")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	if name := open(); name.Text != "" {
		t.Errorf("Name after Cancel: got %q, want none", name.Text)
	}
}

func TestDeletedScheduleClosesItsPage(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	p.List.OnChoose(1)
	pagetest.Button(t, p.Box, "Resume")
	v := jobs()
	v.Jobs = v.Jobs[:1]
	p.show(v)
	if p.IsOpen() {
		t.Error("the page of a schedule that is gone is shown")
	}
}

func TestDeleteOffersUndo(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	p.List.OnChoose(0)
	test.Tap(pagetest.Button(t, p.Box, "Delete"))
	p.Undone()
	want := []string{"otherchat " + string(protocol.ScheduleChat("", "a")), "undo “Look at the backups” was deleted."}
	if !slices.Equal(p.Did, want) || p.IsOpen() {
		t.Errorf("did %q, want %q and the list", p.Did, want)
	}
}

func TestReloadKeepsTheButtonsOfASchedule(t *testing.T) {
	p := newTestPage(t)
	load := func(ran int64) {
		v := jobs()
		when := at(48 * time.Hour) // a different pointer each time, as from the gateway
		v.Jobs[0].Schedule = protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &when}
		v.Jobs[0].State.RunningAtMs = ran
		p.show(v)
	}
	load(0)
	p.List.OnChoose(0)
	button := pagetest.Button(t, p.Box, "Run now")
	load(0)
	load(at(-time.Minute))
	if pagetest.Button(t, p.Box, "Run now") != button {
		t.Error("the page was drawn anew under the person's finger")
	}
	pagetest.Shows(t, p.Box, "Running since")
	v := jobs()
	v.Jobs[0].State.RunningAtMs, v.Jobs[0].State.NeedsApproval = at(-time.Minute), true
	p.show(v)
	pagetest.Shows(t, p.Box, "Waiting for your approval since")
}

func TestRunWithDeniedCallsIsNotShownAsDone(t *testing.T) {
	p := newTestPage(t)
	v := jobs()
	v.Shown, v.Runs = "a", []protocol.CronRun{{ID: 1, Ts: at(-time.Hour), Status: protocol.CronOK, Summary: "The tool said:", Denied: 2}}
	p.show(v)
	p.List.OnChoose(0)
	item := p.detail.runs.Items()[0]
	if !strings.HasPrefix(item.Text, "Done, but 2 calls were denied") || item.Icon == "check" {
		t.Errorf("got %q with the icon %s, want the denied calls and another icon", item.Text, item.Icon)
	}
}

func TestHistoryHasRoomBelowALongTask(t *testing.T) {
	p := newTestPage(t)
	v := jobs()
	v.Jobs[0].Spec.Message = strings.Repeat("Say what failed, and why, and what to do. ", 60)
	v.Shown, v.Runs = "a", []protocol.CronRun{{ID: 1, Ts: at(-time.Hour), Status: protocol.CronOK, Summary: "All is well."}}
	p.show(v)
	p.List.OnChoose(0)
	pagetest.Window(t, p.Box, 480, 500)
	if h := p.detail.runs.Size().Height; h < 120 {
		t.Errorf("the history is %g high, want at least 120", h)
	}
	if facts := pagetest.Scroll(t, p.Box); facts.Content.Size().Height <= facts.Size().Height {
		t.Error("what does not fit cannot be scrolled to")
	}
}

func TestNewScheduleBeginsWithItsName(t *testing.T) {
	p := newTestPage(t)
	w := pagetest.Window(t, p.Box, 700, 700)
	p.show(jobs())
	test.Tap(pagetest.Button(t, p.Box, "New schedule"))
	if e, ok := w.Canvas().Focused().(*widgets.Entry); !ok || e.PlaceHolder != "Morning report" {
		t.Errorf("the keyboard is with %T", w.Canvas().Focused())
	}
}

func TestFinishedOneTimeJobIsDoneNotPaused(t *testing.T) {
	p := newTestPage(t)
	v := jobs()
	was, comes := at(-time.Hour), at(time.Hour)
	job := protocol.CronJob{ID: "o", Name: "Once", Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &was}, State: protocol.CronJobState{LastStatus: protocol.CronOK}}
	later := job // it ran once for a test, and was paused afterwards
	later.ID, later.Schedule.AtMs = "l", &comes
	v.Jobs = []protocol.CronJob{job, later}
	p.show(v)
	if done, paused := p.item(job).Detail, p.item(later).Detail; done != "done" || paused != "paused" {
		t.Errorf(`they are %q and %q; want "done" and "paused"`, done, paused)
	}
	p.List.OnChoose(0)
	pagetest.Shows(t, p.Box, "Finished. Edit it to set another time.")
	widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
		if b, ok := o.(*widgets.Button); ok && b.Text == "Resume" && b.Visible() {
			t.Error("what is over can be let go on")
		}
	})
	p.List.OnChoose(1)
	pagetest.Button(t, p.Box, "Resume")
}

func TestScheduleFitsANarrowWindow(t *testing.T) {
	p := newTestPage(t)
	w := pagetest.Window(t, p.Box, 480, 560)
	pagetest.Largest(w)
	p.show(jobs())
	pagetest.Fits(t, w)
	p.List.OnChoose(0)
	v := jobs()
	v.Shown, v.RunsInAll = "a", 300
	v.Jobs[0].Spec.Message = strings.Repeat("Look at the backups and say what failed. ", 30)
	v.Runs = []protocol.CronRun{
		{ID: 2, Ts: at(-time.Minute), Status: protocol.CronOK, Denied: 2, Summary: strings.Repeat("The tool said: denied. ", 9), DurationMs: 900},
		{ID: 1, Ts: at(-time.Hour), Status: protocol.CronSkipped, Error: "the budget is used up"},
	}
	p.show(v)
	pagetest.Fits(t, w)
	pagetest.Shows(t, p.Box, "The last 2 of 300 runs")
	pagetest.Shot(t, w, "schedule-largest")
	if took := p.detail.runs.Items()[1].Detail; took != "" {
		t.Errorf("a skipped run took %q, want nothing", took)
	}
}

func TestBackFromTheFormReturnsToItsSchedule(t *testing.T) {
	p := newTestPage(t)
	p.show(jobs())
	p.List.OnChoose(0)
	test.Tap(pagetest.Button(t, p.Box, "Edit"))
	if !p.Back() || !p.IsOpen() || p.form != nil {
		t.Fatal("Back from the form does not show the schedule")
	}
	pagetest.Button(t, p.Box, "Run now")
	if !p.Back() || p.IsOpen() {
		t.Error("Back from the schedule does not show the list")
	}
}
