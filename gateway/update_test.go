package gateway

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/porttest"
	"fairlead/gateway/store/storetest"
)

func TestWhoAsksDuringAnUpdateOfTheStoreIsToldSoAndServedAfterwards(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home := t.TempDir()
	storetest.Old(t, filepath.Join(home, "fairlead.db"), protocol.MainSession, 30)
	listen := porttest.Free(t)
	began, goOn := make(chan Progress, 10), make(chan struct{})
	type opened struct {
		g   *Gateway
		err error
	}
	done := make(chan opened, 1)
	go func() {
		g, err := Open(t.Context(), Options{Home: home, Listen: listen, Logger: slog.New(slog.DiscardHandler), Updating: func(p Progress) {
			began <- p
			<-goOn
		}})
		done <- opened{g, err}
	}()
	if p := <-began; p.String() != "step 1 of 3, about 0 %" {
		t.Errorf("told %q", p)
	}
	down, up := make(chan error, 100), make(chan struct{}, 1)
	var token string
	c := client.New(client.Options{
		URL:     "ws://" + listen + "/ws",
		Connect: func() protocol.ConnectParams { return ClientParams("early") },
		Auth:    func(net.Conn) (*protocol.Auth, error) { return &protocol.Auth{Token: token}, nil },
		OnUp:    func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
		OnDown:  func(err error) { down <- err },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	err := <-down
	if u, ok := protocol.UpdatingOf(err); !ok || u.Steps != 3 {
		t.Errorf("told %v", err)
	}
	cancel()
	<-ran

	close(goOn)
	o := <-done
	if o.err != nil {
		t.Fatal(o.err)
	}
	defer o.g.Close(context.Background())
	token = o.g.tokens.Current().Reveal()
	ctx, cancel = context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- o.g.Run(ctx) }()
	later, stop := context.WithCancel(t.Context())
	go func() { ran <- c.Run(later) }()
	<-up
	r, err := client.Call(t.Context(), c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession})
	if err != nil || r.MessageCount != 30 {
		t.Errorf("%d messages, %v", r.MessageCount, err)
	}
	stop()
	<-ran
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
