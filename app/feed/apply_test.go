package feed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"fairlead/gateway/protocol"
)

func TestRepeatedEventsDoNotRepeatStreamedText(t *testing.T) {
	run := &protocol.RunInfo{RunID: "r", SessionKey: "a", State: protocol.RunStreaming, Step: 1}
	delta := func(step, offset int, s string) protocol.Change {
		return protocol.Change{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: "r", Step: step, Offset: offset, Text: s}}
	}
	for _, c := range []struct {
		name string
		list []protocol.Change
		want string
	}{
		{"in order", []protocol.Change{delta(1, 0, "one "), delta(1, 4, "two")}, "one two"},
		{"twice", []protocol.Change{delta(1, 0, "one "), delta(1, 0, "one "), delta(1, 4, "two")}, "one two"},
		{"overlapping", []protocol.Change{delta(1, 0, "one "), delta(1, 2, "e two")}, "one two"},
		{"with a gap", []protocol.Change{delta(1, 0, "one "), delta(1, 9, "three")}, "one "},
		{"state between", []protocol.Change{delta(1, 0, "one "), {Kind: protocol.ChangeRun, Run: run}, delta(1, 4, "two")}, "one two"},
		{"next step", []protocol.Change{delta(1, 0, "one "), delta(2, 0, "two")}, "two"},
		{"step before", []protocol.Change{delta(2, 0, "two"), delta(1, 0, "one")}, "two"},
		{"of nobody", []protocol.Change{{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: "x", Text: "?"}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New()
			f.Apply(protocol.Change{Kind: protocol.ChangeRun, Run: run})
			for _, change := range c.list {
				f.Apply(change)
			}
			if got := f.View().Texts["r"].Text; got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestStoredMessageReplacesTheStreamedOne(t *testing.T) {
	f := New()
	f.ApplySnapshot(protocol.FeedSnapshot{
		Runs:  []protocol.RunInfo{{RunID: "r", Step: 1, Text: "streamed", Thinking: "hm"}},
		Calls: []protocol.CallInfo{{CallID: "c", RunID: "r", ToolCallID: "t"}, {CallID: "d", RunID: "r", ToolCallID: "u"}},
	})
	if got := f.Texts.Get()["r"]; got != (Text{1, "streamed", "hm"}) {
		t.Fatalf("text of the snapshot: got %+v, want %+v", got, Text{1, "streamed", "hm"})
	}
	f.Apply(protocol.Change{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleAssistant}})
	if got := f.Texts.Get()["r"]; got != (Text{Step: 1}) {
		t.Errorf("the streamed text stays beside the message: got %+v, want %+v", got, Text{Step: 1})
	}
	f.Apply(protocol.Change{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleToolResult, ToolCallID: "t"}})
	if l := f.Calls.Get(); len(l) != 1 || l[0].CallID != "d" {
		t.Errorf(`calls after a result: got %+v; want length 1 and l[0].CallID "d"`, l)
	}
}

func TestFailedRunStaysUntilTheNext(t *testing.T) {
	run := func(id, state string) protocol.Change {
		return protocol.Change{Kind: protocol.ChangeRun, Run: &protocol.RunInfo{RunID: protocol.RunID(id), SessionKey: "a", State: state}}
	}
	f := New()
	f.Apply(run("1", protocol.RunThinking))
	f.Apply(run("1", protocol.RunFailed))
	f.Apply(run("2", protocol.RunQueued))
	if v := f.View(); len(v.Runs.List) != 2 || v.Working() {
		t.Fatalf("after a failure and a queued message: got %+v; want length 2 and not Working", v.Runs.List)
	}
	f.Apply(run("2", protocol.RunThinking))
	if v := f.View(); len(v.Runs.List) != 1 || v.Runs.List[0].RunID != "2" || !v.Working() || len(v.Texts) != 1 {
		t.Fatalf(`after the next run began: got %+v; want length 1, Runs.List[0].RunID "2", Working and Texts of length 1`, v.Runs.List)
	}
	f.Apply(run("2", protocol.RunDone))
	if v := f.View(); len(v.Runs.List) != 0 || len(v.Texts) != 0 {
		t.Errorf("a done run stays: got %+v; want none and no Texts", v.Runs.List)
	}
}

func TestApplyDoesNotChangeEarlierViews(t *testing.T) {
	f := New()
	f.ApplySnapshot(protocol.FeedSnapshot{
		Runs: []protocol.RunInfo{{RunID: "r", Step: 1}}, Questions: []protocol.Question{{ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending}},
	})
	v := f.View()
	before := fmt.Sprintf("%+v", v)
	for _, c := range []protocol.Change{
		{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: "r", Step: 1, Text: "x"}},
		{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleAssistant}},
		{Kind: protocol.ChangeQuestion, Question: &protocol.Question{ID: "q", Kind: protocol.AskCall, State: protocol.QuestionDenied}},
		{Kind: protocol.ChangeRun, Run: &protocol.RunInfo{RunID: "r", State: protocol.RunDone}},
		{Kind: protocol.ChangeRun},
		{Kind: protocol.ChangeDelta},
		{Kind: protocol.ChangeSession},
		{Kind: "later"},
	} {
		f.Apply(c)
	}
	if after := fmt.Sprintf("%+v", v); after != before {
		t.Errorf("the view changed from %s to %s", before, after)
	}
}

func TestOwnMachineComesFirst(t *testing.T) {
	f := New()
	f.ApplySnapshot(protocol.FeedSnapshot{Nodes: []protocol.NodeInfo{{ID: "a", Online: true}, {ID: "b"}, {ID: "z", Local: true}}})
	if l := f.Machines.Get(); l[0].ID != "z" || l[1].ID != "a" || l[2].ID != "b" {
		t.Errorf(`order: got %v; want l[0].ID "z", l[1].ID "a" and l[2].ID "b"`, l)
	}
}

// wokenFacts returns the facts whose watchers a change wakes up.
func wokenFacts(t *testing.T, f *Feed, change func()) (names string) {
	t.Helper()
	facts := map[string]Fact{
		"status": f.Status, "sessions": f.Sessions, "runs": f.Runs, "texts": f.Texts, "calls": f.Calls, "questions": f.Questions,
		"machines": f.Machines, "transfers": f.Transfers, "notice": f.Notice, "changed": f.Changed,
	}
	before := make(map[string]uint64)
	for name, x := range facts {
		before[name] = x.changeCount()
	}
	change()
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if facts[name].changeCount() != before[name] {
			names += name + " "
		}
	}
	return names
}

func TestChangeWakesOnlyItsReaders(t *testing.T) {
	f := New()
	f.ApplySnapshot(protocol.FeedSnapshot{Runs: []protocol.RunInfo{{RunID: "r", Step: 1}}})
	for _, c := range []struct {
		change protocol.Change
		want   string
	}{
		{protocol.Change{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: "r", Step: 1, Text: "x"}}, "texts "},
		{protocol.Change{Kind: protocol.ChangeSession, Session: &protocol.SessionEntry{SessionKey: "a"}}, "sessions "},
		{protocol.Change{Kind: protocol.ChangeRun, Run: &protocol.RunInfo{RunID: "r", State: protocol.RunTools}}, "runs texts "},
		{protocol.Change{Kind: protocol.ChangeCall, Call: &protocol.CallInfo{CallID: "c"}}, "calls "},
		{protocol.Change{Kind: protocol.ChangeQuestion, Question: &protocol.Question{ID: "q", State: protocol.QuestionPending}}, "questions "},
		{protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "nas"}}, "machines "},
		{protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "t", State: protocol.TransferRunning}}, "transfers "},
		{protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "t", State: protocol.TransferDone}}, "changed transfers "},
		{protocol.Change{Kind: protocol.ChangeStatus, Status: &protocol.Status{}}, "status "},
		{protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{}}, "notice "},
		{protocol.Change{Kind: protocol.ChangeSkills}, "changed "},
		{protocol.Change{Kind: "later"}, ""},
	} {
		if got := wokenFacts(t, f, func() { f.Apply(c.change) }); got != c.want {
			t.Errorf("%s: got %q, want %q", c.change.Kind, got, c.want)
		}
	}
}

func TestSnapshotIsAppliedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := New()
		var seen []string
		var wg sync.WaitGroup
		wg.Go(func() {
			for v := range f.Watch(f.Runs, f.Sessions).Changes(ctx) {
				seen = append(seen, fmt.Sprint(len(v.Runs.List), len(v.Sessions.List), len(v.Machines)))
			}
		})
		synctest.Wait()
		f.ApplySnapshot(protocol.FeedSnapshot{
			Runs: []protocol.RunInfo{{RunID: "r"}}, Sessions: []protocol.SessionEntry{{SessionKey: "a"}}, Nodes: []protocol.NodeInfo{{ID: "n"}},
		})
		synctest.Wait()
		f.Apply(protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "m"}})
		synctest.Wait()
		cancel()
		wg.Wait()
		if want := []string{"0 0 0", "1 1 1"}; !slices.Equal(seen, want) {
			t.Errorf("pictures: got %q, want %q", seen, want)
		}
		if n := len(f.Runs.watchers) + len(f.Sessions.watchers); n != 0 {
			t.Errorf("watchers after the end: got %d, want 0", n)
		}
	})
}
