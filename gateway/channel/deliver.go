package channel

import (
	"context"
	"errors"

	"fairlead/gateway/cron"
	"fairlead/gateway/protocol"
)

// Deliver sends a job's answer to the person and describes where it went: to the channel or
// receiver in the job, or else to the main chat and to its last address on a channel.
func (h *Hub) Deliver(ctx context.Context, d cron.Delivery) (receiver string, err error) {
	home := h.o.Config().Session.Main(d.Agent)
	if d.Channel != "" || d.To != "" {
		sent, err := h.SendMessage(ctx, home, Outgoing{Text: d.Text, Channel: d.Channel, To: d.To, Later: true})
		return sent.receiver(), err
	}
	if d.InMainChat {
		sent, err := h.SendMessage(ctx, home, Outgoing{Text: d.Text, Later: true})
		// nobody writes to the agent over a channel
		if errors.Is(err, protocol.ErrBadRequest) || err != nil && ctx.Err() != nil {
			return "", ctx.Err()
		}
		return sent.receiver(), err
	}
	chat, err := cron.ToMain(ctx, h.o.Store, h.o.Bus, home, d)
	if err != nil {
		return chat, err
	}
	if sent, err := h.SendMessage(ctx, home, Outgoing{Text: d.Text, Later: true}); err == nil {
		chat += " and " + sent.receiver()
	}
	return chat, nil
}

// receiver describes the receiver of a message.
func (s SendResult) receiver() string {
	text := s.To + " on " + s.Channel
	if s.Queued {
		text += ", as soon as the channel is connected"
	}
	return text
}
