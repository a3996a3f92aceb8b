package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// maxInFlight is how many requests of one connection run at once. A further one waits slotWait for its turn and is refused then: a peer whose
// calls all wait for the person must still be able to answer.
const (
	maxInFlight = 256
	slotWait    = time.Second
)

// maxError is how many bytes of an error a peer is told; a node's error may be as long as a frame.
const maxError = 1 << 20

// accept starts a request. Requests of one peer run beside each other, but chat.send and channel.inbound one after the other, as they were
// sent; so does all that a node reports, which never blocks: progress must not overtake a result.
func (c *Conn) accept(req protocol.Request) {
	if !c.allowed(req) {
		return
	}
	if req.Method == protocol.Connect.Name || !c.connected() || c.mode() == protocol.ModeNode {
		before := c.connected()
		c.serve(req)
		c.alive() // the first time after the handshake
		if !before && c.connected() {
			c.requests = bucket{rate: c.limit(), last: time.Now()}
		}
		return
	}
	if !c.slot() {
		c.respond(req.ID, nil, protocol.ErrUnavailable.With(fmt.Sprintf("%d requests of this connection are under way already", maxInFlight)))
		return
	}
	var before <-chan struct{}
	done := make(chan struct{})
	if req.Method == protocol.ChatSend.Name || req.Method == protocol.ChannelInbound.Name {
		before, c.lastChat = c.lastChat, done
	}
	c.wg.Add(1)
	c.srv.crew.do(func() {
		defer c.wg.Done()
		defer func() { <-c.slots }()
		defer close(done)
		if before != nil {
			<-before
		}
		c.serve(req)
	})
}

func (c *Conn) slot() bool {
	select {
	case c.slots <- struct{}{}:
		return true
	default:
	}
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
	case <-timer.C:
	}
	return false
}

// badFrame tells the peer about a frame that could not be read: by the response it waits for when its id is known, else by an event. The
// socket stays open.
func (c *Conn) badFrame(err error) {
	var bad *protocol.FrameError
	if errors.As(err, &bad) && bad.ID != "" {
		c.respond(bad.ID, nil, protocol.ErrBadRequest.With(bad.Error()))
		return
	}
	if frame, err := protocol.EncodeEvent(protocol.EventError, protocol.ErrBadRequest.With(err.Error()), 0); err == nil {
		c.send(c.ctx, frame)
	}
}

// serve answers one request.
func (c *Conn) serve(req protocol.Request) {
	after := []func(){}
	ctx := context.WithValue(c.ctx, afterKey{}, &after)
	frame, err := c.answer(ctx, req)
	if req.Method == protocol.ReturnResult.Name {
		runtime.Gosched() // whoever waits for the result goes before the node's receipt
	}
	c.respond(req.ID, frame, err)
	for _, f := range after {
		f()
	}
}

// respond sends the response to the request with the id.
func (c *Conn) respond(id string, result []byte, err error) {
	if err == nil && len(result) > protocol.MaxWriteFrame {
		err = tooLarge("the answer", len(result))
	}
	if err != nil {
		e := protocol.AsError(err)
		if len(e.Message)+len(e.Details) > maxError {
			e = e.With(e.Message[:min(len(e.Message), maxError)] + "…")
			e.Message, e.Details = strings.ToValidUTF8(e.Message, ""), nil
		}
		if result, err = protocol.EncodeError(id, e); err != nil {
			slog.Error("An error could not be sent", "conn", c.id, "err", err)
			return
		}
	}
	c.send(c.ctx, result)
}

func tooLarge(what string, size int) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MiB, at most %d can be sent; ask for a part of it", what, float64(size)/(1<<20), protocol.MaxWriteFrame>>20))
}

type afterKey struct{}

// afterResponse has f run once the response of ctx's request is queued.
func afterResponse(ctx context.Context, f func()) {
	if list, ok := ctx.Value(afterKey{}).(*[]func()); ok {
		*list = append(*list, f)
	}
}

// answer runs a request and encodes its result. A panic is the request's failure, not the gateway's.
func (c *Conn) answer(ctx context.Context, req protocol.Request) (frame []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("A method panicked", "method", req.Method, "err", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = protocol.ErrInternal.With("internal error in " + req.Method + "; the log has more")
		}
	}()
	payload, err := c.dispatch(ctx, req)
	if err == nil {
		frame, err = protocol.EncodeResult(req.ID, payload)
	}
	return frame, err
}

// dispatch checks who may call what (gsv interop notes, dispatch rules), and calls it.
func (c *Conn) dispatch(ctx context.Context, req protocol.Request) (any, error) {
	if req.Method == protocol.Connect.Name {
		return c.connect(ctx, req.Params)
	}
	if !c.connected() {
		return nil, protocol.ErrNotConnected
	}
	info, ok := protocol.MethodByName(req.Method)
	h := c.srv.methods[req.Method]
	if !ok || h == nil {
		return nil, protocol.ErrNotFound.With("Unknown method: " + req.Method)
	}
	p := c.who()
	if !slices.Contains(info.Modes, c.mode()) || !p.Has(info.Scope) {
		return nil, protocol.ErrForbidden.With("Method " + req.Method + " not allowed for mode")
	}
	return h(ctx, c, req.Params)
}
