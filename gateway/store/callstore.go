package store

import (
	"context"

	"fairlead/gateway/protocol"
)

// CallStore has what the tool pipeline and the reports of background commands need of several
// families.
type CallStore struct{ *DB }

// Grants is [Grants.List].
func (s CallStore) Grants(ctx context.Context, session protocol.SessionKey) ([]Grant, error) {
	return s.DB.Grants.List(ctx, session)
}

// PutGrant is [Grants.Put].
func (s CallStore) PutGrant(ctx context.Context, g Grant, lines ...protocol.AuditEntry) error {
	return s.DB.Grants.Put(ctx, g, lines...)
}

// Session is [Sessions.Get].
func (s CallStore) Session(ctx context.Context, key protocol.SessionKey) (Session, error) {
	return s.Sessions.Get(ctx, key)
}

// Run is [Runs.Get].
func (s CallStore) Run(ctx context.Context, id protocol.RunID) (Run, error) {
	return s.Runs.Get(ctx, id)
}

// NodeStore has what package nodes needs of several families.
type NodeStore struct {
	*Nodes
	Calls *DB
}

// StoppedCalls is [DB.StoppedCalls].
func (s NodeStore) StoppedCalls(ctx context.Context, node protocol.NodeID, calls []protocol.CallID) ([]protocol.CallID, error) {
	return s.Calls.StoppedCalls(ctx, node, calls)
}
