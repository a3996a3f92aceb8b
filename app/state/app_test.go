package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestViewFollowsTheFeed(t *testing.T) {
	bubble(t, func(f *fake) {
		f.snap.Sessions = []protocol.SessionEntry{{SessionKey: "a", Title: "First", LastActiveAt: 10}}
		f.snap.Nodes = []protocol.NodeInfo{{ID: "nas"}}
	}, func(t *testing.T, a *App, f *fake) {
		v := a.Value.Get()
		if !v.Connected || !v.Loaded || len(v.Sessions) != 1 || v.Problem != "" {
			t.Fatalf("after the snapshot: %+v", v)
		}
		f.change(
			protocol.Change{Kind: protocol.ChangeSession, Session: &protocol.SessionEntry{SessionKey: "b", LastActiveAt: 20}},
			protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "tower", Online: true}},
			protocol.Change{Kind: protocol.ChangeStatus, Status: &protocol.Status{Paused: true}},
			protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Text: "Hello"}},
		)
		v = a.Value.Get()
		if v.Sessions[0].SessionKey != "b" || v.Sessions[1].SessionKey != "a" {
			t.Errorf("newest activity is not first: %v", v.Sessions)
		}
		if v.Nodes[0].ID != "tower" || v.Nodes[1].ID != "nas" {
			t.Errorf("online machines are not first: %v", v.Nodes)
		}
		if !v.Status.Paused || v.Notice.Text != "Hello" {
			t.Errorf("status %+v, notice %+v", v.Status, v.Notice)
		}
		f.change(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: "a"})
		if _, ok := a.Value.Get().Session("a"); ok {
			t.Error("a deleted chat stays in the list")
		}
	})
}

func TestChatsOfSchedulesAreNotAmongThePersonsChats(t *testing.T) {
	nightly := protocol.SessionEntry{SessionKey: protocol.ScheduleChat("main", "j"), Schedule: "j", Title: "Nightly"}
	bubble(t, func(f *fake) {
		f.snap.Sessions = []protocol.SessionEntry{{SessionKey: "a", LastActiveAt: 10}, nightly}
	}, func(t *testing.T, a *App, f *fake) {
		later := nightly
		later.LastActiveAt = 20
		for _, step := range []protocol.Change{{}, {Kind: protocol.ChangeSession, Session: &later}} {
			f.change(step)
			v := a.Value.Get()
			if len(v.Sessions) != 1 || v.Sessions[0].SessionKey != "a" || len(v.Scheduled) != 1 {
				t.Errorf("the chats are %+v, those of schedules %+v", v.Sessions, v.Scheduled)
			}
			if got := v.ChatName(nightly.SessionKey); got != "Nightly" {
				t.Errorf("the schedule's chat is called %q", got)
			}
		}
		f.change(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: nightly.SessionKey})
		if v := a.Value.Get(); len(v.Scheduled) != 0 {
			t.Errorf("after its deletion: %+v", v.Scheduled)
		}
	})
}

func TestLostConnectionIsSaidAndMendsItself(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *fake) {
		f.cut()
		if v := a.Value.Get(); v.Connected || v.Problem == "" {
			t.Fatalf("after the cut: connected %v, problem %q", v.Connected, v.Problem)
		}
		f.mu.Lock()
		f.snap.Status.Version = "after"
		f.mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if v := a.Value.Get(); !v.Connected || v.Problem != "" || v.Status.Version != "after" {
			t.Errorf("a minute later: connected %v, problem %q, status %+v", v.Connected, v.Problem, v.Status)
		}
	})
}

func TestRefusedTokenSaysWhatToDo(t *testing.T) {
	a := NewApp()
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized})
	if p := a.Value.Get().Problem; !strings.Contains(p, "FAIRLEAD_TOKEN") {
		t.Errorf("problem: %q", p)
	}
}

func TestAPairedWindowSaysWhyItIsNotLetIn(t *testing.T) {
	a := NewRemoteApp("this")
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized})
	if p := a.Value.Get().Problem; p != "The gateway no longer accepts this computer's token." {
		t.Errorf("at first: %q", p)
	}
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized.With("the pairing was ended by itself").WithDetails(protocol.DeviceRefused{Reason: protocol.RefusedRevoked})})
	if p := a.Value.Get().Problem; p != "The gateway revoked this computer's access. Pair this computer again." {
		t.Errorf("then: %q", p)
	}
}

func TestActionsBeforeTheFirstConnectionFailWithAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := NewApp()
		defer a.Close()
		a.Chats.Rename("a", "b")
		if _, err := a.Chats.Create(t.Context()); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("NewChat: %v", err)
		}
		synctest.Wait()
		if n := a.Value.Get().Notice; n == nil || !strings.HasPrefix(n.Text, "Not connected") {
			t.Errorf("notice: %+v", n)
		}
	})
}

func TestStreamedTextGrowsOnceWhateverIsRepeated(t *testing.T) {
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
			v := &feed.View{}
			feed.Reduce(v, protocol.Change{Kind: protocol.ChangeRun, Run: run})
			for _, change := range c.list {
				feed.Reduce(v, change)
			}
			if got := v.Runs[0].Text; got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		})
	}
}

func TestStoredMessageTakesThePlaceOfWhatWasStreamed(t *testing.T) {
	v := &feed.View{
		Runs:  []protocol.RunInfo{{RunID: "r", Step: 1, Text: "streamed", Thinking: "hm"}},
		Calls: []protocol.CallInfo{{CallID: "c", RunID: "r", ToolCallID: "t"}, {CallID: "d", RunID: "r", ToolCallID: "u"}},
	}
	feed.Reduce(v, protocol.Change{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleAssistant}})
	if v.Runs[0].Text != "" || v.Runs[0].Thinking != "" {
		t.Errorf("the streamed text stays beside the message: %+v", v.Runs[0])
	}
	feed.Reduce(v, protocol.Change{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleToolResult, ToolCallID: "t"}})
	if len(v.Calls) != 1 || v.Calls[0].CallID != "d" {
		t.Errorf("calls after a result: %+v", v.Calls)
	}
}

func TestFailedRunStaysUntilTheNext(t *testing.T) {
	run := func(id, state string) protocol.Change {
		return protocol.Change{Kind: protocol.ChangeRun, Run: &protocol.RunInfo{RunID: protocol.RunID(id), SessionKey: "a", State: state}}
	}
	v := &feed.View{}
	feed.Reduce(v, run("1", protocol.RunThinking))
	feed.Reduce(v, run("1", protocol.RunFailed))
	feed.Reduce(v, run("2", protocol.RunQueued))
	if len(v.Runs) != 2 || v.Working() {
		t.Fatalf("after a failure and a queued message: %+v", v.Runs)
	}
	feed.Reduce(v, run("2", protocol.RunThinking))
	if len(v.Runs) != 1 || v.Runs[0].RunID != "2" || !v.Working() {
		t.Fatalf("after the next run began: %+v", v.Runs)
	}
	feed.Reduce(v, run("2", protocol.RunDone))
	if len(v.Runs) != 0 {
		t.Errorf("a done run stays: %+v", v.Runs)
	}
}

func TestReduceNeverTouchesTheViewBefore(t *testing.T) {
	v := feed.View{Runs: []protocol.RunInfo{{RunID: "r", Step: 1}}, Approvals: []protocol.Question{{ID: "q", State: protocol.QuestionPending}}}
	before := fmt.Sprintf("%+v", v)
	for _, c := range []protocol.Change{
		{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: "r", Step: 1, Text: "x"}},
		{Kind: protocol.ChangeMessage, Message: &protocol.Message{RunID: "r", Role: protocol.RoleAssistant}},
		{Kind: protocol.ChangeQuestion, Question: &protocol.Question{ID: "q", State: protocol.QuestionDenied}},
		{Kind: protocol.ChangeRun, Run: &protocol.RunInfo{RunID: "r", State: protocol.RunDone}},
		{Kind: protocol.ChangeRun},
		{Kind: protocol.ChangeDelta},
		{Kind: protocol.ChangeSession},
		{Kind: "later"},
	} {
		now := v
		feed.Reduce(&now, c)
	}
	if after := fmt.Sprintf("%+v", v); after != before {
		t.Errorf("the view changed from %s to %s", before, after)
	}
}

func TestModelsOfTheProviderInUseCanBeChosen(t *testing.T) {
	bubble(t, func(f *fake) {
		f.snap.Status.Model = protocol.ModelRef{Provider: "ollama", ID: "qwen"}
		on(f, protocol.ModelsList, func(p protocol.ModelsListParams) (protocol.ModelsListResult, error) {
			return protocol.ModelsListResult{Models: []protocol.ModelInfo{{ID: "qwen", Tools: true}, {ID: "embed"}}}, nil
		})
	}, func(t *testing.T, a *App, f *fake) {
		if m := a.Value.Get().Models; len(m) != 2 || m[0].Ref.Provider != "operator" || m[1].Ref.ID != "qwen" {
			t.Errorf("choices: %+v", m)
		}
		on(f, protocol.ModelsList, func(protocol.ModelsListParams) (protocol.ModelsListResult, error) {
			return protocol.ModelsListResult{}, protocol.ErrModelAuth
		})
		f.change(protocol.Change{Kind: protocol.ChangeConfig, Path: "apiKeys.ollama"})
		if m := a.Value.Get().Models; len(m) != 2 || m[1].Ref.ID != "qwen" {
			t.Errorf("choices when the provider does not answer: %+v", m)
		}
		if a.Value.Get().ConfigChanged != 1 {
			t.Error("the change of the configuration is not counted")
		}
	})
}

func TestTheDefaultChatFollowsTheGatewaysMainChat(t *testing.T) {
	known := []protocol.SessionEntry{{SessionKey: protocol.MainSession, Main: true}}
	for _, c := range []struct {
		main     protocol.SessionKey
		sessions []protocol.SessionEntry
		key      protocol.SessionKey
		moved    bool
	}{
		{"", nil, protocol.MainSession, false}, // a gateway that does not report it
		{protocol.MainSession, nil, protocol.MainSession, false},
		{"agent:work:main", nil, protocol.MainSession, true},
		{"agent:work:main", known, protocol.MainSession, false}, // the other agent's own
		{"agent:main:team", known, protocol.MainSession, true},  // another name for the same
		{"agent:main:team", nil, "agent:main:app:chat:1", false},
	} {
		v := feed.View{Status: protocol.Status{MainSession: c.main}, Sessions: c.sessions}
		if got := v.IsMainAlias(c.key); got != c.moved {
			t.Errorf("main %q, %d known: %q moved %v", c.main, len(c.sessions), c.key, got)
		}
	}
}

func TestRefusalOfASettingDoesNotNameItsPath(t *testing.T) {
	for text, want := range map[string]string{
		"providers.compatible.baseUrl must be an address": "this must be an address",
		"providers.compatible.baseUrl: it has no host":    "it has no host",
		"providers.compatible.baseUrlX is unknown":        "providers.compatible.baseUrlX is unknown",
		"the disk is full": "the disk is full",
	} {
		if got := withoutPath("providers.compatible.baseUrl", text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
