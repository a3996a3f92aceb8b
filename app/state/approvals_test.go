package state

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestQuestionPutOffIsPutOffEverywhereAndComesBack(t *testing.T) {
	one, two := commandQuestion("make"), commandQuestion("ls")
	one.ID, two.ID = "one", "two"
	one.State, two.State = protocol.QuestionPending, protocol.QuestionPending
	refuse := false
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{one, two}
		feedtest.On(f, protocol.QuestionSnooze, func(protocol.QuestionSnoozeParams) (protocol.OK, error) {
			if refuse {
				return protocol.OK{}, protocol.ErrUnavailable.With("it is gone")
			}
			return protocol.OK{OK: true}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		a.Approvals.Snooze(one)
		v := a.View()
		if w := v.Questions.Pending.OfCalls().Unsnoozed(); len(w) != 1 || w[0].ID != "two" || len(v.Questions.Pending) != 2 {
			t.Errorf("waiting %v", w)
		}
		if in := Inbox(v); len(in) != 2 || in[0].ID != "two" || in[1].Later == 0 {
			t.Errorf("inbox %v", in)
		}
		if n := TrayOf(v).Needs; n != 2 {
			t.Errorf("the tray counts %d", n)
		}
		synctest.Wait()
		var sent protocol.QuestionSnoozeParams
		if list := f.Called(protocol.QuestionSnooze.Name); len(list) != 1 || json.Unmarshal(list[0], &sent) != nil || sent.For != protocol.SnoozeFor.Milliseconds() {
			t.Errorf("sent %s", list)
		}
		back := one // the gateway's event at the end of the time
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &back})
		if w := a.View().Questions.Pending.OfCalls().Unsnoozed(); len(w) != 2 {
			t.Errorf("waiting %v", w)
		}
		off := two // snoozed in another program's window
		off.Later = time.Now().Add(time.Hour).UnixMilli()
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &off})
		if w := a.View().Questions.Pending.OfCalls().Unsnoozed(); len(w) != 1 || w[0].ID != "one" {
			t.Errorf("waiting %v", w)
		}
		a.Approvals.Unsnooze("two")
		if w := a.View().Questions.Pending.OfCalls().Unsnoozed(); len(w) != 2 {
			t.Errorf("waiting %v", w)
		}
		synctest.Wait()
		refuse = true
		a.Approvals.Snooze(one, two)
		synctest.Wait()
		v = a.View()
		if w := v.Questions.Pending.OfCalls().Unsnoozed(); len(w) != 2 || v.Notice == nil || !strings.Contains(v.Notice.Text, "it is gone") {
			t.Errorf("after a failure %v wait, notice %+v", w, v.Notice)
		}
	})
}

func TestInboxPutsTheSameTogether(t *testing.T) {
	var v feed.View
	for _, id := range []protocol.QuestionID{"a", "b", "c"} {
		q := commandQuestion("make")
		q.ID = id
		v.Questions.Pending = append(v.Questions.Pending, q)
	}
	other := commandQuestion("ls")
	v.Questions.Pending = append(v.Questions.Pending, other)
	in := Inbox(v)
	if len(in) != 2 || len(in[0].All) != 3 || len(in[1].All) != 1 {
		t.Errorf("inbox %v", in)
	}
	v.Questions.Pending[0].Later = 1
	if in = Inbox(v); in[0].Later != 0 {
		t.Error("two of three still wait, and the three are shown as put off")
	}
}

func commandQuestion(text string) protocol.Question {
	args, _ := protocol.Marshal(map[string]string{"command": text})
	return protocol.Question{
		ID: "q", Kind: protocol.AskCall, Tool: "Bash", Node: "server", Effect: protocol.EffectExec, Args: args,
		Preview: &protocol.CallPreview{Folder: "/srv/parser"},
	}
}
