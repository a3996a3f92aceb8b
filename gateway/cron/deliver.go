package cron

import (
	"context"
	"fmt"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// ToMain delivers to home, the agent's main chat. It is the only delivery until a channel is
// connected. A delivery that names a channel or a receiver fails with a protocol.ErrUnavailable.
func ToMain(ctx context.Context, st *store.DB, bus *event.Bus, home protocol.SessionKey, d Delivery) (string, error) {
	if d.InMainChat {
		return "", nil
	}
	if d.Channel != "" {
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel %s is connected", d.Channel))
	}
	if d.To != "" {
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel is connected that could reach %s", d.To))
	}
	text := fmt.Sprintf("**%s**\n\n%s", d.Name, d.Text)
	stored, err := st.Messages.Append(ctx, home, protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(text)}, Timestamp: now()})
	if err != nil {
		return "", err
	}
	bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: home, Message: &stored[0]})
	return "the main chat", nil
}
