package tray

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/app/gateways"
	"fairlead/gateway/protocol"
)

var exampleQuestion = protocol.Question{
	ID: "q", Kind: protocol.AskCall, State: protocol.QuestionPending, Node: "nas", Tool: "Bash",
	Args: json.RawMessage(`{"command":"make -j4\nmake install"}`), Effect: protocol.EffectExec, Hash: "h", Choices: []string{protocol.ScopeOnce},
}

func TestTrayIconShowsTheMostUrgentState(t *testing.T) {
	working := []protocol.RunInfo{{State: protocol.RunTools}}
	asked := []protocol.Question{exampleQuestion, exampleQuestion}
	input := []protocol.Question{{Kind: protocol.AskInput, Input: &protocol.InputSubject{Server: "docs"}}}
	for _, c := range []struct {
		v      feed.View
		icon   Icon
		status string
	}{
		{feed.View{}, Idle, "Starting"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true}}, Idle, "Ready"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true}, Runs: feed.Runs{List: working}}, Working, "Working"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true}, Runs: feed.Runs{List: working}, Questions: feed.Questions{Pending: asked}}, NeedsYou, "2 questions need you"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true}, Questions: feed.Questions{Pending: input}}, NeedsYou, "“docs” asks you a question"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true, Status: protocol.Status{Paused: true}}}, Paused, "Paused"},
		{feed.View{Status: feed.Status{Problem: "refused"}, Questions: feed.Questions{Pending: asked}}, Offline, "No connection to the gateway"},
		{feed.View{Status: feed.Status{Connected: true, Loaded: true, Status: protocol.Status{Storage: "full"}}, Questions: feed.Questions{Pending: asked}}, Error, "Cannot save data"},
	} {
		t.Run(c.status, func(t *testing.T) {
			if got := trayFor(c.v); got.Icon != c.icon || got.Status != c.status {
				t.Errorf("%+v: icon %d, %q; want got.Icon %v and got.Status %v", c.v, got.Icon, got.Status, c.icon, c.status)
			}
		})
	}
}

func TestTrayListsStayShort(t *testing.T) {
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true}}
	for i := range 100 {
		q := exampleQuestion
		q.ID = protocol.QuestionID(fmt.Sprint(i))
		v.Questions.Pending = append(v.Questions.Pending, q)
		v.Sessions.List = append(v.Sessions.List, protocol.SessionEntry{SessionKey: protocol.SessionKey(fmt.Sprint(i))})
		v.Machines = append(v.Machines, protocol.NodeInfo{ID: protocol.NodeID(fmt.Sprint(i))})
	}
	for _, i := range trayFor(v).Items {
		if len(i.Items) > maxItems+1 {
			t.Errorf("%s has %d items, want at most %d", i.Label, len(i.Items), maxItems+1)
		}
	}
}

// TestOneOrderOfCallsAndOtherQuestions has a call that expires first, a device, an app that expires
// before it, and a postponed call.
func TestOneOrderOfCallsAndOtherQuestions(t *testing.T) {
	f := feed.New()
	for _, q := range []protocol.Question{
		{ID: "device", Kind: protocol.AskPair, ExpiresAt: 30, Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "phone"}}},
		{ID: "later", Kind: protocol.AskCall, ExpiresAt: 5, Later: 9},
		{ID: "call", Kind: protocol.AskCall, ExpiresAt: 40},
		{ID: "urgent", Kind: protocol.AskCall, ExpiresAt: 10},
		{ID: "app", Kind: protocol.AskApp, ExpiresAt: 20, App: &protocol.AppSubject{Name: "Editor"}},
	} {
		q.State = protocol.QuestionPending
		f.Apply(protocol.Change{Kind: protocol.ChangeQuestion, Question: &q})
	}
	v := f.View()
	want := []protocol.QuestionID{"urgent", "app", "device", "call", "later"}
	var tray []protocol.QuestionID
	for _, i := range needsItem(v, time.Now()).Items {
		if id := i.Question; id != "" {
			tray = append(tray, id)
		}
	}
	if !slices.Equal(tray, want[:min(len(want), maxItems)]) {
		t.Errorf("tray: got %v, want the order of %v", tray, want)
	}
}

func TestTrayShowsMachineDisplayNames(t *testing.T) {
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true}, Machines: []protocol.NodeInfo{{ID: "n1", Name: "My laptop", Online: true}, {ID: "nas"}}}
	for _, i := range trayFor(v).Items {
		if i.Label != "Machines" {
			continue
		}
		for k, want := range []Item{{Label: "My laptop · online", Do: ActionMachine, Node: "n1"}, {Label: "nas · offline", Do: ActionMachine, Node: "nas"}} {
			if got := i.Items[k]; got.Label != want.Label || got.Do != want.Do || got.Node != want.Node {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}

func TestValueGivesTheNewestToSlowReaders(t *testing.T) {
	v := feed.NewValue(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []int
	for n := range v.Changes(ctx) {
		seen = append(seen, n)
		if n == 0 {
			for i := range 10 {
				v.Update(func(n *int) { *n = i + 1 })
			}
			continue
		}
		cancel()
		v.Update(func(n *int) { *n = 99 })
	}
	if fmt.Sprint(seen) != "[0 10]" {
		t.Errorf(`seen: got %v, want seen "[0 10]"`, seen)
	}
}

func TestTrayListsOtherGatewaysUnderTheMachines(t *testing.T) {
	tray := trayFor(feed.View{Status: feed.Status{Connected: true, Loaded: true}, Machines: []protocol.NodeInfo{{ID: "nas"}}})
	if got := tray.With(nil); len(got.Items) != len(tray.Items) {
		t.Error("without other gateways the menu has an entry for them")
	}
	with := tray.With([]gateways.Line{{ID: "pin", Name: "cellar"}})
	for i, item := range with.Items {
		if item.Label != "Gateways" {
			continue
		}
		if with.Items[i-1].Label != "Machines" || len(item.Items) != 1 || item.Items[0].Do != ActionGateway || item.Items[0].Gateway != "pin" {
			t.Errorf("the entry is %+v after %q", item, with.Items[i-1].Label)
		}
		return
	}
	t.Error("the menu has no entry for other gateways")
}

func TestTrayShowsQuestionsOfOtherGateways(t *testing.T) {
	list := []gateways.Line{{ID: "p1", Name: "cellar", Needs: 2}, {ID: "p2", Name: "Attic", Address: "10.0.0.2:8790"}, {ID: "p3", Name: "attic", Address: "10.0.0.3:8790", Needs: 1}}
	menu := func(tray Content) (item Item) {
		for _, i := range tray.Items {
			if strings.HasPrefix(i.Label, "Gateways") {
				item = i
			}
		}
		return item
	}
	plain := trayFor(feed.View{Status: feed.Status{Connected: true, Loaded: true}})
	one := plain.With(list[:1])
	if one.Icon != NeedsYou || one.Needs != 2 || one.Status != "2 approvals waiting at cellar" || one.Items[0].Label != one.Status {
		t.Errorf(`got %+v; want Icon %v, Needs 2, Status "2 approvals waiting at cellar" and Items[0].Label %v`, one, NeedsYou, one.Status)
	}
	if plain.Items[0].Label != "Ready" {
		t.Errorf(`the tray it began with says %q now, want "Ready"`, plain.Items[0].Label)
	}
	all := plain.With(list)
	if all.Needs != 3 || all.Status != "3 approvals waiting at other gateways" {
		t.Errorf(`got %d, %q; want Needs 3 and Status "3 approvals waiting at other gateways"`, all.Needs, all.Status)
	}
	var labels []string
	for _, i := range menu(all).Items {
		labels = append(labels, i.Label)
	}
	want := []string{"cellar · needs you (2)", "Attic · 10.0.0.2:8790", "attic · 10.0.0.3:8790 · needs you (1)"}
	if !slices.Equal(labels, want) || menu(all).Label != "Gateways (3)" {
		t.Errorf(`%q: got %q; want %v and menu of all.Label "Gateways (3)"`, menu(all).Label, labels, want)
	}
	here := trayFor(feed.View{Status: feed.Status{Connected: true, Loaded: true}, Questions: feed.Questions{Pending: []protocol.Question{exampleQuestion}}}).With(list[:1])
	if here.Needs != 3 || here.Status != "Fairlead wants to run a command" {
		t.Errorf(`got %d, %q; want Needs 3 and Status "Fairlead wants to run a command"`, here.Needs, here.Status)
	}
	same := gateways.Names([]gateways.Line{{ID: "aaaaaaaaaaaa", Name: "x", Address: "h:1"}, {ID: "bbbbbbbbbbbb", Name: "x", Address: "h:1"}})
	if !slices.Equal(same, []string{"x · aaaaaaaa", "x · bbbbbbbb"}) {
		t.Errorf("got %q; want %v", same, []string{"x · aaaaaaaa", "x · bbbbbbbb"})
	}
}

func TestTheTrayHasNoEmptyEntry(t *testing.T) {
	var labels []string
	for _, i := range trayFor(feed.View{Status: feed.Status{Connected: true, Loaded: true}}).Items {
		labels = append(labels, i.Label)
	}
	if got, want := strings.Join(labels, ", "), "Ready, , Open, New chat, , Pause agent, Settings, , Quit"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	with := trayFor(feed.View{}).With([]gateways.Line{{ID: "pin", Name: "cellar"}})
	if got := with.Items[4]; got.Label != "Gateways" {
		t.Errorf(`the entry after New chat is %q, want "Gateways"`, got.Label)
	}
}

func TestTrayShowsRunningTransfers(t *testing.T) {
	v := feed.View{Status: feed.Status{Connected: true, Loaded: true}, Transfers: feed.Transfers{List: []protocol.Transfer{{ID: "t", Sources: []string{"@here:/photos"}, To: "nas", State: protocol.TransferRunning, Bytes: 100, BytesDone: 40}}}}
	for _, i := range trayFor(v).Items {
		if i.Label == "Transfers (1)" {
			if len(i.Items) != 1 || i.Items[0].Label != "photos to nas · 40 %" || i.Items[0].Do != ActionTransfers {
				t.Errorf(`got %+v; want Items of length 1, Items[0].Label "photos to nas · 40 %%" and Items[0].Do %v`, i.Items, ActionTransfers)
			}
			return
		}
	}
	t.Error("no entry")
}

func TestTrayOffersTrustWhereAMachineProtects(t *testing.T) {
	for _, isProtected := range []bool{true, false} {
		checks := []protocol.EnforcedCheck{{ID: protocol.ProtectedCheck, Enforced: isProtected}}
		pi := protocol.NodeInfo{ID: "pi", Online: true, Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Checks: checks}}}
		v := feed.View{Machines: []protocol.NodeInfo{pi}, Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "a"}}}}
		for _, i := range modeItem(v).Items {
			if isTrust := strings.HasPrefix(i.Label, "Trust for"); isTrust && i.Disabled == isProtected {
				t.Errorf("protected %v: the entry %q is disabled: %v", isProtected, i.Label, i.Disabled)
			}
		}
	}
}
