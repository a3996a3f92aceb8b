package gateway

import (
	"cmp"
	"context"
	"fmt"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// reach tells the person over a channel that a question waits which nobody has seen. What would run stays here: the channel's network belongs to
// others, and nothing that comes from there answers a question.
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
