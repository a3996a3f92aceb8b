package notifications

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// fakeWindows record what they are asked for.
type fakeWindows struct {
	pagetest.Host
	isInFront, showsTransfers bool
}

func (w *fakeWindows) Show()                { w.Did = append(w.Did, "show") }
func (w *fakeWindows) IsInFront() bool      { return w.isInFront }
func (w *fakeWindows) ShowsTransfers() bool { return w.showsTransfers }

// newNotifications returns notifications in a notifier, and the windows, which are not in front.
func newNotifications(f Notifier) (*Notifications, *fakeWindows) {
	w := &fakeWindows{}
	n := New(context.Background(), feed.New(), w)
	n.Notifier = f
	return n, w
}

func waiting(n int) (v feed.View) {
	for i := range n {
		v.Questions.Pending = append(v.Questions.Pending, protocol.Question{
			ID: protocol.QuestionID(fmt.Sprint(i)), Kind: protocol.AskCall, Tool: "Bash", Effect: protocol.EffectExec,
			Node: "server", Args: []byte(fmt.Sprintf(`{"command":"make %d"}`, i)),
		})
	}
	return v
}

func TestQuestionsAreNotifiedWhileNobodyLooks(t *testing.T) {
	f := &pagetest.Notifier{}
	n, w := newNotifications(f)
	want := f.Wants(t)
	n.Update(waiting(1), pagetest.Noon)
	want(`show 0 "Fairlead wants to run a command" allow false deny true`)
	n.Update(waiting(1), pagetest.Noon)
	want()
	n.Update(waiting(5), pagetest.Noon)
	want("remove 0", `show many "5 questions need you" allow false deny false`)
	n.Update(waiting(6), pagetest.Noon)
	want(`show many "6 questions need you" allow false deny false`)
	n.Update(feed.View{}, pagetest.Noon)
	want("remove many")
	w.isInFront = true
	n.WithdrawAll()
	n.Update(waiting(2), pagetest.Noon)
	want()
	w.isInFront = false
	n.Update(waiting(2), pagetest.Noon)
	want() // the dialog was visible
	n.Update(waiting(3), pagetest.Noon)
	want(`show 2 "Fairlead wants to run a command" allow false deny true`)
	w.isInFront = true
	n.WithdrawAll()
	want("remove 2")
}

func TestAllowInANotificationAllowsOnlyWhatItShowed(t *testing.T) {
	f := &pagetest.Notifier{}
	n, w := newNotifications(f)
	var answers []string
	n.answer = func(q protocol.Question, r protocol.QuestionAnswerParams) {
		answers = append(answers, r.Decision+" "+r.Scope+" "+q.Hash)
	}
	ask := func(command, hash string) (v feed.View) {
		v.Questions.Pending = []protocol.Question{{
			ID: "q", Hash: hash, Kind: protocol.AskCall, Tool: "Bash", Effect: protocol.EffectExec, Node: "server", AskedBy: protocol.AskedBy{Kind: "chat"},
			Choices: []string{protocol.ScopeOnce}, Args: []byte(`{"command":"` + command + `"}`), Preview: &protocol.CallPreview{},
			Parts: []protocol.QuestionPart{{Kind: "command", Argv: strings.Fields(command)}},
		}}
		return v
	}
	n.Update(ask("make", "h1"), pagetest.Noon)
	f.Wants(t)(`show q "Fairlead wants to run a command" allow true deny true`)
	n.allow("q", pagetest.Noon.Add(allowDelay))
	if got, want := strings.Join(answers, "; "), "allow once h1"; got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	n.allow("q", pagetest.Noon.Add(allowDelay-1)) // it has just appeared
	n.allow("unknown", pagetest.Noon.Add(time.Hour))
	if got, want := strings.Join(w.Did, "; "), "question q; question unknown"; got != want || len(answers) != 1 {
		t.Errorf("opened %q, want %q; answered %q", got, want, answers)
	}
}

func TestSettingsAndQuietHoursSilenceNotifications(t *testing.T) {
	f := &pagetest.Notifier{}
	n, w := newNotifications(f)
	want := f.Wants(t)
	n.Settings.Off = map[notify.Kind]bool{notify.Questions: true, notify.Finished: true}
	n.Update(waiting(1), pagetest.Noon)
	run := func(id, key, end string) feed.View {
		return feed.View{Runs: feed.Runs{Ended: []protocol.RunInfo{{RunID: protocol.RunID(id), SessionKey: protocol.SessionKey(key), State: end}}}}
	}
	n.UpdateRuns(run("1", "agent:main:main", protocol.RunDone))
	want()
	v := run("2", "agent:main:main", protocol.RunFailed)
	n.UpdateRuns(v)
	n.UpdateRuns(v)
	want(`show run-agent:main:main "Main chat" allow false deny false`)
	n.Tick(pagetest.Noon)
	want()
	w.isInFront = true
	n.Tick(pagetest.Noon.Add(time.Second))
	want("remove run-agent:main:main")
	n.UpdateRuns(run("3", "agent:main:main", protocol.RunFailed))
	want() // the window is in front
}

func TestOnlyDevicesAreSilencedByTheirSwitch(t *testing.T) {
	v := feed.View{
		Questions: feed.Questions{Pending: []protocol.Question{{ID: "d", Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{}}, {ID: "a", Kind: protocol.AskApp, App: &protocol.AppSubject{}}, {ID: "s", Kind: protocol.AskInput, Input: &protocol.InputSubject{}}}},
	}
	for _, c := range []struct {
		off  notify.Kind
		want []string
	}{
		{notify.Pairing, []string{"a", "s"}},
		{notify.Questions, []string{"d"}},
	} {
		f := &pagetest.Notifier{}
		n, _ := newNotifications(f)
		n.Settings.Off = map[notify.Kind]bool{c.off: true}
		n.Update(v, pagetest.Noon)
		var got []string
		for _, did := range f.Did {
			got = append(got, strings.Fields(did)[1])
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("without %s: got %v, want %v", c.off, got, c.want)
		}
	}
}

// TestManyAnswersShareANotification lets more answers arrive than fit on a screen.
func TestManyAnswersShareANotification(t *testing.T) {
	f := &pagetest.Notifier{}
	n, _ := newNotifications(f)
	want := f.Wants(t)
	v := feed.View{}
	end := func(i int, by string) {
		id := fmt.Sprint("c", i)
		v.Runs.Ended = append(v.Runs.Ended, protocol.RunInfo{RunID: protocol.RunID(id), SessionKey: protocol.SessionKey(id), State: protocol.RunDone, By: by, Answer: "Built."})
		n.UpdateRuns(v)
	}
	end(0, "owner cli-8d3f")
	want()
	for i := 1; i <= 3; i++ {
		end(i, "owner this computer")
		want(fmt.Sprintf(`show run-c%d "New chat" allow false deny false`, i))
	}
	end(4, "owner this computer")
	want("remove run-c1", "remove run-c2", "remove run-c3", `show run-many "4 answers are ready" allow false deny false`)
	end(5, "")
	want(`show run-many "5 answers are ready" allow false deny false`)
	n.WithdrawAll()
	want("remove run-many")
	end(6, "owner this computer")
	want(`show run-c6 "New chat" allow false deny false`)
}
