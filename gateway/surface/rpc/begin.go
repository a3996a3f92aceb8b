package rpc

import (
	"log/slog"
	"sync"

	"fairlead/gateway/dispatch"
	"fairlead/gateway/protocol"
)

// maxBegin is the size limit, in bytes, of parameters that are parsed on the reader, where other
// requests of the connection wait.
const maxBegin = 64 << 10

// begin starts a tool.invoke on the reader, which then continues to read. For a read-only tool,
// waking one goroutine that waits for the node, and another when the node answers, would cost more
// than all the rest. It returns false for a call that needs a goroutine of its own.
func (c *Conn) begin(req protocol.Request) (begun bool) {
	defer func() {
		if r := recover(); r != nil {
			begun = true
			c.respond(req.ID, nil, panicked(req.Method, r))
		}
	}()
	var p protocol.ToolInvokeParams
	if len(req.Params) == 0 || len(req.Params) > maxBegin || protocol.Decode(req.Params, &p) != nil || p.Tool == "" {
		return false
	}
	if _, err := c.permit(req.Method); err != nil {
		return false
	}
	select {
	case c.slots <- struct{}{}:
	default:
		return false
	}
	c.wg.Add(1)
	leave := sync.OnceFunc(func() {
		<-c.slots
		c.wg.Done()
	})
	defer func() {
		if !begun {
			leave()
		}
	}()
	done := func(res dispatch.Result, err error) {
		var frame []byte
		raw, err := answerOf(res, err)
		if err == nil {
			frame, err = protocol.EncodeResult(req.ID, protocol.ToolInvokeResult{Result: raw})
		}
		if frame, err = checked(req.ID, frame, brief(err)); err != nil {
			slog.Error("An error could not be sent", "conn", c.id, "err", err)
		}
		if err != nil || c.srv.held.hold(c.out, frame) {
			leave()
			return
		}
		c.srv.crew.do(func() {
			defer leave()
			c.send(c.ctx, frame)
		})
	}
	return c.srv.s.Tools.Start(c.ctx, c.who(), c.own(dispatch.Call{Tool: p.Tool, Args: p.Args}), c.srv.beside, done)
}

// beside runs f, which may block, on another goroutine.
func (s *Server) beside(f func()) {
	s.crew.do(func() {
		defer s.held.flush()
		f()
	})
}
