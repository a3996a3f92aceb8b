package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
)

// Limits of pairing conversations, which unauthenticated devices can open.
const (
	maxPairings     = 32
	maxPairingsHost = 4
	// stepLimit is the time in which the device must complete one step.
	stepLimit = 20 * time.Second
	// pairLimit is the longest duration of a conversation; the person's decision takes most of it.
	pairLimit = 6 * time.Minute
)

// network serves the paths that only the network listener has, and reports whether it did. It
// refuses web pages: programs do not send an Origin header.
func (s *Server) network(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case r.Header.Get("Origin") != "":
		bearer.Fail(w, http.StatusForbidden, protocol.NewFault(protocol.FaultForbidden, "web pages may not connect"))
	case r.URL.Path == pake.Path && websocket.IsWebSocketUpgrade(r):
		s.pair(w, r)
	default:
		return false
	}
	return true
}

// originOf returns where a request comes from. ok is false when its TLS session has no unique binding.
func originOf(r *http.Request, trusted *auth.Principal) (from origin, ok bool) {
	from = origin{trusted: trusted, remote: host(r)}
	if r.TLS == nil {
		return from, true
	}
	var err error
	from.binding, err = identity.Binding(*r.TLS)
	return from, err == nil
}

func host(r *http.Request) string {
	h, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return h
}

// pair runs a pairing conversation (docs/protocol.md#pairing).
func (s *Server) pair(w http.ResponseWriter, r *http.Request) {
	from := host(r)
	if !s.pairing.acquire(from) {
		http.Error(w, "too many devices are being paired: try again in a minute", http.StatusTooManyRequests)
		return
	}
	defer s.pairing.release(from)
	if !s.conns.workers.Begin() {
		http.Error(w, "the gateway stops", http.StatusServiceUnavailable)
		return
	}
	defer s.conns.workers.Done()
	ws, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has sent the response
	}
	defer ws.Close()
	ws.SetReadLimit(pake.MaxMessage)
	ctx, cancel := context.WithTimeout(s.conns.workers.Context(), pairLimit)
	defer cancel()
	stop := crash.WhenDone(ctx, func() { ws.Close() })
	defer stop()
	gone, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	p := &pairTransport{ws: ws, messages: make(chan []byte), ctx: gone, disconnect: lost}
	var reader crash.Group
	reader.Go(p.read)
	err = s.services.Devices.Pair(s.conns.workers.Context(), gone, p, from)
	slog.Info("Pairing finished", "from", from, "err", err)
	ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(closeLimit))
	lost(nil)
	ws.SetReadDeadline(time.Now()) // ends the reader
	reader.Wait()
}

// pairingLimit limits the pairing conversations, in total and of each host.
type pairingLimit struct {
	mu    sync.Mutex // guards the fields below
	total int
	hosts map[string]int
}

// acquire counts a conversation; it returns false when there are too many.
func (l *pairingLimit) acquire(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= maxPairings || l.hosts[host] >= maxPairingsHost {
		return false
	}
	l.total++
	l.hosts[host]++
	return true
}

func (l *pairingLimit) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

// pairTransport is a [pake.Transport] over a WebSocket. One goroutine reads all the time, so that
// a device that disconnects is noticed while the person decides.
type pairTransport struct {
	ws         *websocket.Conn
	messages   chan []byte
	ctx        context.Context
	disconnect context.CancelCauseFunc
}

func (p *pairTransport) read() {
	for {
		_, data, err := p.ws.ReadMessage()
		if err != nil {
			p.disconnect(fmt.Errorf("the device left: %w", err))
			return
		}
		select {
		case p.messages <- data:
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *pairTransport) Send(m pake.Message) error {
	p.ws.SetWriteDeadline(time.Now().Add(stepLimit))
	return p.ws.WriteJSON(m)
}

func (p *pairTransport) Receive() (pake.Message, error) {
	timer := time.NewTimer(stepLimit)
	defer timer.Stop()
	select {
	case data := <-p.messages:
		return pake.DecodeMessage(data)
	case <-p.ctx.Done():
		return pake.Message{}, context.Cause(p.ctx)
	case <-timer.C:
		return pake.Message{}, errors.New("the device took too long")
	}
}
