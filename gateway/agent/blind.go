package agent

import (
	"context"
	"slices"

	"fairlead/gateway/protocol"
)

// blind leaves a notice, once in a run, where the model is about to be told of a picture that it does not see: its provider says so, or says
// nothing of pictures.
func (r *Run) blind(ctx context.Context) error {
	if r.Info.Images || r.toldBlind {
		return nil
	}
	picture := func(b protocol.Block) bool { return b.Type == protocol.BlockImage }
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.StopReason == protocol.StopBlind, m.Role == protocol.RoleAssistant && m.Origin != protocol.OriginNotice:
			return nil
		case m.Beside() || !slices.ContainsFunc(m.Content, picture):
			continue
		}
		r.toldBlind = true
		stored, err := r.Sink.Append(ctx, protocol.Message{
			RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, StopReason: protocol.StopBlind, Timestamp: m.Timestamp,
			Content: protocol.Content{protocol.Text(r.Ref.ID + " takes no pictures, as far as its provider tells: it is told that there is one.")},
		})
		r.History = append(r.History, stored...)
		return err
	}
	return nil
}
