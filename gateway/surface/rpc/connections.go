package rpc

import (
	"context"
	"sync"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Connections are the open connections of a server, and the work that it does beside them. It is safe
// for concurrent use.
type Connections struct {
	workers *crash.Workers // connections and background calls

	mu      sync.Mutex // guards the fields below
	conns   map[*Conn]struct{}
	tunnels map[*websocket.Conn]protocol.DeviceID // the connections for streams of paired devices
}

// NewConnections returns no connections yet. They are for one server.
func NewConnections() *Connections {
	return &Connections{workers: crash.NewWorkers(), conns: make(map[*Conn]struct{}), tunnels: make(map[*websocket.Conn]protocol.DeviceID)}
}

// remove removes a connection that has closed.
func (s *Connections) remove(c *Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.workers.Done()
}

// add adds a connection, for which close waits, until remove. It returns false when they are
// closed.
func (s *Connections) add(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.workers.Begin() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

// background runs f on its own goroutine, until Close. It returns false after it.
func (s *Connections) background(f func(context.Context)) bool {
	return s.workers.Start(func() { f(s.workers.Context()) })
}

// closeAll closes the connections for which which returns true. It does not wait for them.
func (s *Connections) closeAll(code int, reason string, which func(*Conn) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if which(c) {
			s.workers.Go(func() { c.socket.Close(code, reason) })
		}
	}
}

// replaceClient closes all but the newest connection with the same client ID and the same device,
// as GSV does by the ID alone. A peer chooses its ID freely, so a paired device must not be able to
// close the person's window.
func (s *Connections) replaceClient(now *Conn) {
	isSame := func(c *Conn) bool {
		return c.peer().isClient(now.peer().client.ID) && c.peer().principal.Device == now.peer().principal.Device
	}
	newest := now
	s.mu.Lock()
	for c := range s.conns {
		if isSame(c) && c.sequence > newest.sequence { // now was abandoned by its sender before c connected
			newest = c
		}
	}
	s.mu.Unlock()
	s.closeAll(protocol.CloseReplaced, "Replaced by newer client connection", func(c *Conn) bool { return isSame(c) && c.sequence < newest.sequence })
}

// CloseDevice closes every connection of a device. It does not wait for them.
func (s *Connections) CloseDevice(id protocol.DeviceID, code int, reason string) {
	s.closeAll(code, reason, func(c *Conn) bool { return c.socket.isConnected() && c.peer().principal.Device == id })
	s.mu.Lock()
	defer s.mu.Unlock()
	for ws, device := range s.tunnels {
		if device == id {
			ws.Close()
		}
	}
}

// addTunnel registers a device's connection for streams until remove is called.
func (s *Connections) addTunnel(ws *websocket.Conn, device protocol.DeviceID) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tunnels[ws] = device
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.tunnels, ws)
	}
}

// close closes every connection, ends the context of all work, and waits for it.
func (s *Connections) close() {
	s.workers.Stop(nil)
	s.closeAll(websocket.CloseGoingAway, "the gateway stops", func(*Conn) bool { return true })
	s.workers.Wait()
}
