package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

func TestInvalidAddressIsNotRetried(t *testing.T) {
	for _, address := range []string{"", "http://127.0.0.1:8787/ws", "127.0.0.1:8787", "ws://", "ws://%zz/ws", "box"} {
		var final *FinalError
		if err := New(Options{URL: address, Connect: hello}).Run(t.Context()); !errors.As(err, &final) || !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%q: got %v; want an error of type *FinalError and error ErrBadRequest", address, err)
		}
	}
}

func TestCallsMeetTheirAnswersAndEventsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := make(map[string]bool)
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			var waiting []protocol.Request
			for len(waiting) < 3 {
				r, ok := p.request()
				if !ok {
					return
				}
				if ids[r.ID] {
					t.Errorf("id %s came twice", r.ID)
				}
				ids[r.ID] = true
				waiting = append(waiting, r)
			}
			for i := range 100 {
				p.event(protocol.EventChat, protocol.ChatEvent{Text: fmt.Sprint(i)}, 0)
			}
			for i := len(waiting) - 1; i >= 0; i-- { // in reverse order
				var in protocol.ConfigGetParams
				json.Unmarshal(waiting[i].Params, &in)
				if in.Path == "bad" {
					p.refuse(waiting[i].ID, protocol.ErrNotFound.With("no such path"))
					continue
				}
				p.answer(waiting[i].ID, protocol.ConfigGetResult{Path: in.Path})
			}
			p.idle()
		})
		defer stop()
		var events []string
		up := make(chan protocol.ConnectResult, 1)
		c, quit := start(t, Options{
			Dial: dial, Token: "secret",
			OnUp: func(_ context.Context, r protocol.ConnectResult) { up <- r },
			OnEvent: func(e protocol.EventFrame) {
				var p protocol.ChatEvent
				json.Unmarshal(e.Payload, &p)
				events = append(events, p.Text)
			},
		})
		if r := <-up; r.Type != protocol.HelloOK || !c.Connected() {
			t.Errorf("hello = %+v, connected %v; want r.Type HelloOK and c.Connected", r, c.Connected())
		}
		var wg sync.WaitGroup
		for _, path := range []string{"a", "b", "bad"} {
			wg.Go(func() {
				r, err := Call(t.Context(), c, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
				if path == "bad" {
					if !errors.Is(err, protocol.ErrNotFound) || err.Error() != "no such path" {
						t.Errorf(`Call(bad) = %v; want error ErrNotFound and the error "no such path"`, err)
					}
				} else if err != nil || r.Path != path {
					t.Errorf("Call(%s) = %+v, %v; want no error and Path %v", path, r, err, path)
				}
			})
		}
		wg.Wait()
		if err := quit(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want error Canceled", err)
		}
		for i, e := range events {
			if e != fmt.Sprint(i) {
				t.Fatalf("event %d is %s, want its own number", i, e)
			}
		}
		if len(events) != 100 {
			t.Errorf("got %d events, want 100", len(events))
		}
	})
}

func TestTokenTravelsInConnectOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 1)
		dial, stop := listen(t, func(p peer, _ int) {
			r, _ := p.request()
			var in protocol.ConnectParams
			json.Unmarshal(r.Params, &in)
			got <- in.Auth.Token
			p.answer(r.ID, protocol.ConnectResult{})
			p.idle()
		})
		defer stop()
		_, quit := start(t, Options{Dial: dial, Token: "secret"})
		if token := <-got; token != "secret" {
			t.Errorf(`token = %q, want "secret"`, token)
		}
		quit()
	})
}

func TestCallsInFlightFailWhenTheConnectionDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, n int) {
			p.hello()
			if n == 1 {
				p.request()
				return // abrupt end
			}
			p.idle()
		})
		defer stop()
		var downs int
		c, quit := start(t, Options{Dial: dial, OnDown: func(error) { downs++ }})
		synctest.Wait()
		if _, err := Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("Call = %v, want error ErrUnavailable", err)
		}
		synctest.Wait()
		if _, err := Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("Call while disconnected = %v, want error ErrUnavailable", err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !c.Connected() || downs != 1 {
			t.Errorf("connected %v after %d downs, want connected after 1", c.Connected(), downs)
		}
		quit()
	})
}

func TestEndedContextLeavesTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			late, _ := p.request()
			r, _ := p.request()
			p.answer(late.ID, protocol.Status{Version: "late"})
			p.answer(r.ID, protocol.Status{Version: "2"})
			p.idle()
		})
		defer stop()
		c, quit := start(t, Options{Dial: dial})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Call(ctx, c, protocol.StatusGet, protocol.Empty{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call = %v, want error DeadlineExceeded", err)
		}
		if r, err := Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil || r.Version != "2" {
			t.Errorf(`Call = %+v, %v; want no error and Version "2"`, r, err)
		}
		quit()
	})
}

func TestReconnectsSlowerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Time
		_, quit := start(t, Options{Dial: func(context.Context) (net.Conn, error) {
			tries = append(tries, time.Now())
			return nil, errors.New("refused")
		}})
		time.Sleep(5 * time.Minute)
		quit()
		backoff := minBackoff
		for i := 1; i < len(tries); i++ {
			if wait := tries[i].Sub(tries[i-1]); wait < backoff/2 || wait > backoff {
				t.Errorf("pause %d is %s, want %s to %s", i, wait, backoff/2, backoff)
			}
			backoff = min(2*backoff, maxBackoff)
		}
		if len(tries) < 15 {
			t.Errorf("got %d tries in five minutes, want at least 15", len(tries))
		}
	})
}

func TestRefusalsAreFinal(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p peer)
		want error // nil: the client reconnects
	}{
		"401": {func(p peer) {
			r, _ := p.request()
			p.refuse(r.ID, protocol.ErrUnauthorized)
			p.close(protocol.CloseUnauthorized, "Unauthorized")
			p.idle()
		}, protocol.ErrUnauthorized},
		"4001 without an answer": {func(p peer) { p.request(); p.close(protocol.CloseUnauthorized, "Unauthorized"); p.idle() }, protocol.ErrUnauthorized},
		"4001 later":             {func(p peer) { p.hello(); p.close(protocol.CloseUnauthorized, "Unauthorized"); p.idle() }, protocol.ErrUnauthorized},
		"102":                    {func(p peer) { r, _ := p.request(); p.refuse(r.ID, protocol.ErrVersion); p.idle() }, protocol.ErrVersion},
		"103":                    {func(p peer) { r, _ := p.request(); p.refuse(r.ID, protocol.ErrInvalidConnect); p.idle() }, protocol.ErrInvalidConnect},
		"replaced":               {func(p peer) { p.hello(); p.close(1000, "Replaced by newer node connection"); p.idle() }, protocol.ErrConflict},
		"forgotten":              {func(p peer) { p.hello(); p.close(1000, "Forgotten from node registry"); p.idle() }, protocol.ErrConflict},
		"500":                    {func(p peer) { r, _ := p.request(); p.refuse(r.ID, protocol.ErrInternal); p.idle() }, nil},
		"going away":             {func(p peer) { p.hello(); p.close(websocket.CloseGoingAway, "the gateway is shutting down"); p.idle() }, nil},
		"no registry": {func(p peer) {
			p.hello()
			p.close(protocol.CloseNoRegistry, "Missing tool registry after rehydration")
			p.idle()
		}, nil},
		"plain close": {func(p peer) { p.hello(); p.close(1000, ""); p.idle() }, nil},
		"end":         {func(p peer) { p.hello() }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conns := 0
				dial, stop := listen(t, func(p peer, n int) {
					conns = n
					c.end(p)
				})
				defer stop()
				cl := New(Options{URL: "ws://memory/ws", Connect: hello, Dial: dial})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := cl.Run(ctx)
				var final *FinalError
				if c.want != nil && (!errors.As(err, &final) || !errors.Is(err, c.want) || conns != 1) {
					t.Errorf("Run = %v after %d connections, want %v", err, conns, c.want)
				}
				if c.want == nil && (!errors.Is(err, context.DeadlineExceeded) || conns < 2) {
					t.Errorf("Run = %v after %d connections, want it to go on", err, conns)
				}
			})
		})
	}
}

func TestDeadPeerIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		dial, stop := listen(t, func(p peer, n int) {
			p.hello()
			<-release // neither reads nor answers pings
		})
		defer stop()
		began := time.Now()
		down := make(chan time.Duration, 10)
		_, quit := start(t, Options{Dial: dial, OnDown: func(error) { down <- time.Since(began) }})
		if after := <-down; after > 46*time.Second {
			t.Errorf("noticed after %s, want at most 46 s", after)
		}
		close(release)
		quit()
	})
}

func TestIdleConnectionStaysUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pongs atomic.Int32
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			p.SetPongHandler(func(string) error { pongs.Add(1); return nil })
			go func() {
				for p.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)) == nil {
					time.Sleep(time.Minute)
				}
			}()
			p.idle()
		})
		defer stop()
		c, quit := start(t, Options{Dial: dial, OnDown: func(err error) { t.Errorf("down: %v", err) }})
		time.Sleep(time.Hour)
		if !c.Connected() || pongs.Load() < 55 {
			t.Errorf("connected %v, %d pings answered; want connected, and at least 55", c.Connected(), pongs.Load())
		}
		quit()
		stop()
		time.Sleep(2 * time.Minute) // the pinging goroutine notices the end
	})
}

func TestTooLargeRequestIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			p.idle()
		})
		defer stop()
		c, quit := start(t, Options{Dial: dial})
		synctest.Wait()
		_, err := Call(t.Context(), c, protocol.ChatSend, protocol.ChatSendParams{Message: strings.Repeat("x", protocol.MaxReadFrame)})
		if !errors.Is(err, protocol.ErrTooLarge) || !c.Connected() {
			t.Errorf("Call = %v, connected %v; want error ErrTooLarge and Connected", err, c.Connected())
		}
		quit()
	})
}

func TestOddFramesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			r, _ := p.request()
			for _, odd := range []string{"{", `{"type":"new"}`, `{"type":"res","id":"999","ok":true}`, `{"type":"req","id":"1","method":"x"}`} {
				p.WriteMessage(websocket.TextMessage, []byte(odd))
			}
			p.WriteMessage(websocket.BinaryMessage, []byte{1, 2, 3, 4, 5})
			p.answer(r.ID, protocol.Status{Version: "1"})
			p.idle()
		})
		defer stop()
		c, quit := start(t, Options{Dial: dial, OnDown: func(err error) { t.Errorf("down: %v", err) }})
		synctest.Wait()
		if r, err := Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil || r.Version != "1" {
			t.Errorf(`Call = %+v, %v; want no error and Version "1"`, r, err)
		}
		quit()
	})
}
