package rpc

import (
	"context"

	"fairlead/gateway/apps"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
)

// appRows is a store of apps with one app.
type appRows struct{}

func (appRows) List(context.Context) ([]protocol.App, []store.AppToken, error) {
	return []protocol.App{{ID: "app_1", Kind: protocol.AppToken, Name: "Backup", Scopes: []protocol.Scope{protocol.ScopeFilesRead}, CreatedAt: 1}}, nil, nil
}

func (appRows) Apply(context.Context, store.AppChange) error { return nil }

// anyMachine knows every machine.
type anyMachine struct{}

func (anyMachine) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	return protocol.NodeInfo{ID: id}, true
}

func (anyMachine) NetworkList() []protocol.Network { return nil }

func fakeApps(f *fakes) *apps.Apps {
	access, err := apps.Open(context.Background(), appRows{}, f.bus, func(context.Context, string) error { return protocol.ErrUnauthorized }, nil)
	if err != nil {
		panic(err)
	}
	return apps.New(apps.Options{Access: access, Questions: question.New(questiontest.NewStore(), nil, f.bus), Machines: anyMachine{}})
}
