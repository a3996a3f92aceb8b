package approval

import (
	"context"
	"errors"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// ChatStore reads chats. *store.Sessions implements it.
type ChatStore interface {
	Get(ctx context.Context, key protocol.SessionKey) (store.Session, error)
}

// Permissions reads what chats and apps may do without a question. It implements
// tool.Permissions.
type Permissions struct {
	Grants GrantStore
	Chats  ChatStore
}

// Of returns the approval mode of a chat, and what the person has allowed there.
func (p Permissions) Of(ctx context.Context, key protocol.SessionKey) (mode protocol.ApprovalMode, allowed []policy.SessionGrant, err error) {
	grants, err := p.Grants.List(ctx, key)
	if err != nil {
		return mode, nil, err
	}
	for _, g := range grants {
		allowed = append(allowed, policy.SessionGrant{ID: g.ID, Node: g.Node, Tool: g.Tool, Match: g.Match})
	}
	s, err := p.Chats.Get(ctx, key)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return mode, nil, err
	}
	if s.Prefs.Approvals != nil {
		mode = *s.Prefs.Approvals
	}
	return mode, allowed, nil
}
