package gateway

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/store"
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

func TestPairedMachinesAreToldOfAnUpdateOfTheStore(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home, listen := t.TempDir(), porttest.Free(t)
	path := filepath.Join(home, "fairlead.db")
	st, err := store.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	where, err := json.Marshal(listen)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.PutSetting(t.Context(), "network.enabled", json.RawMessage("true")), st.PutSetting(t.Context(), "network.listen", where), st.Close()); err != nil {
		t.Fatal(err)
	}
	storetest.Old(t, path, protocol.MainSession, 3)
	began, goOn := make(chan Progress, 10), make(chan struct{})
	opened := make(chan *Gateway, 1)
	go func() {
		g, err := Open(t.Context(), Options{Home: home, Listen: "none", Logger: slog.New(slog.DiscardHandler), Updating: func(p Progress) {
			began <- p
			<-goOn
		}})
		if err != nil {
			t.Error(err)
		}
		opened <- g
	}()
	<-began
	down := make(chan error, 10)
	c := client.New(client.Options{
		URL:     "ws://" + listen + "/ws",
		Connect: func() protocol.ConnectParams { return ClientParams("laptop") },
		OnDown:  func(err error) { down <- err },
		Dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			for {
				conn, err := d.DialContext(ctx, "tcp", listen)
				if err == nil {
					// other tests check the certificate
					return tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}), nil
				}
				if ctx.Err() != nil {
					return nil, err
				}
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- c.Run(ctx) }()
	if err := <-down; !isUpdating(err) {
		t.Errorf("a paired machine hears %v", err)
	}
	cancel()
	<-ran
	close(goOn)
	g := <-opened
	if g == nil {
		return
	}
	defer g.Close(context.Background())
	l, err := net.Listen("tcp", listen) // the address is free for the gateway itself
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func isUpdating(err error) bool {
	_, ok := protocol.UpdatingOf(err)
	return ok
}
