package terminal

import (
	"context"
	"encoding/json"
	"net"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
)

// view serves a stream that shows a terminal, until either ends.
func view(ctx context.Context, conn net.Conn, d *display) error {
	v, err := d.addViewer()
	if err != nil {
		return err
	}
	defer d.removeViewer(v)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var reader crash.Group
	defer reader.Wait()
	defer conn.Close()
	reader.Go(func() {
		defer cancel()
		receive(ctx, conn, d)
	})
	err = d.send(ctx, v, func(kind byte, body []byte) error { return tunnel.WriteFrame(conn, kind, body) })
	if err == nil { // the gateway closes the stream after the last frame
		select {
		case <-ctx.Done():
		case <-time.After(lastLimit):
		}
	}
	return nil
}

// receive carries out what the viewer of a stream does, until the stream ends.
func receive(ctx context.Context, conn net.Conn, d *display) {
	isTyping := false
	setTyping := func(yes bool) {
		if yes == isTyping {
			return
		}
		isTyping = yes
		if yes {
			d.typing(1)
		} else {
			d.typing(-1)
		}
	}
	defer setTyping(false)
	for {
		kind, body, err := tunnel.ReadFrame(conn, protocol.MaxTerminalFrame)
		if err != nil {
			return
		}
		switch kind {
		case protocol.TerminalInput:
			d.enter(ctx, body)
		case protocol.TerminalResize:
			var size protocol.TerminalSize
			if json.Unmarshal(body, &size) == nil {
				d.resize(size)
			}
		case protocol.TerminalTakeOver:
			setTyping(true)
		case protocol.TerminalGiveBack:
			setTyping(false)
		}
	}
}
