package channel

import (
	"context"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// outbox holds the messages to be sent. It is safe for concurrent use.
type outbox struct {
	store    *store.DB
	senderOf func(channel, account string) *sender

	mu      sync.Mutex               // guards waiters
	waiters map[string]chan delivery // receivers of the outcome of a delivery, by outbox ID
}

// delivery is the outcome of sending a message.
type delivery struct {
	messageID string
	err       error
}

// await returns a channel that receives the outcome of a delivery, until stop is called.
func (o *outbox) await(id string) (outcome <-chan delivery, stop func()) {
	c := make(chan delivery, 1)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters[id] = c
	return c, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.waiters, id)
	}
}

// report passes the outcome of a delivery to its waiter.
func (o *outbox) report(id string, d delivery) {
	o.mu.Lock()
	w := o.waiters[id]
	delete(o.waiters, id)
	o.mu.Unlock()
	if w != nil {
		w <- d // has capacity for one
	}
}

// put stores a message in the outbox, once for each ID. A message without text and files is
// ignored, as in the original system.
func (o *outbox) put(ctx context.Context, id string, e protocol.ChannelOutbound) error {
	e.Message.Text = strings.TrimRight(trimBlankLines(e.Message.Text), " \t\r\n")
	if e.Message.Text == "" && len(e.Message.Media) == 0 {
		return nil
	}
	at := now()
	added, err := o.store.Outbox.Put(ctx, store.Outbound{ID: id, NextAt: at, CreatedAt: at, Event: e})
	if err != nil || !added {
		return err
	}
	if l := o.senderOf(e.Channel, e.AccountID); l != nil {
		l.nudge()
	}
	return nil
}

// trimBlankLines removes the blank lines before a text and retains the indentation of its first
// line.
func trimBlankLines(s string) string {
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}
