package rpc

import (
	"context"

	"fairlead/gateway/protocol"
)

// createSession creates a chat; without a key, with a generated one (extension).
func (s *Server) createSession(ctx context.Context, _ *Conn, p protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	if err := checkKey(p.SessionKey); err != nil {
		return protocol.SessionEntry{}, err
	}
	if err := checkLabel(p.Label); err != nil {
		return protocol.SessionEntry{}, err
	}
	return s.s.Sessions.Create(ctx, p)
}

// patch changes the settings of a chat (session.patch). A change of the approval setting answers
// future approvals, so it needs the scope to answer them.
func (s *Server) patch(ctx context.Context, c *Conn, p protocol.SessionPatchParams) (protocol.OK, error) {
	if p.Settings != nil && p.Settings.Approvals != nil && !c.who().Has(protocol.ScopeApprove) {
		return protocol.OK{}, protocol.ErrForbidden.With("this device may not answer questions, and so not set what the chat asks about")
	}
	if p.Label != nil {
		if err := checkLabel(*p.Label); err != nil {
			return protocol.OK{}, err
		}
	}
	p.By = c.who().String()
	return keyed(s, func(p *protocol.SessionPatchParams) *protocol.SessionKey { return &p.SessionKey }, s.s.Sessions.Patch)(ctx, c, p)
}
