package state

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

func TestQuestionPutOffComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewApp()
		defer a.Close()
		one, two := command("make"), command("ls")
		one.ID, two.ID = "one", "two"
		a.Value.Update(func(v View) View { v.Approvals = []protocol.Approval{one, two}; return v })
		a.Snooze(one)
		v := a.Value.Get()
		if w := v.Waiting(); len(w) != 1 || w[0].ID != "two" || len(v.Approvals) != 2 {
			t.Errorf("waiting %v", w)
		}
		if in := Inbox(v); len(in) != 2 || in[0].ID != "two" || in[1].Later == 0 {
			t.Errorf("inbox %v", in)
		}
		if n := TrayOf(v).Needs; n != 2 {
			t.Errorf("the tray counts %d", n)
		}
		time.Sleep(SnoozeFor + time.Second)
		synctest.Wait()
		if w := a.Value.Get().Waiting(); len(w) != 2 {
			t.Errorf("waiting %v", w)
		}
		a.Snooze(one, two)
		a.Wake("one")
		if w := a.Value.Get().Waiting(); len(w) != 1 || w[0].ID != "one" {
			t.Errorf("waiting %v", w)
		}
	})
}

func TestInboxPutsTheSameTogether(t *testing.T) {
	var v View
	for _, id := range []protocol.ApprovalID{"a", "b", "c"} {
		q := command("make")
		q.ID = id
		v.Approvals = append(v.Approvals, q)
	}
	other := command("ls")
	v.Approvals = append(v.Approvals, other)
	in := Inbox(v)
	if len(in) != 2 || len(in[0].All) != 3 || len(in[1].All) != 1 {
		t.Errorf("inbox %v", in)
	}
	v.Later = map[protocol.ApprovalID]int64{"a": 1}
	if in = Inbox(v); in[0].Later != 0 {
		t.Error("two of three still wait, and the three are shown as put off")
	}
}
