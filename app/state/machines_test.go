package state

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/question"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

func TestPresenceIsSaidAsMeasured(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for want, n := range map[string]protocol.NodeInfo{
		"this computer": {Online: true, Local: true, PingMs: 2}, "under 1 ms": {Online: true, PingMs: 0.3}, "12 ms": {Online: true, PingMs: 12.4}, "online": {Online: true},
		"never connected": {}, "offline, last seen yesterday": {LastSeenAt: now.Add(-24 * time.Hour).UnixMilli()}, "offline, last seen just now": {LastSeenAt: now.Add(-4 * time.Second).UnixMilli()},
	} {
		if got := PresenceText(feed.View{}, n, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := PresenceText(feed.View{Status: feed.Status{Remote: true}}, protocol.NodeInfo{Online: true, Local: true}, now); got != "the gateway's computer" {
		t.Errorf("seen from elsewhere it is %q", got)
	}
}

func TestFactsNameTheFoldersAndWhatMayBeDoneThere(t *testing.T) {
	n := protocol.NodeInfo{ID: "nas", Name: "The box", Online: true, PingMs: 3, Tools: []string{"Bash", "Read"}, Held: []string{"Write"}, Host: &protocol.HostInfo{
		OS: "Debian 12", Arch: "arm64",
		Workspace: "/srv", Folders: []protocol.Folder{{Path: "/srv"}, {Path: "/photos", ReadOnly: true}},
	}}
	facts := fmt.Sprint(FactsOf(feed.View{}, n, time.Now()))
	for _, want := range []string{"{System Debian 12, arm64}", "{Workspace /srv}", "{Folder /photos (read only)}", "{Tools Bash, Read}", "{Need your approval Write}"} {
		if !strings.Contains(facts, want) {
			t.Errorf("no %s in %s", want, facts)
		}
	}
	if strings.Contains(facts, "{Folder /srv}") {
		t.Error("the workspace is named twice")
	}
	v := feed.View{Machines: []protocol.NodeInfo{n}, Calls: []protocol.CallInfo{{CallID: "1", Node: "nas", State: protocol.CallRunning}, {CallID: "2", Node: "other", State: protocol.CallRunning}}}
	if got, want := MachineLine(v, n), "Debian 12, arm64 · 1 call running · 1 tool needs your approval"; got != want {
		t.Errorf("MachineLine: got %q, want %q", got, want)
	}
	if strings.Contains(facts, "{Transfers") {
		t.Error("files go straight to a machine whose owner did not say so")
	}
	n.Direct = true
	if !strings.Contains(fmt.Sprint(FactsOf(feed.View{}, n, time.Now())), "{Transfers Go directly") {
		t.Error("nobody says that files go straight to it")
	}
	if feed.NameOf(n) != "The box" {
		t.Error(feed.NameOf(n))
	}
}

func TestForgottenMachineAndEndedTransferLeaveTheView(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "a"}, {ID: "b"}}
		f.Snapshot.Transfers = []protocol.Transfer{{ID: "t", State: protocol.TransferRunning}}
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		before := a.View()
		f.Change(protocol.Change{Kind: protocol.ChangeNodeForgotten, Node: &protocol.NodeInfo{ID: "a"}}, protocol.Change{Kind: protocol.ChangeDevices},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "u", State: protocol.TransferQueued}},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "t", State: protocol.TransferDone}})
		v := a.View()
		if len(v.Machines) != 1 || v.Machines[0].ID != "b" || len(f.Called(protocol.DeviceList.Name)) != 2 {
			t.Errorf("nodes %v", v.Machines)
		}
		if len(v.Transfers.List) != 1 || v.Transfers.List[0].ID != "u" || v.Changed.History != before.Changed.History+1 {
			t.Errorf("transfers %v", v.Transfers.List)
		}
	})
}

func TestPairedMachineIsRevokedBeforeItIsForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *feedtest.Gateway) {
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "nas", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "old"}); err != nil {
			t.Fatal(err)
		}
		if n := len(f.Called(protocol.DeviceRevoke.Name)); n != 1 {
			t.Errorf("revoked %d times", n)
		}
		if list := f.Called(protocol.NodeForget.Name); len(list) != 2 || !strings.Contains(string(list[0]), `"force":true`) {
			t.Errorf("forgotten %s", list)
		}
	})
}

func TestWhoTakesAMachineAwayHearsThatItsWindowsAreLetIn(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.DeviceRevoke, func(protocol.DeviceParams) (protocol.Device, error) {
			return protocol.Device{ID: "d1", Fingerprint: "f1", RevokedAt: 1}, nil
		})
		feedtest.On(f, protocol.DeviceList, func(protocol.Empty) (protocol.DeviceListResult, error) {
			return protocol.DeviceListResult{Devices: []protocol.Device{
				{ID: "d1", Fingerprint: "f1", RevokedAt: 1},
				{ID: "d2", Fingerprint: "f2", Name: "other"},
				{ID: "d1-client", Fingerprint: "f1", Name: "laptop"},
			}}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "laptop", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if n := a.View().Notice; n == nil || n.Text != "laptop can still control Fairlead. To end that too, revoke it under Machines, Controllers." {
			t.Errorf("%+v", n)
		}
	})
}

func TestRequestsAreSaidInWords(t *testing.T) {
	r := protocol.Question{Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "nas", Hostname: "vm", OS: "Debian 12", Address: "10.0.0.3"}}}
	d := &r.Pairing.Device
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	says := func(title, text string) {
		t.Helper()
		if got := question.RequestTitle(r); got != title {
			t.Errorf("%q, want %q", got, title)
		}
		if got := RequestText(r, now); got != text {
			t.Errorf("%q, want %q", got, text)
		}
	}
	says("Pair “nas”?", "It wants to be a machine that the agent can use.")
	if got, want := RequestSource(r), "Debian 12 · 10.0.0.3 · computer name vm"; got != want {
		t.Errorf("RequestSource: got %q, want %q", got, want)
	}
	d.ExpiresAt = now.Add(24 * time.Hour).UnixMilli()
	says("Pair “nas”?", "It wants to be a machine that the agent can use. Access ends tomorrow at 12:00.")
	d.Role, d.Scopes, d.ExpiresAt = protocol.RoleClient, []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}, 0
	says("Pair “nas”?", "It wants to control Fairlead. It may view and chat.")
	r.Kind, r.Pairing.Wider = protocol.AskWiden, []string{"the tool Write"}
	says("Allow more on “nas”?", "It offers more than you allowed: the tool Write.")
	r.ExpiresAt = now.Add(59*time.Second + 700*time.Millisecond).UnixMilli()
	if got, want := wording.TimeLeft(r.ExpiresAt, now), "1:00 left"; got != want {
		t.Errorf("TimeLeft: got %q, want %q", got, want)
	}
}

func TestQuestionsFollowTheGatewayAndTheAnswer(t *testing.T) {
	pairing := func(id protocol.QuestionID, kind string) protocol.Question {
		return protocol.Question{ID: id, Kind: kind, State: protocol.QuestionPending, Hash: "h", Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "tower"}}}
	}
	r := pairing("r", protocol.AskPair)
	r.ExpiresAt = 1
	late := r
	late.State, late.AnsweredBy = protocol.QuestionDenied, "phone"
	refuse, won := false, true
	bubble(t, func(f *feedtest.Gateway) {
		f.Snapshot.Questions = []protocol.Question{pairing("w", protocol.AskWiden), r}
		feedtest.On(f, protocol.QuestionAnswer, func(p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
			if refuse {
				return protocol.QuestionAnswerResult{}, protocol.ErrForbidden.With("not you")
			}
			return protocol.QuestionAnswerResult{Won: won, Question: late}, nil
		})
		feedtest.On(f, protocol.QuestionGet, func(p protocol.QuestionParams) (protocol.Question, error) {
			return pairing(p.ID, protocol.AskPair), nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		v := a.View()
		if v.Needs() != 2 || TrayOf(v).Items[2].Label != "Needs you (2)" || TrayOf(v).Items[2].Items[0].Request != "r" {
			t.Fatalf("waiting: %+v, %+v", v.Questions.Pending, TrayOf(v).Items[2])
		}
		a.Questions.Answer(r, question.Answer(true))
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &r}) // it was shown meanwhile
		if n := a.View().Needs(); n != 1 || len(f.Called(protocol.QuestionAnswer.Name)) != 1 {
			t.Errorf("after the answer %d questions wait", n)
		}
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &late})
		s := pairing("s", protocol.AskPair)
		f.Change(protocol.Change{Kind: protocol.ChangeQuestion, Question: &s})
		refuse = true
		a.Questions.Answer(s, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Needs() != 2 || v.Notice == nil || !strings.Contains(v.Notice.Text, "not you") {
			t.Errorf("an answer that was refused: %+v, %+v", v.Questions.Pending, v.Notice)
		}
		refuse, won = false, false
		a.Questions.Answer(s, question.Answer(true))
		synctest.Wait()
		if v := a.View(); v.Notice == nil || !strings.Contains(v.Notice.Text, "already answered") || !strings.Contains(v.Notice.Text, "phone") {
			t.Errorf("a second answer: %+v, want who was first", v.Notice)
		}
	})
}
