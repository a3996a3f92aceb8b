package feed_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestViewFollowsTheFeed(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Sessions = []protocol.SessionEntry{{SessionKey: "a", Title: "First", LastActiveAt: 10}}
		f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "nas"}}
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		v := a.View()
		if !v.Status.Connected || !v.Status.Loaded || len(v.Sessions.List) != 1 || v.Status.Problem != "" {
			t.Fatalf("after the snapshot: %+v", v)
		}
		f.Change(
			protocol.Change{Kind: protocol.ChangeSession, Session: &protocol.SessionEntry{SessionKey: "b", LastActiveAt: 20}},
			protocol.Change{Kind: protocol.ChangeNode, Node: &protocol.NodeInfo{ID: "tower", Online: true}},
			protocol.Change{Kind: protocol.ChangeStatus, Status: &protocol.Status{Paused: true}},
			protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Text: "Hello"}},
		)
		v = a.View()
		if v.Sessions.List[0].SessionKey != "b" || v.Sessions.List[1].SessionKey != "a" {
			t.Errorf("newest activity is not first: %v", v.Sessions.List)
		}
		if v.Machines[0].ID != "tower" || v.Machines[1].ID != "nas" {
			t.Errorf("online machines are not first: %v", v.Machines)
		}
		if !v.Status.Paused || v.Notice.Text != "Hello" {
			t.Errorf("status %+v, notice %+v", v.Status.Status, v.Notice)
		}
		f.Change(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: "a"})
		if _, ok := a.View().Session("a"); ok {
			t.Error("a deleted chat stays in the list")
		}
	})
}

func TestChatsOfSchedulesAreNotAmongThePersonsChats(t *testing.T) {
	nightly := protocol.SessionEntry{SessionKey: protocol.ScheduleChat("main", "j"), Schedule: "j", Title: "Nightly"}
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Sessions = []protocol.SessionEntry{{SessionKey: "a", LastActiveAt: 10}, nightly}
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		later := nightly
		later.LastActiveAt = 20
		for _, step := range []protocol.Change{{}, {Kind: protocol.ChangeSession, Session: &later}} {
			f.Change(step)
			v := a.View()
			if len(v.Sessions.List) != 1 || v.Sessions.List[0].SessionKey != "a" || len(v.Sessions.Scheduled) != 1 {
				t.Errorf("the chats are %+v, those of schedules %+v", v.Sessions.List, v.Sessions.Scheduled)
			}
			if got := v.ChatName(nightly.SessionKey); got != "Nightly" {
				t.Errorf(`the schedule's chat is called %q, want "Nightly"`, got)
			}
		}
		f.Change(protocol.Change{Kind: protocol.ChangeSessionDeleted, SessionKey: nightly.SessionKey})
		if v := a.View(); len(v.Sessions.Scheduled) != 0 {
			t.Errorf("after its deletion: %+v", v.Sessions.Scheduled)
		}
	})
}

func TestLostConnectionIsShownAndRestored(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		f.Cut()
		if v := a.View(); v.Status.Connected || v.Status.Problem == "" {
			t.Fatalf("after the cut: connected %v, problem %q", v.Status.Connected, v.Status.Problem)
		}
		f.Mu.Lock()
		f.Snapshot.Status.Version = "after"
		f.Mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		if v := a.View(); !v.Status.Connected || v.Status.Problem != "" || v.Status.Version != "after" {
			t.Errorf("a minute later: connected %v, problem %q, status %+v; want true and nothing", v.Status.Connected, v.Status.Problem, v.Status.Status)
		}
	})
}

func TestRefusedTokenSaysWhatToDo(t *testing.T) {
	a := feed.New()
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized})
	if p := a.View().Status.Problem; !strings.Contains(p, "FAIRLEAD_TOKEN") {
		t.Errorf(`problem: got %q, want "FAIRLEAD_TOKEN" in it`, p)
	}
}

func TestRefusedWindowShowsTheReason(t *testing.T) {
	a := feed.NewRemote("this")
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized})
	if p := a.View().Status.Problem; p != "The gateway no longer accepts this computer's token." {
		t.Errorf(`at first: %q, want "The gateway no longer accepts this computer's token."`, p)
	}
	a.Down(&client.FinalError{Err: protocol.ErrUnauthorized.With("the pairing was ended by itself").WithDetails(protocol.DeviceRefused{Reason: protocol.RefusedRevoked})})
	if p := a.View().Status.Problem; p != "The gateway revoked this computer's access. Pair this computer again." {
		t.Errorf(`then: got %q, want "The gateway revoked this computer's access. Pair this computer again."`, p)
	}
}

func TestModelsOfTheProviderInUseCanBeChosen(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Status.Model = protocol.ModelRef{Provider: "ollama", ID: "qwen"}
		feedtest.On(f, protocol.ModelsList, func(p protocol.ModelsListParams) (protocol.ModelsListResult, error) {
			return protocol.ModelsListResult{Models: []protocol.ModelInfo{{ID: "qwen", Tools: true}, {ID: "embed"}}}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		if m := a.View().Models; len(m) != 2 || m[0].Ref.Provider != "operator" || m[1].Ref.ID != "qwen" {
			t.Errorf(`choices: got %+v; want length 2, m[0].Ref.Provider "operator" and m[1].Ref.ID "qwen"`, m)
		}
		feedtest.On(f, protocol.ModelsList, func(protocol.ModelsListParams) (protocol.ModelsListResult, error) {
			return protocol.ModelsListResult{}, protocol.ErrModelAuth
		})
		f.Change(protocol.Change{Kind: protocol.ChangeConfig, Path: "apiKeys.ollama"})
		if m := a.View().Models; len(m) != 2 || m[1].Ref.ID != "qwen" {
			t.Errorf("choices when the provider does not answer: %+v", m)
		}
		if a.View().Changed.Config != 1 {
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
		v := feed.View{Status: feed.Status{Status: protocol.Status{MainSession: c.main}}, Sessions: feed.Sessions{List: c.sessions}}
		if got := v.IsMainAlias(c.key); got != c.moved {
			t.Errorf("main %q, %d known: %q moved %v, want %v", c.main, len(c.sessions), c.key, got, c.moved)
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
		if got := feed.WithoutPath("providers.compatible.baseUrl", text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func bubble(t *testing.T, setup func(*feedtest.Gateway), body func(*testing.T, *feed.Feed, *feedtest.Gateway)) {
	feedtest.Run(t, feed.New, setup, body)
}
