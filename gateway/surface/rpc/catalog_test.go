package rpc

import (
	"context"
	"encoding/json"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// fakeCatalog has the tool echo, which returns its arguments in two parts.
type fakeCatalog struct{}

func (fakeCatalog) List() []protocol.AppCommand {
	return []protocol.AppCommand{{ID: "command1", App: "app1", Name: "Editor", Node: "tower", Text: "make", StartedAt: 1}}
}

func (fakeCatalog) Stop(_ context.Context, id string) error {
	if id != "command1" {
		return protocol.ErrNotFound.With("no program runs a command with the ID " + id)
	}
	return nil
}

func (fakeCatalog) Tools(auth.Principal) []catalog.Tool {
	object := json.RawMessage(`{"type":"object"}`)
	return []catalog.Tool{{CatalogTool: protocol.CatalogTool{
		Name: "echo", Title: "Echo", Description: "Returns its arguments.", Mode: catalog.ServerStream, ReadOnly: true, Scopes: []protocol.Scope{protocol.ScopeFilesRead}, InputSchema: object, OutputSchema: object,
	}}}
}

func (fakeCatalog) Call(ctx context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
	if r.Tool != "echo" {
		return job.Result{}, protocol.NewFault(protocol.FaultNotFound, "there is no tool named "+r.Tool)
	}
	for _, part := range []string{`{"part":1}`, `{"part":2}`} {
		if err := r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: json.RawMessage(part)}); err != nil {
			return job.Result{}, err
		}
	}
	return job.Result{Data: r.Args, Message: "Done"}, nil
}
