package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// Transfers are the transfers of files ([transfer.Engine]).
type Transfers interface {
	List(ctx context.Context, q protocol.TransferListParams) (protocol.TransferListResult, error)
}

// Journal is the record of calls ([store.Calls]).
type Journal interface {
	List(ctx context.Context, q protocol.JournalListParams) (list []store.Call, more bool, err error)
}

// document is a resource that a client can read: JSON about the gateway.
type document struct {
	name, description string
	changes           []string // kinds of protocol.Change after which it is another
	read              func(ctx context.Context) (any, error)
}

func (d document) uri() string { return scheme + d.name }

// documents are the resources about the gateway.
func (o Options) documents() []document {
	return []document{
		{
			"transfers", "The file transfers in progress and the last ones",
			[]string{protocol.ChangeTransfer, protocol.ChangeTransferRemoved},
			o.readTransfers,
		},
		{"journal", "The last 100 calls of tools", []string{protocol.ChangeCall}, o.readJournal},
	}
}

func (o Options) readTransfers(ctx context.Context) (any, error) {
	open, err := o.Transfers.List(ctx, protocol.TransferListParams{})
	if err != nil {
		return nil, err
	}
	last, err := o.Transfers.List(ctx, protocol.TransferListParams{History: true})
	return protocol.TransferListResult{Transfers: append(open.Transfers, last.Transfers...), Count: open.Count + last.Count}, err
}

func (o Options) readJournal(ctx context.Context) (any, error) {
	list, _, err := o.Journal.List(ctx, protocol.JournalListParams{Limit: protocol.DefaultJournal})
	calls := make([]protocol.CallInfo, len(list))
	for i, c := range list {
		calls[i] = c.Info
	}
	return map[string]any{"calls": calls}, err
}

// documentScope is the scope that documents need: they are about all tools.
const documentScope = protocol.ScopeAllTools

func readDocument(ctx context.Context, p auth.Principal, d document) (*mcp.ReadResourceResult, error) {
	if !mayReadGateway(p, documentScope) {
		return nil, missingScope(documentScope)
	}
	v, err := d.read(ctx)
	if err != nil {
		return nil, tool.FaultOf(err)
	}
	raw, err := protocol.Marshal(v)
	return text(d.uri(), "application/json", string(raw)), err
}
