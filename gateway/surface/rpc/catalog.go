package rpc

import (
	"context"
	"errors"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// Catalog runs the tools for programs ([catalog.Catalog]).
type Catalog interface {
	Tools(p auth.Principal) []catalog.Tool
	Call(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error)
}

// Commands are the running commands of programs ([job.Commands]).
type Commands interface {
	List() []protocol.AppCommand
	Stop(ctx context.Context, id string) error
}

func registerCatalog(all methods, c Catalog) {
	handle(all, protocol.CatalogList, func(_ context.Context, r *request, _ protocol.Empty) (protocol.CatalogListResult, error) {
		out := protocol.CatalogListResult{Tools: []protocol.CatalogTool{}}
		for _, t := range c.Tools(r.conn.peer().principal) {
			out.Tools = append(out.Tools, t.CatalogTool)
		}
		return out, nil
	})
	handle(all, protocol.CatalogCall, func(ctx context.Context, r *request, p protocol.CatalogCallParams) (out protocol.CatalogCallResult, err error) {
		res, err := c.Call(ctx, r.conn.peer().principal, catalog.Request{
			Tool: p.Tool, Args: p.Args, IdempotencyKey: p.IdempotencyKey,
			Emit: func(_ context.Context, part job.Part) error {
				if part.Kind == job.PartChunk {
					out.Chunks = append(out.Chunks, part.Data)
				}
				return nil
			},
		})
		if f, ok := errors.AsType[*protocol.Fault](err); ok {
			out.Fault = f
			return out, nil
		}
		out.Data, out.Message = res.Data, res.Message
		if len(out.Chunks) > 0 && job.IsComplete(out.Data) {
			out.Chunks = nil // nobody needs its matches twice
		}
		return out, err
	})
}
