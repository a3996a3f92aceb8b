package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestWhoAsksTooEarlyIsToldWhyAndIsServedLater(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, end := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		NotYet(ctx, l, func() *protocol.Error {
			return protocol.Updating{Step: 2, Steps: 3, Percent: 40}.Error("step 2 of 3, about 40 %")
		})
		close(over)
	}()
	downs := make(chan error, 100)
	up := make(chan struct{}, 1)
	c := client.New(client.Options{
		URL: "ws://" + l.Addr().String() + "/ws", Token: token,
		Connect: func() protocol.ConnectParams {
			return protocol.ConnectParams{MinProtocol: 1, Client: protocol.ClientInfo{ID: "early", Mode: protocol.ModeClient}}
		},
		OnUp:   func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
		OnDown: func(err error) { downs <- err },
	})
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(running) }()
	err = <-downs
	if u, ok := protocol.UpdatingOf(err); !ok || u != (protocol.Updating{Step: 2, Steps: 3, Percent: 40}) || !errors.Is(err, protocol.ErrUnavailable) {
		t.Errorf("told %v", err)
	}
	res, err := http.Get("http://" + l.Addr().String() + "/health")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if want := "the store is being updated: step 2 of 3, about 40 %. Try again in a moment; nothing is lost\n"; res.StatusCode != 503 || string(body) != want {
		t.Errorf("health: %d %q", res.StatusCode, body)
	}
	// a silent connection blocks nothing
	open, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	end()
	<-over

	serveOn(t, newFakes(), l)
	c.Probe("the gateway is there")
	<-up
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
