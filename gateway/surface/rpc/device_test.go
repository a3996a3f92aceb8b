package rpc

import (
	"context"

	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
)

// pin is that of the fakes' gateway.
const pin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// fakeDevices are real devices with a store in memory, with a laptop and a phone already paired.
func fakeDevices(f *fakes) *pairing.Manager {
	kept := &deviceList{}
	for i, d := range []protocol.Device{
		{Name: "Laptop", Role: protocol.RoleNode, NodeID: "laptop", Method: protocol.PairedByLink, PairedBy: "owner cli", PairedAt: 1, Reach: &protocol.Reach{Tools: []string{"Bash"}}},
		{Name: "Phone", Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead}, Method: protocol.PairedByCode, PairedBy: "owner cli", PairedAt: 2},
	} {
		key := make([]byte, 32)
		key[0] = byte(i)
		d.ID, d.Fingerprint, d.Words = identity.DeviceID(key), identity.Fingerprint(key), identity.KeyWords(key)
		kept.list = append(kept.list, store.PairedDevice{Device: d, Key: key})
	}
	m, err := pairing.Open(context.Background(), pairing.Options{Store: kept, Audit: kept, Bus: f.bus, Questions: question.New(questiontest.NewStore(), nil, f.bus), Nodes: f.hub, Name: "tower", Transfers: f.transfers, Connections: NewConnections(), HasPrograms: func() (bool, bool) { return true, true }, Network: func() protocol.NetworkStatus {
		if f.offNet {
			return protocol.NetworkStatus{}
		}
		return protocol.NetworkStatus{Enabled: true, Listening: true, Addresses: []string{"10.0.0.1:8788"}, Pin: pin}
	}})
	if err != nil {
		panic(err)
	}
	return m
}

type deviceList struct{ list []store.PairedDevice }

func (k *deviceList) List(context.Context) ([]store.PairedDevice, error) { return k.list, nil }
func (k *deviceList) Put(context.Context, store.PairedDevice, ...protocol.AuditEntry) error {
	return nil
}
func (k *deviceList) Append(context.Context, ...protocol.AuditEntry) error { return nil }
func (k *deviceList) Delete(context.Context, protocol.DeviceID, ...protocol.AuditEntry) error {
	return nil
}
