package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// maxInFlight limits the requests of one connection that run at once. A further request waits for
// at most slotWait and is then refused, so that a peer whose calls all wait for the person can
// still send an answer.
const (
	maxInFlight = 256
	slotWait    = time.Second
)

// maxError is the longest error, in bytes, that is sent to a peer; a node's error may be as long as
// a frame.
const maxError = 1 << 20

// request is a request in progress.
type request struct {
	protocol.Request
	conn  *Conn
	after []func() // run in order once the response is queued
	// beforeResponse, if set, delays the response to a request that succeeded, but not the next
	// request. The response is its error, if it returns one.
	beforeResponse func(context.Context) error
}

// afterResponse registers f to run once the response is queued.
func (r *request) afterResponse(f func()) { r.after = append(r.after, f) }

// by returns the principal of the peer as the journal and the audit log name it.
func (r *request) by() string { return r.conn.peer().principal.String() }

// accept starts a request. Requests of one peer run concurrently, but the messages of one chat run
// one after the other, in the order of arrival. So do all reports of a node, which never block:
// progress must not overtake a result.
func (c *Conn) accept(req protocol.Request) {
	if !c.countRequest(req) {
		return
	}
	if req.Method == protocol.Connect.Name || !c.socket.isConnected() || c.peer().client.Mode == protocol.ModeNode {
		before := c.socket.isConnected()
		c.serve(req)
		c.socket.extendDeadline() // the first time after the handshake
		if !before && c.socket.isConnected() {
			c.requests = bucket{rateLimit: c.rateLimit(), last: time.Now()}
		}
		return
	}
	if chat, ordered := c.chatOfRequest(req); ordered {
		ticket := c.chats.Take(chat)
		if !c.workers.start(func() {
			ticket.Wait()
			defer ticket.Release()
			c.serve(req)
		}) {
			c.refuse(req)
			c.wg.Go(func() { // the next message of the chat still waits for the previous ones
				ticket.Wait()
				ticket.Release()
			})
		}
	} else if !c.workers.start(func() { c.serve(req) }) {
		c.refuse(req)
	}
}

// refuse answers a request for which no worker became idle.
func (c *Conn) refuse(req protocol.Request) {
	c.respond(req.ID, nil, protocol.ErrUnavailable.With(fmt.Sprintf("%d requests of this connection are under way already", maxInFlight)))
}

// chatOfRequest returns the chat to which a request writes a message; for a channel, the
// conversation there. A message may take long, because a file is fetched or a recording is
// transcribed; that delays its own chat only.
func (c *Conn) chatOfRequest(req protocol.Request) (chat string, writes bool) {
	var in struct {
		SessionKey protocol.SessionKey `json:"sessionKey"`
		Peer       struct {
			ID string `json:"id"`
		} `json:"peer"`
	}
	switch req.Method {
	case protocol.ChatSend.Name:
		_ = json.Unmarshal(req.Params, &in) // invalid parameters are refused in order, too
		return string(c.server.services.Sessions.Canonical(in.SessionKey)), true
	case protocol.ChannelInbound.Name:
		_ = json.Unmarshal(req.Params, &in)
		return strings.ToLower(in.Peer.ID), true
	}
	return "", false
}

// workers run the requests of a connection. They live as long as the connection: the stack of a new
// goroutine would grow again with every request. Only the connection's reader calls start.
type workers struct {
	ctx   context.Context // of the connection
	wg    *crash.Group    // likewise
	count int
	jobs  chan func() // to an idle worker
}

// start runs a job on an idle worker, or on a new one. It returns false if all maxInFlight workers
// stay busy for slotWait.
func (w *workers) start(job func()) bool {
	select {
	case w.jobs <- job:
		return true
	default:
	}
	if w.count < maxInFlight {
		w.count++
		w.wg.Go(func() { w.work(job) })
		return true
	}
	timer := time.NewTimer(slotWait)
	defer timer.Stop()
	select {
	case w.jobs <- job:
		return true
	case <-w.ctx.Done():
	case <-timer.C:
	}
	return false
}

// work runs a job and those that follow, until the connection closes.
func (w *workers) work(job func()) {
	for {
		job()
		select {
		case job = <-w.jobs:
		case <-w.ctx.Done():
			return
		}
	}
}

// answerBadFrame answers an unreadable frame when its ID is known, so that its sender does not
// wait. Of the frames without an ID, the first is logged and none is answered: the protocol has no
// frame for that. The socket stays open.
func (c *Conn) answerBadFrame(err error) {
	var bad *protocol.FrameError
	if errors.As(err, &bad) && bad.ID != "" {
		c.respond(bad.ID, nil, protocol.ErrBadRequest.With(bad.Error()))
		return
	}
	if c.hasWarned {
		return
	}
	c.hasWarned = true
	slog.Warn("A frame could not be read", "conn", c.id, "remote", c.origin.remote, "err", err)
}

// serve answers one request.
func (c *Conn) serve(req protocol.Request) {
	r := &request{Request: req, conn: c}
	frame, err := r.answer(c.socket.ctx)
	respond := func(err error) {
		c.respond(req.ID, frame, err)
		for _, f := range r.after {
			crash.Run("after "+req.Method, f)
		}
	}
	if err == nil && r.beforeResponse != nil {
		c.wg.Go(func() { respond(r.beforeResponse(c.socket.ctx)) })
		return
	}
	respond(err)
}

// respond sends the response to the request with the given ID.
func (c *Conn) respond(id string, result []byte, err error) {
	if result, err = encodeResponse(id, result, err); err != nil {
		slog.Error("An error could not be sent", "conn", c.id, "err", err)
		return
	}
	c.socket.send(c.socket.ctx, result)
}

// encodeResponse returns the response frame with the result, or with the error.
func encodeResponse(id string, result []byte, err error) ([]byte, error) {
	if err == nil && len(result) > protocol.MaxWriteFrame {
		err = tooLargeError("the answer", len(result), "ask for a part of it")
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

func tooLargeError(what string, size int, advice string) error {
	return protocol.ErrTooLarge.With(fmt.Sprintf("%s is too large to be sent (%s); %s", what, format.Size(int64(size)), advice))
}

// answer runs a request and encodes its result. A panic fails the request, not the gateway.
func (r *request) answer(ctx context.Context) (frame []byte, err error) {
	defer func() {
		if crashed, ok := errors.AsType[*crash.Error](err); ok {
			err = protocol.ErrInternal.With(crashed.Error())
		}
	}()
	defer crash.Recover(&err, r.Method, "conn", r.conn.id)
	payload, err := r.dispatch(ctx)
	if err == nil {
		frame, err = protocol.EncodeResult(r.ID, payload)
	}
	return frame, err
}

// dispatch checks whether the peer may call the method, and calls it.
func (r *request) dispatch(ctx context.Context) (any, error) {
	if r.Method == protocol.Connect.Name {
		return r.connect(ctx)
	}
	if !r.conn.socket.isConnected() {
		return nil, protocol.ErrNotConnected
	}
	h, err := r.handler()
	if err != nil {
		return nil, err
	}
	return h(ctx, r, r.Params)
}

// handler returns the handler of the method, if the peer may call it.
func (r *request) handler() (handler, error) {
	info, ok := protocol.MethodByName(r.Method)
	h := r.conn.server.methods[r.Method]
	if !ok || h == nil {
		return nil, brief(protocol.ErrNotFound.With("Unknown method: " + r.Method))
	}
	mode := r.conn.peer().client.Mode
	if !slices.Contains(info.Modes, mode) || !r.conn.peer().principal.Has(info.Right(mode)) {
		return nil, protocol.ErrForbidden.With("Method " + r.Method + " not allowed for mode")
	}
	return h, nil
}
