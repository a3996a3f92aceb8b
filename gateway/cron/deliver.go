package cron

import (
	"context"
	"fmt"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// ToMain delivers into the agent's main chat: what there is until the first channel is connected. What names a channel or a receiver cannot
// be delivered that way: the error is a protocol.ErrUnavailable.
func ToMain(st *store.Store, bus *event.Bus) func(context.Context, Delivery) (string, error) {
	return func(ctx context.Context, d Delivery) (string, error) {
		if d.Channel != "" {
			return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel %s is connected", d.Channel))
		}
		if d.To != "" {
			return "", protocol.ErrUnavailable.With(fmt.Sprintf("no channel is connected that could reach %s", d.To))
		}
		key := mainSession(d.Agent)
		text := fmt.Sprintf("**%s**\n\n%s", d.Name, d.Text)
		stored, err := st.Append(ctx, key, protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text(text)}, Timestamp: now()})
		if err != nil {
			return "", err
		}
		bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &stored[0]})
		return "the main chat", nil
	}
}
