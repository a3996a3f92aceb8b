package nodes

import (
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestForgottenMachineAndEndedTransferLeaveTheView(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		f.Snapshot.Nodes = []protocol.NodeInfo{{ID: "a"}, {ID: "b"}}
		f.Snapshot.Transfers = []protocol.Transfer{{ID: "t", State: protocol.TransferRunning}}
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		before := a.View()
		f.Change(protocol.Change{Kind: protocol.ChangeNodeForgotten, Node: &protocol.NodeInfo{ID: "a"}}, protocol.Change{Kind: protocol.ChangeDevices},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "u", State: protocol.TransferQueued}},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "t", State: protocol.TransferDone}})
		v := a.View()
		if len(v.Machines) != 1 || v.Machines[0].ID != "b" || len(f.Called(protocol.DeviceList.Name)) != 2 {
			t.Errorf("got %v, want machine b alone and devices loaded twice", v.Machines)
		}
		if len(v.Transfers.List) != 1 || v.Transfers.List[0].ID != "u" || v.Changed.History != before.Changed.History+1 {
			t.Errorf(`transfers: got %v; want length 1, v.Transfers.List[0].ID "u" and v.Changed.History %v`, v.Transfers.List, before.Changed.History+1)
		}
	})
}

func TestPairedMachineIsRevokedBeforeItIsForgotten(t *testing.T) {
	feedtest.Run(t, feed.New, nil, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		if err := (Model{a}).Forget(t.Context(), protocol.NodeInfo{ID: "nas", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if err := (Model{a}).Forget(t.Context(), protocol.NodeInfo{ID: "old"}); err != nil {
			t.Fatal(err)
		}
		if n := len(f.Called(protocol.DeviceRevoke.Name)); n != 1 {
			t.Errorf("revoked %d times, want 1", n)
		}
		if list := f.Called(protocol.NodeForget.Name); len(list) != 2 || !strings.Contains(string(list[0]), `"force":true`) {
			t.Errorf("forgotten: got %s; want length 2 and `\"force\":true` in list[0]", list)
		}
	})
}

func TestRemovingAMachineWarnsAboutItsTrustedWindows(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
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
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		if err := (Model{a}).Forget(t.Context(), protocol.NodeInfo{ID: "laptop", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if n := a.View().Notice; n == nil || n.Text != "laptop can still control Fairlead. To end that too, revoke it under Machines, Controllers." {
			t.Errorf(`got %+v; want Text "laptop can still control Fairlead. To end that too, revoke it under Machines, Controllers."`, n)
		}
	})
}

func TestWindowsAreRenamedRevokedAndForgotten(t *testing.T) {
	feedtest.Run(t, feed.New, nil, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		(Model{a}).RenameClient(protocol.Device{ID: "c", Hostname: "tab"}, " ")
		if err := (Model{a}).RevokeClient(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if err := (Model{a}).ForgetClient(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for method, want := range map[string]string{protocol.DeviceUpdate.Name: `"name":"tab"`, protocol.DeviceRevoke.Name: `"deviceId":"c"`, protocol.DeviceForget.Name: `"deviceId":"c"`} {
			if list := f.Called(method); len(list) != 1 || !strings.Contains(string(list[0]), want) {
				t.Errorf("%s: got %s; want length 1 and %v in list[0]", method, list, want)
			}
		}
	})
}

func TestThisWindowLeavesWhenItIsRevoked(t *testing.T) {
	feedtest.Run(t, feed.New, nil, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		a.Status.Update(func(s *feed.Status) { s.Device = "own" })
		if err := (Model{a}).RevokeClient(t.Context(), "own"); err != nil {
			t.Fatal(err)
		}
		if left, revoked := len(f.Called(protocol.DeviceLeave.Name)), len(f.Called(protocol.DeviceRevoke.Name)); left != 1 || revoked != 0 {
			t.Errorf("it left %d times and was revoked %d times, and its connection ends before the answer", left, revoked)
		}
	})
}

func TestPairingExpiryIsSetAndReset(t *testing.T) {
	feedtest.Run(t, feed.New, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.DeviceUpdate, func(p protocol.DeviceUpdateParams) (protocol.Device, error) {
			if *p.ExpiresAt > 100 {
				return protocol.Device{}, protocol.ErrForbidden.With("this device is paired until then")
			}
			return protocol.Device{}, nil
		})
	}, func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		d := protocol.Device{ID: "tab", ExpiresAt: 50}
		undo, err := (Model{a}).SetExpiry(t.Context(), d, 0)
		if err != nil {
			t.Fatal(err)
		}
		undo()
		synctest.Wait()
		var sent []string
		for _, p := range f.Called(protocol.DeviceUpdate.Name) {
			sent = append(sent, string(p))
		}
		if got, want := strings.Join(sent, " "), `{"deviceId":"tab","expiresAt":0} {"deviceId":"tab","expiresAt":50}`; got != want {
			t.Errorf("Join: got %q, want %q", got, want)
		}
		if undo, err := (Model{a}).SetExpiry(t.Context(), d, 200); undo != nil || err == nil || !strings.Contains(err.Error(), "paired until then") {
			t.Errorf("a refused end: %v", err)
		}
	})
}
