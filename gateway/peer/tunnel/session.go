// Package tunnel carries streams over one connection: a node's tunnel, and the forwards of a client.
// The streams are those of yamux, with a window each: who does not read a stream delays no other. A
// stream begins with a header and an answer, one line of JSON each (docs/protocol.md#tunnels).
package tunnel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/libp2p/go-yamux/v5"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Limits of a session.
const (
	// MaxStreams limits the open streams of a session.
	MaxStreams = 256
	// maxWindow limits the bytes of a stream that wait for its reader. It is that of OpenSSH: a larger
	// one is faster over long distances, and costs as much memory for each stalled reader.
	maxWindow = 2 << 20
	// keepAlive is the interval of pings. A peer that does not answer one within writeLimit is gone.
	keepAlive  = 20 * time.Second
	writeLimit = 20 * time.Second
	// maxLine limits a header and an answer, in bytes.
	maxLine = 4 << 10
	// headerLimit is the time in which the header must arrive.
	headerLimit = 10 * time.Second
	// closeLimit is the time in which a peer that does not read gets the reason for the close.
	closeLimit = time.Second
)

// codeClosed is the code with which [Session.Close] ends a session for good.
const codeClosed = 1

// ErrClosed is the reason for the end of a session that the other side closed for good.
var ErrClosed = errors.New("closed by the other side")

// The failures of a stream. Compare with errors.Is; the text says more.
var (
	ErrUnreachable = &Error{protocol.NewFault(protocol.FaultTargetUnreachable, "the target does not answer")}
	ErrDenied      = &Error{protocol.NewFault(protocol.FaultPermissionDenied, "the machine does not allow this target")}
	ErrInvalid     = &Error{protocol.NewFault(protocol.FaultInvalidArgs, "the header is invalid")}
	ErrUnsupported = &Error{protocol.NewFault(protocol.FaultUnsupported, "this kind of stream is not supported")}
	ErrExhausted   = &Error{protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d connections are open already", MaxStreams))}
)

// Error is the failure of a stream. Two with the same code are the same to errors.Is.
type Error struct{ *protocol.Fault }

// Is implements the interface of [errors.Is].
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy with another text.
func (e *Error) With(text string) *Error {
	return &Error{protocol.NewFault(e.Code, text)}
}

// Session carries streams over a connection. It is safe for concurrent use.
type Session struct {
	conn net.Conn
	mux  *yamux.Session
}

// NewOpener returns the session of the side that opens streams. It owns the connection.
func NewOpener(conn net.Conn) *Session { return newSession(conn, yamux.Client) }

// NewAcceptor returns the session of the side that accepts streams with [Session.Serve]. It owns the
// connection.
func NewAcceptor(conn net.Conn) *Session { return newSession(conn, yamux.Server) }

func newSession(conn net.Conn, open func(net.Conn, *yamux.Config, func() (yamux.MemoryManager, error)) (*yamux.Session, error)) *Session {
	c := yamux.DefaultConfig()
	c.MaxIncomingStreams, c.AcceptBacklog, c.MaxStreamWindowSize = MaxStreams, MaxStreams, maxWindow
	c.KeepAliveInterval, c.ConnectionWriteTimeout, c.LogOutput = keepAlive, writeLimit, io.Discard
	mux, err := open(conn, c, nil)
	if err != nil {
		panic(err) // the configuration is constant
	}
	return &Session{conn, mux}
}

// Streams returns the number of open streams.
func (s *Session) Streams() int { return s.mux.NumStreams() }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.mux.CloseChan() }

// Close ends the session and its streams for good: the other side gets [ErrClosed]. It returns within
// closeLimit.
func (s *Session) Close() {
	kill := crash.AfterFunc(closeLimit, func() { s.conn.Close() })
	defer kill.Stop()
	s.mux.CloseWithError(codeClosed)
}

// Drop ends the session and its streams without a reason; the other side may connect again.
func (s *Session) Drop() { s.mux.Close() }

// Open opens a stream. An *Error says why the other side did not accept it; any other error is about
// the session or ctx.
func (s *Session) Open(ctx context.Context, h protocol.StreamHeader) (_ net.Conn, err error) {
	if s.Streams() >= MaxStreams {
		return nil, ErrExhausted
	}
	stream, err := s.mux.OpenStream(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a stream: %w", err)
	}
	stop := crash.WhenDone(ctx, func() { stream.Reset() })
	defer func() {
		if !stop() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			stream.Reset()
		}
	}()
	var answer protocol.StreamAnswer
	if err = writeLine(stream, h); err == nil {
		err = readLine(stream, &answer)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("open a stream: %w", err)
	case answer.OK:
		return stream, nil
	case answer.Error == nil:
		return nil, ErrInvalid.With("the answer has no reason")
	}
	return nil, &Error{answer.Error}
}

// Dial connects a stream to what its header names. Its error should be an *Error; its text goes to
// the other side in any case.
type Dial func(ctx context.Context, h protocol.StreamHeader) (net.Conn, error)

// Serve accepts streams and joins each with what dial returns, until the session ends or ctx does. It
// returns the reason when all streams have ended.
func (s *Session) Serve(ctx context.Context, dial Dial) error {
	ctx, cancel := context.WithCancel(ctx)
	defer crash.WhenDone(ctx, s.Drop)()
	var streams crash.Group
	defer streams.Wait()
	defer cancel()
	for {
		stream, err := s.mux.AcceptStream()
		if err != nil {
			s.mux.Close()
			return reason(err)
		}
		streams.Go(func() { serve(ctx, stream, dial) })
	}
}

// Wait waits until the session has ended, and returns the reason. Only the side that opens streams
// calls it.
func (s *Session) Wait() error {
	_, err := s.mux.AcceptStream() // the other side opens none
	return reason(err)
}

// reason returns why a session has ended.
func reason(err error) error {
	if gone, ok := errors.AsType[*yamux.GoAwayError](err); ok && gone.Remote && gone.ErrorCode == codeClosed {
		return ErrClosed
	}
	return err
}

// serve serves one stream.
func serve(ctx context.Context, stream *yamux.Stream, dial Dial) {
	defer stream.Reset() // without effect once both directions have ended
	var h protocol.StreamHeader
	stream.SetReadDeadline(time.Now().Add(headerLimit))
	if err := readLine(stream, &h); err != nil {
		refuse(stream, ErrInvalid.With("the header cannot be read: "+err.Error()))
		return
	}
	stream.SetReadDeadline(time.Time{})
	target, err := dial(ctx, h)
	if err != nil {
		refuse(stream, err)
		return
	}
	if err := writeLine(stream, protocol.StreamAnswer{OK: true}); err != nil {
		target.Close()
		return
	}
	Join(stream, target)
}

// refuse answers a stream with the reason why it is not accepted.
func refuse(stream *yamux.Stream, why error) {
	e, ok := errors.AsType[*Error](why)
	if !ok {
		e = &Error{protocol.NewFault(protocol.FaultInternal, why.Error())}
	}
	answer := protocol.StreamAnswer{Error: e.Fault}
	if writeLine(stream, answer) == nil {
		stream.CloseWrite()
		stream.SetReadDeadline(time.Now().Add(headerLimit))
		io.Copy(io.Discard, io.LimitReader(stream, maxWindow)) // a reset would discard the answer
	}
}

func writeLine(w io.Writer, v any) error {
	line, err := protocol.Marshal(v)
	if err == nil && len(line) >= maxLine {
		err = errTooLong
	}
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

var errTooLong = fmt.Errorf("it has more than %d bytes", maxLine)

// readLine reads a line of JSON and nothing behind it.
func readLine(r io.Reader, v any) error {
	line := make([]byte, 0, 256)
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if line = append(line, one[0]); one[0] == '\n' {
			return json.Unmarshal(bytes.TrimSpace(line), v)
		}
		if len(line) == maxLine {
			return errTooLong
		}
	}
}
