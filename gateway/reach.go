package gateway

import (
	"cmp"
	"context"
	"fmt"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// reach notifies the person on a channel of an approval that nobody has seen. The message does not
// contain the call, because the channel's network belongs to others, and no reply from there
// answers an approval.
func (g *Gateway) reach(ctx context.Context, a protocol.Approval) error {
	tell := g.config.Get().Approvals.Tell
	if tell.Channel == "" || tell.To == "" {
		return nil
	}
	what := "wants to go on"
	if a.Kind == protocol.AskCall {
		n, _ := g.hub.Node(a.Node)
		what = fmt.Sprintf("wants to use %s on %s", a.Tool, cmp.Or(n.Name, string(a.Node)))
	}
	text := fmt.Sprintf("Fairlead needs you: it %s, and no window shows the question. Answer in a Fairlead window, or with fairlead approvals.", what)
	_, err := g.channels.Say(ctx, a.SessionKey, channel.Words{Text: text, Channel: tell.Channel, AccountID: tell.Account, To: tell.To})
	if err != nil {
		return err
	}
	return g.gate.Shown(ctx, protocol.ApprovalShownParams{ID: a.ID, Surface: protocol.SurfaceChannel})
}
