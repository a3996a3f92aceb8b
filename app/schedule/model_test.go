package schedule

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// fakeGateway serves one schedule and records the requests for it.
type fakeGateway struct {
	jobs    []protocol.CronJob
	removed int
}

func (c *fakeGateway) serve(f *feedtest.Gateway) {
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
	c := &fakeGateway{jobs: []protocol.CronJob{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}}}
	feedtest.Run(t, feed.New, c.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		s.Load(t.Context())
		v := s.Value.Get()
		if !v.Loaded || len(v.Jobs) != 5 || v.Heartbeat.LastHeartbeatText != "hi" {
			t.Errorf(`got %+v; want Loaded, Jobs of length 5 and Heartbeat.LastHeartbeatText "hi"`, v)
		}
		feedtest.On(f, protocol.CronList, func(protocol.CronListParams) (protocol.CronListResult, error) {
			return protocol.CronListResult{}, protocol.ErrInternal.With("the disk is full")
		})
		s.Load(t.Context())
		if v := s.Value.Get(); v.Problem != "The disk is full" || len(v.Jobs) != 5 {
			t.Errorf(`a failure shows %q and %d jobs; want "The disk is full" and 5`, v.Problem, len(v.Jobs))
		}
	})
}

func TestDeletedScheduleComesBackAsItWas(t *testing.T) {
	c := &fakeGateway{jobs: []protocol.CronJob{{ID: "a", Enabled: true}, {ID: "b"}}}
	feedtest.Run(t, feed.New, c.serve, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		s.Load(t.Context())
		undo := s.Delete(c.jobs[0])
		synctest.Wait()
		if v := s.Value.Get(); len(v.Jobs) != 1 || c.jobs[0].Enabled {
			t.Errorf("it is shown (%d jobs) or may run (%v); want 1 and false", len(v.Jobs), c.jobs[0].Enabled)
		}
		s.Load(t.Context()) // the gateway still has it
		if v := s.Value.Get(); len(v.Jobs) != 1 {
			t.Error("it came back by itself")
		}
		undo()
		synctest.Wait()
		if v := s.Value.Get(); len(v.Jobs) != 2 || !c.jobs[0].Enabled || c.removed != 0 {
			t.Errorf("after undo: %d jobs, enabled %v, removed %d; want 2, true and 0", len(v.Jobs), c.jobs[0].Enabled, c.removed)
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
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronAdd, func(p protocol.CronAddParams) (protocol.CronJobResult, error) {
			if p.Schedule.Kind == protocol.CronExpr && p.Schedule.Expr == "bad" {
				return protocol.CronJobResult{}, protocol.ErrBadRequest.With("cron expression must have five fields")
			}
			return protocol.CronJobResult{OK: true, Job: protocol.CronJob{Name: p.Name, Schedule: *p.Schedule, Spec: *p.Spec}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s, form := newModel(a), newFields()
		form.Name, form.Repeat, form.Expr, form.Text = "n", repeatCron, "bad", "do it"
		_, err := s.Save(t.Context(), form, time.Now())
		if field := new(fieldError); !errors.As(err, &field) || field.Field != fieldExpr || !strings.Contains(err.Error(), "five fields") {
			t.Errorf("got %v, want an error of the expression that names five fields", err)
		}
		form.Repeat, form.Every, form.Unit = repeatEvery, "1,5", "hours"
		if j, err := s.Save(t.Context(), form, time.Now()); err != nil || j.Schedule.EveryMs != 90*60*1000 || j.Spec.Message != "do it" {
			t.Errorf(`got %+v, %v; want no error, Schedule.EveryMs 90 * 60 * 1000 and Spec.Message "do it"`, j, err)
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
		s, m, err := fieldsOf(j).parse(time.Now())
		if err != nil || s.Kind != j.Schedule.Kind || s.EveryMs != j.Schedule.EveryMs || s.Expr != j.Schedule.Expr || s.TZ != j.Schedule.TZ || m != j.Spec {
			t.Errorf("%+v became %+v %+v, %v; want no error, s.Kind %v, s.EveryMs %v, s.Expr %v, s.TZ %v and m %v", j, s, m, err, j.Schedule.Kind, j.Schedule.EveryMs, j.Schedule.Expr, j.Schedule.TZ, j.Spec)
		}
		if j.Schedule.AtMs != nil && *s.AtMs != at {
			t.Errorf("%d became %d, want no j.Schedule.AtMs or s.AtMs %v", at, *s.AtMs, at)
		}
	}
}

func TestRenameInTheFormChangesNoTimes(t *testing.T) {
	at, anchor := time.Date(2026, 3, 28, 20, 0, 30, 0, time.Local).UnixMilli(), int64(7)
	now := time.UnixMilli(at).Add(time.Hour)
	var got *protocol.CronJobPatch
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronUpdate, func(p protocol.CronUpdateParams) (protocol.CronJobResult, error) {
			got = p.Patch
			return protocol.CronJobResult{OK: true}, nil
		})
	}, func(t *testing.T, a *feed.Feed, _ *feedtest.Gateway) {
		s := newModel(a)
		ran := protocol.CronJob{ID: "a", Name: "n", Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}, Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: &at}, State: protocol.CronJobState{LastRunAtMs: at, LastStatus: protocol.CronOK}}
		grid := protocol.CronJob{ID: "b", Name: "n", Enabled: true, Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m"}, Schedule: protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000, AnchorMs: &anchor}}
		for _, j := range []protocol.CronJob{ran, grid} {
			form := fieldsOf(j)
			form.Name = "another"
			if _, err := s.Save(t.Context(), form, now); err != nil || *got.Name != "another" || got.Schedule != nil || got.Enabled != nil {
				t.Errorf(`got %+v, %v; want no error, Name "another", no Schedule and no Enabled`, got, err)
			}
		}
		form := fieldsOf(grid)
		form.Every = "2"
		if _, err := s.Save(t.Context(), form, now); err != nil || got.Schedule.EveryMs != 7200_000 || *got.Schedule.AnchorMs != anchor || got.Enabled != nil {
			t.Errorf("got %+v, %v; want no error, Schedule.EveryMs 7200_000, Schedule.AnchorMs %v and no Enabled", got.Schedule, err, anchor)
		}
		form = fieldsOf(ran)
		form.At = now.Add(-time.Minute).Format("2006-01-02 15:04")
		if _, err := s.Save(t.Context(), form, now); err == nil || !strings.Contains(err.Error(), "is in the past") {
			t.Errorf("a time that is over: %v", err)
		}
		form.At = now.Add(time.Minute).Format("2006-01-02 15:04")
		// it runs again
		if _, err := s.Save(t.Context(), form, now); err != nil || got.Enabled == nil || !*got.Enabled {
			t.Errorf("got %+v, %v; want no error and Enabled true", got, err)
		}
	})
}

func TestFormSaysWhichFieldIsWrong(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, want string
		change     func(*fields)
	}{
		{"no name", fieldName, func(f *fields) { f.Name = " " }},
		{"no instructions", fieldText, func(f *fields) { f.Text = "" }},
		{"no time of day", fieldTimes, func(f *fields) { f.Times = "25:00" }},
		{"no days", fieldDays, func(f *fields) { f.Repeat, f.Days = repeatWeekly, [7]bool{} }},
		{"no number", fieldEvery, func(f *fields) { f.Repeat, f.Every = repeatEvery, "often" }},
		{"a time that is over", fieldAt, func(f *fields) { f.Repeat, f.At = repeatOnce, "2026-03-01 9:00" }},
		{"nothing", "", func(*fields) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFields()
			f.Name, f.Text = "n", "look"
			c.change(&f)
			_, _, err := f.parse(now)
			field := new(fieldError)
			if errors.As(err, &field); field.Field != c.want || err == nil != (c.want == "") {
				t.Errorf("the error is about %q: %v, want %q", field.Field, err, c.want)
			}
		})
	}
}

func TestPreviewComesFromTheGateway(t *testing.T) {
	now := time.Date(2026, 3, 26, 20, 0, 0, 0, time.UTC)
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.CronPreview, func(p protocol.CronPreviewParams) (protocol.CronPreviewResult, error) {
			if p.Schedule.TZ != "" {
				return protocol.CronPreviewResult{}, protocol.ErrBadRequest.With("there is no time zone “Mars”")
			}
			return protocol.CronPreviewResult{Schedule: *p.Schedule, TimeZone: "UTC", NextRunsMs: []int64{now.Add(13 * time.Hour).UnixMilli()}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, _ *feedtest.Gateway) {
		s, form := newModel(a), newFields()
		if got, err := s.Preview(t.Context(), form, now); err != nil || got != "Every day at 09:00 (UTC). Next: tomorrow at 09:00." {
			t.Errorf(`got %q, %v; want no error and "Every day at 09:00 (UTC). Next: tomorrow at 09:00."`, got, err)
		}
		form.TZ = "Mars"
		_, err := s.Preview(t.Context(), form, now)
		if field := new(fieldError); !errors.As(err, &field) || field.Field != fieldZone {
			t.Errorf("an unknown time zone: %v", err)
		}
	})
}

func TestNotificationsAreChangedOnlyWhenChosen(t *testing.T) {
	t.Parallel()
	quiet := protocol.CronJob{ID: "a", Name: "n", Spec: protocol.CronMode{Mode: protocol.CronTask, Message: "m", Deliver: new(false)}}
	f := fieldsOf(quiet)
	if f.Notify != protocol.NotifyNever {
		t.Errorf("a task without delivery notifies %q, want %q", f.Notify, protocol.NotifyNever)
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
