package cron_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestThePersonIsToldOnceOfAJobThatKeepsFailing(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		sub := r.agent.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNotice })
		defer sub.Close()
		r.add(protocol.CronAddParams{Name: "Mail", Schedule: every(time.Minute), Spec: task("fail no model")})
		time.Sleep(5 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var told []string
		for c := range sub.All(ctx) {
			told = append(told, c.Notice.Text)
		}
		if len(told) != 1 || told[0] != `The scheduled job "Mail" failed: no model` {
			t.Errorf("told %q", told)
		}
	})
}

func TestAnswersAreDelivered(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		yes, no := true, false
		for _, c := range []struct {
			spec protocol.CronMode
			want string
		}{
			{protocol.CronMode{Message: "say hello"}, "ok [hello\n[Delivered to the main chat]]"},
			{protocol.CronMode{Message: "say quiet", Deliver: &no}, "ok [quiet]"},
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
			summary, named := strings.CutPrefix(got.Summary, "ran in agent:main:cron:"+string(j.ID)+":")
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
		msgs, err := r.agent.Store.Messages.List(t.Context(), protocol.MainSession, 0, 0)
		if err != nil || len(msgs) != 1 || msgs[0].Content.Text() != "**Mail**\n\nhello" || msgs[0].Role != protocol.RoleAssistant {
			t.Errorf("main chat: %+v %v", msgs, err)
		}
	})
}

func TestAWaitingCallerMayLeave(t *testing.T) {
	bubble(t, func(t *testing.T, r *rig) {
		r.agent.Takes = time.Minute
		j := r.add(protocol.CronAddParams{Schedule: every(time.Hour), Spec: task("say later")})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.sched.RunNow(ctx, protocol.CronRunParams{ID: j.ID, Mode: protocol.CronRunForce}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(r.runs()); got != "[ok]" {
			t.Errorf("history %s", got)
		}
		r.stop()
		if _, err := r.sched.Status(t.Context(), protocol.CronStatusParams{}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("after the end: %v", err)
		}
		r.open()
	})
}
