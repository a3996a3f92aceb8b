package channel_test

import (
	"context"
	"errors"
	"testing"

	"fairlead/gateway/peer/polltest"
)

func TestSlowMessageOutlivesItsConnection(t *testing.T) {
	b, p := open(t)
	b.Set(t, "channels.pigeon", `{"dmPolicy":"open"}`)
	b.Begin()
	start(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := make(chan error, 1)
	go func() {
		_, err := p.Up("default").Inbound(ctx, directMessage("this goes slowly"))
		left <- err
	}()
	<-b.Slow
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	<-b.Slow
	polltest.Until(t, "the message is taken", func() bool { return len(b.Sent()) == 1 })
}
