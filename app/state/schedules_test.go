package state

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// clockwork serves one schedule and records the requests for it.
type clockwork struct {
	jobs    []protocol.CronJob
	removed int
}

func (c *clockwork) serve(f *feedtest.Gateway) {
	feedtest.On(f, protocol.CronList, func(p protocol.CronListParams) (protocol.CronListResult, error) {
		return protocol.CronListResult{Jobs: c.jobs[min(p.Offset, len(c.jobs)):min(p.Offset+2, len(c.jobs))], Count: len(c.jobs)}, nil
	})
	feedtest.On(f, protocol.CronUpdate, func(p protocol.CronUpdateParams) (protocol.CronJobResult, error) {
		for i := range c.jobs {
			if c.jobs[i].ID == p.ID && p.Patch.Enabled != nil {
				c.jobs[i].Enabled = *p.Patch.Enabled
			}
		}
		return protocol.CronJobResult{}, nil
	})
	feedtest.On(f, protocol.CronRemove, func(p protocol.CronJobParams) (protocol.CronRemoveResult, error) {
		c.removed++
		c.jobs = lists.Without(c.jobs, func(j protocol.CronJob) bool { return j.ID == p.ID })
		return protocol.CronRemoveResult{OK: true, Removed: true}, nil
	})
	feedtest.On(f, protocol.HeartbeatStatus, func(protocol.Empty) (protocol.HeartbeatStatusResult, error) {
		return protocol.HeartbeatStatusResult{Agents: map[protocol.AgentID]protocol.HeartbeatState{"main": {LastHeartbeatText: "hi"}}}, nil
	})
}

func TestSchedulesAreAllLoadedPageByPage(t *testing.T) {
	c := &clockwork{jobs: []protocol.CronJob{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}}}
	bubble(t, c.serve, func(t *testing.T, a *App, f *feedtest.Gateway) {
		s := NewSchedules(a)
		s.Load(t.Context())
		v := s.Value.Get()
		if !v.Loaded || len(v.Jobs) != 5 || v.Heartbeat.LastHeartbeatText != "hi" {
			t.Errorf("%+v", v)
		}
		feedtest.On(f, protocol.CronList, func(protocol.CronListParams) (protocol.CronListResult, error) {
			return protocol.CronListResult{}, protocol.ErrInternal.With("the disk is full")
		})
		s.Load(t.Context())
		if v := s.Value.Get(); v.Problem != "The disk is full" || len(v.Jobs) != 5 {
			t.Errorf("a failure shows %q and %d jobs", v.Problem, len(v.Jobs))
		}
	})
}

func TestDeletedScheduleComesBackAsItWas(t *testing.T) {
	c := &clockwork{jobs: []protocol.CronJob{{ID: "a", Enabled: true}, {ID: "b"}}}
	bubble(t, c.serve, func(t *testing.T, a *App, f *feedtest.Gateway) {
		s := NewSchedules(a)
		s.Load(t.Context())
		undo := s.Delete(c.jobs[0])
		synctest.Wait()
		if v := s.Value.Get(); len(v.Jobs) != 1 || c.jobs[0].Enabled {
			t.Errorf("it is shown (%d jobs) or may run (%v)", len(v.Jobs), c.jobs[0].Enabled)
		}
		s.Load(t.Context()) // the gateway still has it
		if v := s.Value.Get(); len(v.Jobs) != 1 {
			t.Error("it came back by itself")
		}
		undo()
		synctest.Wait()
		if v := s.Value.Get(); len(v.Jobs) != 2 || !c.jobs[0].Enabled || c.removed != 0 {
			t.Errorf("after undo: %d jobs, enabled %v, removed %d", len(v.Jobs), c.jobs[0].Enabled, c.removed)
		}
		s.Delete(c.jobs[0])
		time.Sleep(feed.UndoTime + time.Second)
		synctest.Wait()
		if c.removed != 1 || len(s.Value.Get().Jobs) != 1 {
			t.Error("it was not deleted in the end")
		}
	})
}

func TestSavedScheduleSaysWhatTheGatewayRefuses(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronAdd, func(p protocol.CronAddParams) (protocol.CronJobResult, error) {
			if p.Schedule.Kind == protocol.CronExpr && p.Schedule.Expr == "bad" {
				return protocol.CronJobResult{}, protocol.ErrBadRequest.With("cron expression must have five fields")
			}
			return protocol.CronJobResult{OK: true, Job: protocol.CronJob{Name: p.Name, Schedule: *p.Schedule, Spec: *p.Spec}}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		s, form := NewSchedules(a), NewScheduleForm()
		form.Name, form.Repeat, form.Expr, form.Text = "n", RepeatCron, "bad", "do it"
		_, err := s.Save(t.Context(), form, time.Now())
		if field := new(FieldError); !errors.As(err, &field) || field.Field != FieldExpr || !strings.Contains(err.Error(), "five fields") {
			t.Errorf("error %v", err)
		}
		form.Repeat, form.Every, form.Unit = RepeatEvery, "1,5", "hours"
		if j, err := s.Save(t.Context(), form, time.Now()); err != nil || j.Schedule.EveryMs != 90*60*1000 || j.Spec.Message != "do it" {
			t.Errorf("%+v, %v", j, err)
		}
		form.Every = "often"
		if _, err := s.Save(t.Context(), form, time.Now()); err == nil {
			t.Error("a word was taken for a number")
		}
	})
}

func TestFormOfAJobGivesTheSameJob(t *testing.T) {
	at := time.Date(2026, 5, 3, 18, 30, 0, 0, time.Local).UnixMilli()
	for _, j := range []protocol.CronJob{
		{Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &at}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 45 * 60 * 1000}, Spec: protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "t"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 90_000}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * 1-5", TZ: "Europe/Berlin"}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * *"}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0,30 9 * * 0,6"}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 L * *"}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
		{Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 1 1 *"}, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}},
	} {
		j.Name = "n"
		s, m, err := FormOf(j).parse(time.Now())
		if err != nil || s.Kind != j.Schedule.Kind || s.EveryMs != j.Schedule.EveryMs || s.Expr != j.Schedule.Expr || s.TZ != j.Schedule.TZ || m != j.Spec {
			t.Errorf("%+v became %+v %+v, %v", j, s, m, err)
		}
		if j.Schedule.AtMs != nil && *s.AtMs != at {
			t.Errorf("%d became %d", at, *s.AtMs)
		}
	}
}

func TestARenameInTheFormMovesNothing(t *testing.T) {
	at, anchor := time.Date(2026, 3, 28, 20, 0, 30, 0, time.Local).UnixMilli(), int64(7)
	now := time.UnixMilli(at).Add(time.Hour)
	var got *protocol.CronJobPatch
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronUpdate, func(p protocol.CronUpdateParams) (protocol.CronJobResult, error) {
			got = p.Patch
			return protocol.CronJobResult{OK: true}, nil
		})
	}, func(t *testing.T, a *App, _ *feedtest.Gateway) {
		s := NewSchedules(a)
		ran := protocol.CronJob{ID: "a", Name: "n", Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}, Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &at}, State: protocol.CronJobState{LastRunAtMs: at, LastStatus: protocol.CronOK}}
		grid := protocol.CronJob{ID: "b", Name: "n", Enabled: true, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}, Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000, AnchorMs: &anchor}}
		for _, j := range []protocol.CronJob{ran, grid} {
			form := FormOf(j)
			form.Name = "another"
			if _, err := s.Save(t.Context(), form, now); err != nil || *got.Name != "another" || got.Schedule != nil || got.Enabled != nil {
				t.Errorf("%+v, %v", got, err)
			}
		}
		form := FormOf(grid)
		form.Every = "2"
		if _, err := s.Save(t.Context(), form, now); err != nil || got.Schedule.EveryMs != 7200_000 || *got.Schedule.AnchorMs != anchor || got.Enabled != nil {
			t.Errorf("%+v, %v", got.Schedule, err)
		}
		form = FormOf(ran)
		form.At = now.Add(-time.Minute).Format("2006-01-02 15:04")
		if _, err := s.Save(t.Context(), form, now); err == nil || !strings.Contains(err.Error(), "is in the past") {
			t.Errorf("a time that is over: %v", err)
		}
		form.At = now.Add(time.Minute).Format("2006-01-02 15:04")
		// it runs again
		if _, err := s.Save(t.Context(), form, now); err != nil || got.Enabled == nil || !*got.Enabled {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "2026-03-29 18:30", "20:01": "2026-03-28 20:01", " Tomorrow  at 9:00": "2026-03-29 09:00", "today 18:30": "2026-03-28 18:30",
		"2026-05-03 18:30": "2026-05-03 18:30", "3.5.2026 18:30": "2026-05-03 18:30", "tomorrow": "", "25:00": "", "": "", "in a while": "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := wording.ParseWhen(text, now)
			if want == "" != (err != nil) || err == nil && got.Format("2006-01-02 15:04") != want {
				t.Errorf("%q is %v, %v; want %q", text, got, err, want)
			}
		})
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"tomorrow 2:30", "2:30", "2026-03-29 02:30"} {
		if got, err := wording.ParseWhen(text, now.In(berlin)); err == nil || !strings.Contains(err.Error(), "02:30 does not exist on 29 March 2026") {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

func TestTimesAreSaidInWords(t *testing.T) {
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Minute: "due now", time.Minute: "in a minute", 20 * time.Minute: "in 20 minutes", 2*time.Hour + 5*time.Minute: "in 2 h 5 min, at 22:05",
		13 * time.Hour: "tomorrow at 09:00", 60 * time.Hour: "Tuesday at 08:00", 400 * 24 * time.Hour: "2 May 2027", 30 * 24 * time.Hour: "27 Apr at 20:00",
	} {
		if got := wording.UntilText(now.Add(d).UnixMilli(), now); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
	if s := feed.Sentence(errors.New("  ")); s == "" {
		t.Error("an empty error says nothing")
	}
}

func TestFormSaysWhichFieldIsWrong(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, want string
		change     func(*ScheduleForm)
	}{
		{"no name", FieldName, func(f *ScheduleForm) { f.Name = " " }},
		{"no instructions", FieldText, func(f *ScheduleForm) { f.Text = "" }},
		{"no time of day", FieldTimes, func(f *ScheduleForm) { f.Times = "25:00" }},
		{"no days", FieldDays, func(f *ScheduleForm) { f.Repeat, f.Days = RepeatWeekly, [7]bool{} }},
		{"no number", FieldEvery, func(f *ScheduleForm) { f.Repeat, f.Every = RepeatEvery, "often" }},
		{"a time that is over", FieldAt, func(f *ScheduleForm) { f.Repeat, f.At = RepeatOnce, "2026-03-01 9:00" }},
		{"nothing", "", func(*ScheduleForm) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := NewScheduleForm()
			f.Name, f.Text = "n", "look"
			c.change(&f)
			_, _, err := f.parse(now)
			field := new(FieldError)
			if errors.As(err, &field); field.Field != c.want || err == nil != (c.want == "") {
				t.Errorf("the error is about %q: %v, want %q", field.Field, err, c.want)
			}
		})
	}
}

func TestPreviewIsASentenceOfTheGateway(t *testing.T) {
	now := time.Date(2026, 3, 26, 20, 0, 0, 0, time.UTC)
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronPreview, func(p protocol.CronPreviewParams) (protocol.CronPreviewResult, error) {
			if p.Schedule.TZ != "" {
				return protocol.CronPreviewResult{}, protocol.ErrBadRequest.With("there is no time zone “Mars”")
			}
			return protocol.CronPreviewResult{Schedule: *p.Schedule, TimeZone: "UTC", NextRunsMs: []int64{now.Add(13 * time.Hour).UnixMilli()}}, nil
		})
	}, func(t *testing.T, a *App, _ *feedtest.Gateway) {
		s, form := NewSchedules(a), NewScheduleForm()
		if got, err := s.Preview(t.Context(), form, now); err != nil || got != "Every day at 09:00 (UTC). Next: tomorrow 09:00." {
			t.Errorf("got %q, %v", got, err)
		}
		form.TZ = "Mars"
		_, err := s.Preview(t.Context(), form, now)
		if field := new(FieldError); !errors.As(err, &field) || field.Field != FieldZone {
			t.Errorf("an unknown time zone: %v", err)
		}
	})
}

func TestNotificationsAreChangedOnlyWhenChosen(t *testing.T) {
	t.Parallel()
	quiet := protocol.CronJob{ID: "a", Name: "n", Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m", Deliver: new(false)}}
	f := FormOf(quiet)
	if f.Notify != protocol.NotifyNever {
		t.Errorf("a task without delivery notifies %q", f.Notify)
	}
	if p := f.patch(protocol.CronSchedule{}, quiet.Spec, false, time.Now()); p.Notify != nil || p.Spec.Deliver != nil {
		t.Errorf("without a change: %+v", p)
	}
	f.Notify = protocol.NotifyNews
	if p := f.patch(protocol.CronSchedule{}, quiet.Spec, false, time.Now()); *p.Notify != protocol.NotifyNews || !*p.Spec.Deliver {
		t.Errorf("after the change: %+v", p)
	}
}

func TestHeartbeatSaysWhatItDoesAndCosts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	last := now.Add(-14 * time.Hour).UnixMilli()
	for want, h := range map[string]Heartbeat{
		"Off. You can let the agent check HEARTBEAT.md for things to do, such as every 30 min. | Each check uses about 4,100 tokens. While HEARTBEAT.md is empty, the model is not asked. | ": {
			Every: "0m", HeartbeatState: protocol.HeartbeatState{EstimatedTokens: 4100},
		},
		"Every 30 min the agent checks HEARTBEAT.md for things to do, from 08:00 to 23:00. | Each check uses about 3,100 tokens ($0.004), which is up to $0.12 a day. While HEARTBEAT.md is empty, the model is not asked. | Last: yesterday at 22:00. The last one was skipped: it is outside its active hours.": {
			Every: "30m", Start: "08:00", End: "23:00", HeartbeatState: protocol.HeartbeatState{
				Runs: 10, Usage: &protocol.Usage{Total: 31_000, Cost: new(0.04)}, LastHeartbeatAt: &last, LastStatus: protocol.CronSkipped, LastError: protocol.SkipOutsideHours,
			},
		},
		"Every hour the agent checks HEARTBEAT.md for things to do. | Each check uses about 900 tokens. While HEARTBEAT.md is empty, the model is not asked. | The last one failed: There is no model.": {
			Every: "1h", HeartbeatState: protocol.HeartbeatState{Runs: 1, Usage: &protocol.Usage{Total: 900}, LastStatus: protocol.CronError, LastError: "There is no model."},
		},
	} {
		if got := h.PurposeText() + " | " + h.CostText() + " | " + h.LastText(now); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
