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
