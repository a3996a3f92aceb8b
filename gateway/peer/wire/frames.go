package wire

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/crash"
)

// framePing is the interval of the pings of the side that calls [Frames.KeepAlive], and frameSilence
// is the time after which a connection from which nothing came is lost.
const (
	framePing    = 20 * time.Second
	frameSilence = 60 * time.Second
)

// Frames are the messages of a WebSocket of which each is a byte, the kind, and a body, such as the
// frames of a terminal. One goroutine may read; writing is safe for concurrent use.
type Frames struct {
	ws *websocket.Conn
	mu sync.Mutex // one message at a time
}

// NewFrames returns the frames over a WebSocket, of which nothing else reads or writes any more. The
// largest message has most bytes.
func NewFrames(ws *websocket.Conn, most int64) *Frames {
	f := &Frames{ws: ws}
	ws.SetReadLimit(most)
	alive := func() error { return ws.SetReadDeadline(time.Now().Add(frameSilence)) }
	ws.SetPongHandler(func(string) error { return alive() })
	answer := ws.PingHandler()
	ws.SetPingHandler(func(text string) error { return errors.Join(alive(), answer(text)) })
	alive()
	return f
}

// KeepAlive pings the other side until ctx ends. One side calls it, in a goroutine of its own.
func (f *Frames) KeepAlive(ctx context.Context) {
	tick := time.NewTicker(framePing)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if Ping(f.ws) != nil {
				return
			}
		}
	}
}

// Read waits for the next frame. Text messages and empty ones are skipped.
func (f *Frames) Read() (kind byte, body []byte, err error) {
	for {
		form, data, err := f.ws.ReadMessage()
		if err != nil {
			return 0, nil, err
		}
		f.ws.SetReadDeadline(time.Now().Add(frameSilence))
		if form == websocket.BinaryMessage && len(data) > 0 {
			return data[0], data[1:], nil
		}
	}
}

// Write sends a frame. It fails if the other side does not read for [WriteLimit]; then the
// connection is unusable.
func (f *Frames) Write(kind byte, body []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ws.SetWriteDeadline(time.Now().Add(WriteLimit))
	w, err := f.ws.NextWriter(websocket.BinaryMessage)
	if err != nil {
		return err
	}
	if _, err = w.Write([]byte{kind}); err == nil {
		_, err = w.Write(body)
	}
	return errors.Join(err, w.Close())
}

// Close closes the connection. It interrupts Read and Write.
func (f *Frames) Close() error {
	crash.Go(func() { // a peer that does not read must not delay it
		f.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(closeLimit))
		f.ws.Close()
	})
	return nil
}
