package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// fakeNotifier records what is on the screen.
type fakeNotifier struct{ did []string }

func (f *fakeNotifier) Show(m notify.Message) {
	f.did = append(f.did, fmt.Sprintf("show %s %q allow %v deny %v", m.ID, m.Title, m.Allow, m.Deny))
}
func (f *fakeNotifier) Remove(id string) { f.did = append(f.did, "remove "+id) }

// wants returns a function that checks the actions since its previous call, in any order.
func (f *fakeNotifier) wants(t *testing.T) func(did ...string) {
	return func(did ...string) {
		t.Helper()
		slices.Sort(f.did)
		if got, want := strings.Join(f.did, "; "), strings.Join(did, "; "); got != want {
			t.Errorf("did %s, want %s", got, want)
		}
		f.did = nil
	}
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
	f := &fakeNotifier{}
	u := notifiedUI(f)
	want := f.wants(t)
	u.notes.update(waiting(1), noon)
	want(`show 0 "Fairlead wants to run a command" allow false deny true`)
	u.notes.update(waiting(1), noon)
	want()
	u.notes.update(waiting(5), noon)
	want("remove 0", `show many "5 questions need you" allow false deny false`)
	u.notes.update(waiting(6), noon)
	want(`show many "6 questions need you" allow false deny false`)
	u.notes.update(feed.View{}, noon)
	want("remove many")
	u.know(waiting(1))
	u.setFocused(true)
	u.notes.update(waiting(2), noon)
	want()
	u.setFocused(false)
	u.notes.update(waiting(2), noon)
	want() // the dialog was visible
	u.notes.update(waiting(3), noon)
	want(`show 2 "Fairlead wants to run a command" allow false deny true`)
	u.know(waiting(3))
	u.setFocused(true)
	want("remove 2")
}

func TestAllowInANotificationAllowsOnlyWhatItShowed(t *testing.T) {
	f := &fakeNotifier{}
	u := notifiedUI(f)
	var answers []string
	u.notes.answer = func(q protocol.Question, r protocol.QuestionAnswerParams) {
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
	u.know(ask("make", "h1"))
	u.notes.update(u.view(), noon)
	f.wants(t)(`show q "Fairlead wants to run a command" allow true deny true`)
	u.know(ask("make", "h2")) // changed since, and not shown yet
	u.notes.allow("q", noon.Add(allowDelay))
	if got, want := strings.Join(answers, "; "), "allow once h1"; got != want {
		t.Errorf("answered %q, want %q", got, want)
	}
	reviewed := ""
	u.notes.openDialog = func(id protocol.QuestionID) { reviewed += string(id) }
	u.notes.allow("q", noon.Add(allowDelay-1)) // it has just appeared
	u.notes.allow("unknown", noon.Add(time.Hour))
	if reviewed != "qunknown" || len(answers) != 1 {
		t.Errorf("reviewed %q, answered %q", reviewed, answers)
	}
}

func TestSettingsAndQuietHoursSilenceNotifications(t *testing.T) {
	f := &fakeNotifier{}
	u := notifiedUI(f)
	want := f.wants(t)
	u.notes.settings.Off = map[notify.Kind]bool{notify.Questions: true, notify.Finished: true}
	u.notes.update(waiting(1), noon)
	run := func(id, key, end string) feed.View {
		return feed.View{Runs: feed.Runs{Ended: []protocol.RunInfo{{RunID: protocol.RunID(id), SessionKey: protocol.SessionKey(key), State: end}}}}
	}
	u.notes.updateRuns(run("1", "agent:main:main", protocol.RunDone))
	want()
	v := run("2", "agent:main:main", protocol.RunFailed)
	u.notes.updateRuns(v)
	u.notes.updateRuns(v)
	want(`show run-agent:main:main "Main chat" allow false deny false`)
	u.notes.tick(noon)
	want()
	u.hasFocus = true
	u.notes.tick(noon.Add(time.Second))
	want("remove run-agent:main:main")
	u.notes.updateRuns(run("3", "agent:main:main", protocol.RunFailed))
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
		f := &fakeNotifier{}
		u := notifiedUI(f)
		u.notes.settings.Off = map[notify.Kind]bool{c.off: true}
		u.notes.update(v, noon)
		var got []string
		for _, did := range f.did {
			got = append(got, strings.Fields(did)[1])
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("without %s: got %v, want %v", c.off, got, c.want)
		}
	}
}

// notifiedUI returns a user interface that has nothing but notifications.
func notifiedUI(n notifier) *ui {
	u := &ui{backend: &backend{state: state.NewApp()}, questions: &questions{}, nav: &navigator{}}
	u.notes = newNotifications(u)
	u.notes.notifier = n
	return u
}

// TestManyAnswersShareANotification lets more answers arrive than fit on a screen.
func TestManyAnswersShareANotification(t *testing.T) {
	f := &fakeNotifier{}
	u := notifiedUI(f)
	want := f.wants(t)
	v := feed.View{}
	end := func(n int, by string) {
		id := fmt.Sprint("c", n)
		v.Runs.Ended = append(v.Runs.Ended, protocol.RunInfo{RunID: protocol.RunID(id), SessionKey: protocol.SessionKey(id), State: protocol.RunDone, By: by, Answer: "Built."})
		u.notes.updateRuns(v)
	}
	end(0, "owner cli-8d3f")
	want()
	for n := 1; n <= 3; n++ {
		end(n, "owner this computer")
		want(fmt.Sprintf(`show run-c%d "New chat" allow false deny false`, n))
	}
	end(4, "owner this computer")
	want("remove run-c1", "remove run-c2", "remove run-c3", `show run-many "4 answers are ready" allow false deny false`)
	end(5, "")
	want(`show run-many "5 answers are ready" allow false deny false`)
	u.notes.withdrawAll()
	want("remove run-many")
	end(6, "owner this computer")
	want(`show run-c6 "New chat" allow false deny false`)
}
