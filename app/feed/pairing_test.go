package feed

import (
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTrustedWindowsAreListedFirst(t *testing.T) {
	p := Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{
		{ID: "r", Name: "a", Role: protocol.RoleClient, RevokedAt: 5},
		{ID: "m", Name: "b", Role: protocol.RoleNode},
		{ID: "t", Name: "tablet", Role: protocol.RoleClient},
		{ID: "p", Name: "Phone", Role: protocol.RoleClient},
	}}}
	var ids []protocol.DeviceID
	for _, d := range p.Clients() {
		ids = append(ids, d.ID)
	}
	if !slices.Equal(ids, []protocol.DeviceID{"p", "t", "r"}) {
		t.Errorf("got %v; want %v", ids, []protocol.DeviceID{"p", "t", "r"})
	}
	if _, ok := p.Client("m"); ok {
		t.Error("a machine is shown as a window")
	}
}
