package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/turn"
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

// accept starts a request. Requests of one peer run beside each other, but the messages of one chat one after the other, as they were sent; so does
// all that a node reports, which never blocks: progress must not overtake a result.
func (c *Conn) accept(req protocol.Request) {
	switch {
	case !c.allowed(req):
		return
	case req.Method == protocol.InvokeTool.Name && c.connected() && c.mode() != protocol.ModeNode && c.begin(req):
		return
	case req.Method != protocol.ReturnResult.Name:
		c.srv.held.flush() // what comes now may wait
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
	var t turn.Turn
	chat, inTurn := c.chatOf(req)
	if inTurn {
		t = c.chats.Take(chat)
	}
	c.wg.Add(1)
	c.srv.crew.do(func() {
		defer c.wg.Done()
		defer func() { <-c.slots }()
		if inTurn {
			t.Wait()
			defer t.End()
		}
		c.serve(req)
	})
}

// chatOf names the chat in which a request writes a message: of a channel the conversation there. A message may take its time, because a file of it is
// fetched or a recording is transcribed; that holds up its own chat alone.
func (c *Conn) chatOf(req protocol.Request) (chat string, writes bool) {
	var in struct {
		SessionKey protocol.SessionKey `json:"sessionKey"`
		Peer       struct {
			ID string `json:"id"`
		} `json:"peer"`
	}
	switch req.Method {
	case protocol.ChatSend.Name:
		_ = json.Unmarshal(req.Params, &in) // what cannot be read is refused in its turn
		return string(c.srv.s.Canonical(in.SessionKey)), true
	case protocol.ChannelInbound.Name:
		_ = json.Unmarshal(req.Params, &in)
		return strings.ToLower(in.Peer.ID), true
	}
	return "", false
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

// badFrame answers a frame that could not be read when its id is known, so that its sender does not
// wait. Of those without an id the first is logged, and the peer hears nothing: the protocol has no
// frame for it. The socket stays open.
func (c *Conn) badFrame(err error) {
	var bad *protocol.FrameError
	if errors.As(err, &bad) && bad.ID != "" {
		c.respond(bad.ID, nil, protocol.ErrBadRequest.With(bad.Error()))
		return
	}
	if c.warned {
		return
	}
	c.warned = true
	slog.Warn("A frame could not be read", "conn", c.id, "remote", c.remote, "err", err)
}

// serve answers one request.
func (c *Conn) serve(req protocol.Request) {
	after := []func(){}
	ctx := context.WithValue(c.ctx, afterKey{}, &after)
	frame, err := c.answer(ctx, req)
	if req.Method == protocol.ReturnResult.Name && err == nil {
		// Whoever waits for the result goes before the node's receipt, which the node's next call may take along.
		if !c.out.SendSoon(frame) {
			c.srv.held.flush()
			c.send(c.ctx, frame)
		}
	} else {
		c.respond(req.ID, frame, err)
	}
	for _, f := range after {
		f()
	}
}

// respond sends the response to the request with the id.
func (c *Conn) respond(id string, result []byte, err error) {
	if result, err = checked(id, result, err); err != nil {
		slog.Error("An error could not be sent", "conn", c.id, "err", err)
		return
	}
	c.send(c.ctx, result)
}

// checked is the frame that answers a request: that of its result, or that of what went wrong.
func checked(id string, result []byte, err error) ([]byte, error) {
	if err == nil && len(result) > protocol.MaxWriteFrame {
		err = tooLarge("the answer", len(result), "ask for a part of it")
	}
	if err == nil {
		return result, nil
	}
	e := protocol.AsError(err)
	if len(e.Message)+len(e.Details) > maxError {
		e = e.With(e.Message[:min(len(e.Message), maxError)] + "…")
		e.Message, e.Details = strings.ToValidUTF8(e.Message, ""), nil
	}
	return protocol.EncodeError(id, e)
}

func tooLarge(what string, size int, advice string) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s has %.1f MiB, at most %d can be sent; %s", what, float64(size)/(1<<20), protocol.MaxWriteFrame>>20, advice))
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
			err = panicked(req.Method, r)
		}
	}()
	payload, err := c.dispatch(ctx, req)
	if err == nil {
		frame, err = protocol.EncodeResult(req.ID, payload)
	}
	return frame, err
}

// panicked logs a panic and words it for the peer.
func panicked(method string, r any) error {
	slog.Error("A method panicked", "method", method, "err", fmt.Sprint(r), "stack", string(debug.Stack()))
	return protocol.ErrInternal.With("internal error in " + method + "; the log has more")
}

// dispatch checks whether the peer may call the method, and calls it.
func (c *Conn) dispatch(ctx context.Context, req protocol.Request) (any, error) {
	if req.Method == protocol.Connect.Name {
		return c.connect(ctx, req.Params)
	}
	if !c.connected() {
		return nil, protocol.ErrNotConnected
	}
	h, err := c.permit(req.Method)
	if err != nil {
		return nil, err
	}
	return h(ctx, c, req.Params)
}

// permit returns what answers a method that the peer may call.
func (c *Conn) permit(method string) (handler, error) {
	info, ok := protocol.MethodByName(method)
	h := c.srv.methods[method]
	if !ok || h == nil {
		return nil, brief(protocol.ErrNotFound.With("Unknown method: " + method))
	}
	p := c.who()
	if !slices.Contains(info.Modes, c.mode()) || !p.Has(info.Right(c.mode())) {
		return nil, protocol.ErrForbidden.With("Method " + method + " not allowed for mode")
	}
	return h, nil
}
