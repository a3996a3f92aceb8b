package nodes

import (
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

func asking(id protocol.QuestionID) protocol.Question {
	return protocol.Question{
		ID: id, Kind: protocol.AskPair, CreatedAt: pagetest.Noon.UnixMilli(), ExpiresAt: pagetest.Noon.Add(time.Minute).UnixMilli(), Pairing: &protocol.PairingSubject{
			Invite: "i", Words: []string{"cobalt", "otter"},
			Device: protocol.Device{Name: "tower", Hostname: "vm", Role: protocol.RoleNode, OS: "Debian 12", Address: "10.0.0.9"},
		},
	}
}

func TestARequestIsAllowedOnlyAfterItWasVisible(t *testing.T) {
	p := newTestPage(t)
	var answers []string
	p.answer = func(q protocol.Question, _ protocol.QuestionAnswerParams) { answers = append(answers, string(q.ID)) }
	p.show(machines())
	showPairing(p, feed.Pairing{}, asking("r"))
	pagetest.Shows(t, p.Box, "Pair “tower”?", "It wants to be a machine that the agent can use.", "Debian 12 · 10.0.0.9 · computer name vm", "cobalt-otter", "1:00 left")
	test.Tap(pagetest.Button(t, p.Box, "Allow in 2 s"))
	p.requests.Tick(pagetest.Noon.Add(1500 * time.Millisecond))
	test.Tap(pagetest.Button(t, p.Box, "Allow in 1 s"))
	if answers != nil {
		t.Fatalf("a click counted at once: %v", answers)
	}
	p.requests.Tick(pagetest.Noon.Add(2 * time.Second))
	pagetest.Shows(t, p.Box, "0:58 left")
	test.Tap(pagetest.Button(t, p.Box, "Allow"))
	if len(answers) != 1 || answers[0] != "r" {
		t.Errorf("answered %v", answers)
	}
	allow := pagetest.Button(t, p.Box, "Allow")
	showPairing(p, feed.Pairing{}, asking("r"), asking("s"))
	if pagetest.Button(t, p.Box, "Allow") != allow {
		t.Error("a second request made the first one new")
	}
	showPairing(p, feed.Pairing{})
	if len(p.requests.Box.Objects) != 0 {
		t.Error("a request that is over is shown")
	}
}

func TestThePageThatAddsAMachineFollowsTheGateway(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.Invite()
	pagetest.Shows(t, p.Box, "cannot connect to this gateway yet", "Let other machines connect")
	on := protocol.DeviceListResult{Network: protocol.NetworkStatus{Enabled: true}}
	showPairing(p, feed.Pairing{DeviceListResult: on})
	pagetest.Shows(t, p.Box, "starting to listen", "Turn off")
	on.Network.Listening, on.Network.Addresses, on.Network.Words = true, []string{"10.0.0.2:8788"}, []string{"a", "b"}
	showPairing(p, feed.Pairing{DeviceListResult: on})
	pagetest.Shows(t, p.Box, "Other machines can connect at 10.0.0.2:8788. Fingerprint: a-b.", "Invite a machine", "Invite a device to control Fairlead")

	i := protocol.DeviceInvite{ID: "i", Role: protocol.RoleNode, Link: "fairlead://pair?x", Code: "7-otter-lamp", CreatedAt: pagetest.Noon.UnixMilli(), ExpiresAt: pagetest.Noon.Add(time.Minute).UnixMilli()}
	p.invite.invitation = i
	p.invite.result.Put(p.invite.texts(i))
	on.Invites = []protocol.DeviceInvite{i}
	showPairing(p, feed.Pairing{DeviceListResult: on})
	showPairing(p, feed.Pairing{DeviceListResult: on}, asking("r"))
	pagetest.Shows(t, p.Box, "Pair “tower”?", "7-otter-lamp")
	ended := on
	on.Invites = nil
	on.Devices = []protocol.Device{{ID: "d", Name: "tower", Role: protocol.RoleNode, NodeID: "nas", PairedAt: pagetest.Noon.UnixMilli()}}
	showPairing(p, feed.Pairing{DeviceListResult: on})
	pagetest.Shows(t, p.Box, "✓ “tower” is paired.")
	v := p.view
	v.Machines = nil
	p.show(v)
	pagetest.Shows(t, p.Box, "It appears under Machines as soon as Fairlead runs there.")
	v.Machines = machines().Machines
	p.show(v)
	test.Tap(pagetest.Button(t, p.Box, "Show it"))
	if p.detail == nil || p.detail.id != "nas" {
		t.Error("the new machine is not shown")
	}

	p.Invite()
	p.invite.invitation = i
	showPairing(p, feed.Pairing{DeviceListResult: ended}, asking("r"))
	ended.Invites = nil
	showPairing(p, feed.Pairing{DeviceListResult: ended})
	pagetest.Shows(t, p.Box, "This invitation has ended.")
}
