package cron_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestRepeatedFailureIsReportedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		spec := &protocol.CronMode{Mode: protocol.CronTask, Message: "fail no model"}
		r.add(protocol.CronAddParams{Name: "Mail", Schedule: every(time.Minute), Spec: spec})
		r.add(protocol.CronAddParams{Name: "Quiet", Schedule: every(time.Minute), Spec: spec, Notify: protocol.NotifyNever})
		time.Sleep(5 * time.Minute)
		if notices := r.notices(); len(notices) != 1 || notices[0] != "The schedule “Mail” failed: no model" {
			t.Errorf("got notices %q, want one about the failure", notices)
		}
	})
}

func TestAnswersAreDelivered(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		yes, no := true, false
		for _, c := range []struct {
			spec protocol.CronMode
			want string
		}{
			{protocol.CronMode{Message: "say hello"}, "ok [hello]"},
			{protocol.CronMode{Message: "say quiet", Deliver: &no}, "ok [quiet]"},
			{protocol.CronMode{Message: "part half"}, "error A filter stopped the answer. [half]"},
			{protocol.CronMode{Message: "say a", Channel: "xmpp"}, "error The answer could not be delivered: no channel xmpp is connected [a]"},
			{protocol.CronMode{Message: "say b", To: "you@x", BestEffortDeliver: &yes}, "ok [b\n[Not delivered: no channel is connected that could reach you@x]]"},
		} {
			c.spec.Mode = protocol.CronTask
			j := r.add(protocol.CronAddParams{Name: "Mail", Schedule: every(time.Hour), Spec: &c.spec})
			res, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce})
			if err != nil {
				t.Fatal(err)
			}
			got := res.Results[0]
			summary, named := strings.CutPrefix(got.Summary, "ran in agent:main:cron:"+string(j.ID))
			if named {
				_, summary, _ = strings.Cut(summary, "\n")
			}
			if named != (got.Status == protocol.CronOK) {
				t.Errorf("summary of a run that ended with %s: got %q, want the key of its chat only when it went well", got.Status, got.Summary)
			}
			if text := strings.TrimSpace(got.Status+" "+got.Error) + " [" + summary + "]"; text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		}
		if notices := r.notices(); !slices.Equal(notices, []string{"Mail: hello", "The schedule “Mail” failed: A filter stopped the answer.", "The schedule “Mail” failed: The answer could not be delivered: no channel xmpp is connected", "Mail: b"}) {
			t.Errorf("got notices %q, want two answers and two failures", notices)
		}
		if _, err := r.agent.Store.Messages.List(t.Context(), protocol.MainSession, 0, 0); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("the main chat has messages of schedules: %v", err)
		}
	})
}

func TestPersonIsNotifiedAsTheyChose(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		for _, c := range []struct{ notify, says, want string }{
			{"", "## Two backups failed", "[Mail: Two backups failed]"},
			{protocol.NotifyAlways, "NOTHING_TO_REPORT", "[Mail: NOTHING_TO_REPORT]"},
			{protocol.NotifyNews, "NOTHING_TO_REPORT", "[]"},
			{protocol.NotifyNews, "One backup failed", "[Mail: One backup failed]"},
			{protocol.NotifyNever, "One backup failed", "[]"},
		} {
			spec := &protocol.CronMode{Mode: protocol.CronTask, Message: "say " + c.says}
			j := r.add(protocol.CronAddParams{Name: "Mail", Schedule: every(time.Hour), Spec: spec, Notify: c.notify})
			if _, err := r.sched.RunNow(t.Context(), protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(r.notices()); got != c.want {
				t.Errorf("%q, saying %q: notified of %s, want %s", c.notify, c.says, got, c.want)
			}
			sent := r.agent.Sent()
			asks := strings.Contains(sent[len(sent)-1].In.Message, "answer NOTHING_TO_REPORT")
			if asks != (c.notify == protocol.NotifyNews) {
				t.Errorf("%q: got the advice to stay silent %v, want %v", c.notify, asks, c.notify == protocol.NotifyNews)
			}
		}
		_, err := r.sched.Add(t.Context(), protocol.CronAddParams{Name: "x", Schedule: every(time.Hour), Spec: task("x"), Notify: "loudly"})
		if !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("an unknown choice: %v", err)
		}
	})
}

func TestRunContinuesWhenItsCallerLeaves(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		r.agent.Takes = time.Minute
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("say later")})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.sched.RunNow(ctx, protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want %v", err, context.DeadlineExceeded)
		}
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(r.runs()); got != "[ok]" {
			t.Errorf("got history %s, want [ok]", got)
		}
		r.stop()
		if _, err := r.sched.Status(t.Context(), protocol.CronStatusParams{}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("after the end: %v", err)
		}
		r.open()
	})
}
