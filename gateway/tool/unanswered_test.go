package tool_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/tooltest"
)

// TestQuestionEndsWhenNobodyCanAnswer: approvals of schedules and strangers expire, even if
// approvals may otherwise wait forever.
func TestQuestionEndsWhenNobodyCanAnswer(t *testing.T) {
	for _, c := range []struct {
		kind string
		set  time.Duration
		ends time.Duration // 0 means never
		say  string
	}{
		{"chat", 5 * time.Minute, 5 * time.Minute, "you may request it again"},
		{"chat", 0, 0, ""},
		{protocol.AskedBySchedule, 5 * time.Minute, 5 * time.Minute, "do not request it again now"},
		{protocol.AskedBySchedule, 0, 24 * time.Hour, "say what was not done"},
		{protocol.AskedByChannel, 10 * time.Minute, 10 * time.Minute, "Probably nobody is there"},
		{protocol.AskedByChannel, 0, 24 * time.Hour, "say what was not done"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := start(t, &tooltest.Machine{})
			g.cfg.Approvals.Timeout = int(c.set.Milliseconds())
			call := command("a", "make")
			call.AskedBy = protocol.AskedBy{Kind: c.kind}
			end := g.runInBackground(t.Context(), call)
			synctest.Wait()
			open, err := g.gate.Pending(t.Context())
			if err != nil || len(open) != 1 {
				t.Fatalf("got %+v %v; want 1 open entry and no error", open, err)
			}
			// A snooze does not extend the time.
			if err := g.gate.Display.Snooze(t.Context(), protocol.QuestionSnoozeParams{IDs: []protocol.QuestionID{open[0].ID}, For: time.Hour.Milliseconds()}); err != nil {
				t.Fatal(err)
			}
			if c.ends == 0 {
				time.Sleep(48 * time.Hour)
				synctest.Wait()
				if len(end) > 0 {
					t.Error("a question of a chat ended though it may wait for ever")
				}
				g.answer(open[0], protocol.DecisionDeny, "", "")
				<-end
				return
			}
			time.Sleep(c.ends - time.Second)
			synctest.Wait()
			if len(end) > 0 {
				t.Fatalf("%s, %s: it ended before its time: %+v", c.kind, c.set, <-end)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if len(end) == 0 {
				t.Fatalf("%s, %s: it has not ended after %s", c.kind, c.set, c.ends)
			}
			e := <-end
			if e.err != nil || e.Info.State != protocol.CallDenied || !e.IsError || !strings.Contains(e.Content.Text(), "Nobody answered") || !strings.Contains(e.Content.Text(), c.say) {
				t.Errorf(`got %s, %s: %+v; want no error, e.Info.State CallDenied, e.IsError, "Nobody answered" in e.Content.Text and %v in e.Content.Text`, c.kind, c.set, e, c.say)
			}
			if row := g.storedCall("a"); row.Info.State != protocol.CallDenied || len(g.tower.Calls()) != 0 {
				t.Errorf("%s, %s: the journal has %+v, and it ran %d times", c.kind, c.set, row.Info, len(g.tower.Calls()))
			}
			g.noQuestions()
		})
	}
}

// TestRunWaitsOnceForAnAbsentPerson: otherwise a job of many steps would wait at each of
// them.
func TestRunWaitsOnceForAnAbsentPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, &tooltest.Machine{})
		g.cfg.Approvals.Timeout = int((5 * time.Minute).Milliseconds())
		ask := func(id, run, kind string) (waited time.Duration, text string) {
			call := command(id, "make "+id)
			call.Run, call.AskedBy = protocol.RunID(run), protocol.AskedBy{Kind: kind}
			began := time.Now()
			e := <-g.runInBackground(t.Context(), call)
			if e.err != nil || e.Info.State != protocol.CallDenied || !e.IsError {
				t.Errorf("%s: got %+v; want no error, Info.State CallDenied and IsError", id, e)
			}
			q, err := g.store.Questions.Get(t.Context(), e.Info.ApprovalID)
			if err != nil || q.State != protocol.QuestionExpired || q.AnsweredBy != "nobody" || q.AnsweredAt < q.CreatedAt {
				t.Errorf("%s: its question is %+v %v, want it expired", id, q, err)
			}
			return time.Since(began), e.Content.Text()
		}
		for _, kind := range []string{protocol.AskedBySchedule, protocol.AskedByChannel} {
			if waited, _ := ask(kind+"1", kind, kind); waited != 5*time.Minute {
				t.Errorf("the first question of a %s waited %s, want %s", kind, waited, 5*time.Minute)
			}
			for i := range 40 {
				waited, text := ask(kind+"2"+strconv.Itoa(i), kind, kind)
				if waited != 0 || !strings.Contains(text, "Nobody answered the previous question") || !strings.Contains(text, "do not request it again now") {
					t.Fatalf("step %d of a %s waited %s: got %s, want the earlier result at once", i, kind, waited, text)
				}
			}
			if waited, _ := ask(kind+"3", kind+" again", kind); waited != 5*time.Minute {
				t.Errorf("the next run of a %s waited %s, want %s", kind, waited, 5*time.Minute)
			}
		}
		for i := range 2 {
			if waited, text := ask("chat"+strconv.Itoa(i), "chat", "chat"); waited != 5*time.Minute || !strings.Contains(text, "you may request it again") {
				t.Errorf(`the person's own chat waited %s: %s; want %s and one with "you may request it again"`, waited, text, 5*time.Minute)
			}
		}
		if len(g.tower.Calls()) != 0 {
			t.Errorf("%d calls ran, want none", len(g.tower.Calls()))
		}
		g.noQuestions()
	})
}

// TestARunIsAskedAboutAgainOnceSomebodyAnswered: of two approvals that were pending together, one
// expired and the other was answered.
func TestARunIsAskedAboutAgainOnceSomebodyAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, &tooltest.Machine{})
		g.cfg.Approvals.Timeout = int((5 * time.Minute).Milliseconds())
		do := func(id string) <-chan callResult {
			call := command(id, "make "+id)
			call.AskedBy = protocol.AskedBy{Kind: protocol.AskedBySchedule}
			end := g.runInBackground(t.Context(), call)
			synctest.Wait()
			return end
		}
		open := func() protocol.Question {
			list, err := g.gate.Pending(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("got %+v %v; want 1 entry and no error", list, err)
			}
			return list[0]
		}
		first := do("a")
		time.Sleep(time.Minute)
		second := do("b")
		<-first
		g.answer(open(), protocol.DecisionAllow, "", "")
		if e := <-second; e.Info.State != protocol.CallDone {
			t.Errorf("got %+v; want Info.State CallDone", e)
		}
		third := do("c")
		g.answer(open(), protocol.DecisionAllow, "", "")
		if e := <-third; e.Info.State != protocol.CallDone {
			t.Errorf("got %+v; want Info.State CallDone", e)
		}
	})
}
