package rpc

import (
	"context"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
)

// rentedRows has one rented machine, which runs.
type rentedRows struct{}

func (rentedRows) List(context.Context) ([]protocol.ProvisionTask, error) {
	return []protocol.ProvisionTask{{
		ID: "task1", Node: "web-1", Provider: "aws", CPU: 256, Memory: 512, State: protocol.TaskRunning, Reference: "arn:aws:ecs:1", Summary: "0.25 vCPU, 512 MiB RAM", By: "owner cli", CreatedAt: 1,
	}}, nil
}

func (rentedRows) Put(context.Context, protocol.ProvisionTask, ...protocol.AuditEntry) error {
	return nil
}

func (rentedRows) Delete(context.Context, protocol.TaskID, ...protocol.AuditEntry) error { return nil }

// fakeProvisioning is a real manager without providers.
func fakeProvisioning(f *fakes) *provision.Manager {
	m, err := provision.Open(context.Background(), provision.Options{
		Store: rentedRows{}, Secrets: keychain.OpenFile(workspaces), Folder: "providers", Node: f.hub.Node, Bus: f.bus,
	})
	if err != nil {
		panic(err)
	}
	return m
}
