package session

import (
	"cmp"
	"context"

	"fairlead/gateway/protocol"
)

// Exposures states the chats that the person trusts for some time.
func (c *Chats) Exposures(ctx context.Context) ([]protocol.Exposure, error) {
	trusted, err := c.sessions.Trusted(ctx, now())
	var list []protocol.Exposure
	for _, s := range trusted {
		set := func(m protocol.ApprovalMode) protocol.MethodCall {
			return protocol.NewCall(protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: s.Key, Settings: &protocol.SessionPrefsPatch{Approvals: &m}})
		}
		undo := set(*s.Prefs.Approvals)
		list = append(list, protocol.Exposure{
			ID: protocol.ExposureGrant + ":" + string(s.Key), Kind: protocol.ExposureGrant, Title: "Trust in the chat “" + cmp.Or(title(s), string(s.Key)) + "”",
			Reach:      "The agent acts there without questions, except about what your rules name.",
			LastUsedAt: s.LastActiveAt, ExpiresAt: s.Prefs.Approvals.Until,
			Close: &protocol.ExposureClose{
				Button: "Ask again", Ends: "Calls in this chat need your approval again.", Call: set(protocol.ApprovalMode{Mode: protocol.ModeAsk}), Undo: &undo,
			},
		})
	}
	return list, err
}
