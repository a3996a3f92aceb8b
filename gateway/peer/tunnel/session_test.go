package tunnel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// sessions returns both sides of a session over TCP. The acceptor dials with dial.
func sessions(t testing.TB, dial Dial) (opener *Session, served chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	opener, served = NewOpener(near), make(chan error, 1)
	acceptor := NewAcceptor(far)
	go func() { served <- acceptor.Serve(context.Background(), dial) }()
	t.Cleanup(func() { opener.Drop(); acceptor.Drop() })
	return opener, served
}

// pipe returns a dial function whose target is the other end of a TCP connection.
func pipe(t testing.TB) (dial Dial, target chan net.Conn) {
	target = make(chan net.Conn, 100)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			target <- c
		}
	}()
	return func(ctx context.Context, _ protocol.StreamHeader) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}, target
}

func TestHeaderArrivesAndFailuresComeBack(t *testing.T) {
	t.Parallel()
	want := protocol.StreamHeader{Kind: protocol.StreamHTTP, Service: "blog", Target: "localhost:80", Size: 7}
	var fail error
	s, _ := sessions(t, func(_ context.Context, h protocol.StreamHeader) (net.Conn, error) {
		if h != want {
			t.Errorf("header: got %+v, want %+v", h, want)
		}
		return nil, fail
	})
	for _, err := range []error{ErrUnreachable, ErrDenied, ErrInvalid, ErrUnsupported, ErrExhausted} {
		fail = err.(*Error).With("why: " + err.Error())
		_, got := s.Open(t.Context(), want)
		if !errors.Is(got, err) || got.Error() != fail.Error() {
			t.Errorf("got %v, want %v", got, fail)
		}
		for _, other := range []error{ErrUnreachable, ErrDenied, ErrInvalid} {
			if other != err && errors.Is(got, other) {
				t.Errorf("%v is %v, too; want one error", got, other)
			}
		}
	}
	fail = errors.New("something else")
	if _, err := s.Open(t.Context(), want); err == nil || err.Error() != "something else" {
		t.Errorf("another error: got %v", err)
	}
	if got := s.Streams(); got != 0 {
		t.Errorf("streams that failed: %d are open, want 0", got)
	}
}

func TestEachDirectionEndsAlone(t *testing.T) {
	t.Parallel()
	dial, targets := pipe(t)
	s, _ := sessions(t, dial)
	for _, first := range []string{"opener", "target"} {
		a, err := s.Open(t.Context(), protocol.StreamHeader{Kind: protocol.StreamTCP})
		if err != nil {
			t.Fatal(err)
		}
		b := <-targets
		if first == "target" {
			a, b = b, a
		}
		io.WriteString(a, "question")
		a.(HalfCloser).CloseWrite()
		if got, err := io.ReadAll(b); string(got) != "question" || err != nil {
			t.Errorf("%s ends first: got %q, %v; want the question", first, got, err)
		}
		io.WriteString(b, "answer")
		b.(HalfCloser).CloseWrite()
		if got, err := io.ReadAll(a); string(got) != "answer" || err != nil {
			t.Errorf("%s ends first: got %q, %v, want the answer after the end of the question", first, got, err)
		}
		a.Close()
		b.Close()
	}
}

func TestLostConnectionIsNoEnd(t *testing.T) {
	t.Parallel()
	dial, targets := pipe(t)
	s, served := sessions(t, dial)
	c, err := s.Open(t.Context(), protocol.StreamHeader{})
	if err != nil {
		t.Fatal(err)
	}
	target := <-targets
	s.conn.Close()
	if _, err := target.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the target: got %v, want an error that is no end", err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the opener: got %v, want an error that is no end", err)
	}
	if err := <-served; err == nil || errors.Is(err, ErrClosed) {
		t.Errorf("Serve: got %v, want the loss of the connection", err)
	}
	if _, err := s.Open(t.Context(), protocol.StreamHeader{}); err == nil {
		t.Error("a stream over a lost connection was opened")
	}
}

func TestCloseIsForGood(t *testing.T) {
	t.Parallel()
	dial, _ := pipe(t)
	s, served := sessions(t, dial)
	if _, err := s.Open(t.Context(), protocol.StreamHeader{}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := <-served; !errors.Is(err, ErrClosed) {
		t.Errorf("Serve: got %v, want ErrClosed", err)
	}
	<-s.Done()
}

// TestHeadersAreLimited writes the first line of streams by hand.
func TestHeadersAreLimited(t *testing.T) {
	t.Parallel()
	s, _ := sessions(t, func(context.Context, protocol.StreamHeader) (net.Conn, error) {
		t.Error("an invalid header was dialled")
		return nil, ErrDenied
	})
	for name, line := range map[string]string{
		"too long":         `{"kind":"` + strings.Repeat("x", maxLine) + `"}` + "\n",
		"no end":           strings.Repeat(" ", maxLine+1),
		"no JSON":          "GET / HTTP/1.1\n",
		"an empty line":    "\n",
		"ends in the line": `{"kind":`,
	} {
		c, err := s.mux.OpenStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, line)
		c.CloseWrite()
		var answer protocol.StreamAnswer
		if err := readLine(c, &answer); err != nil || answer.OK || answer.Error.Code != protocol.FaultInvalidArgs || !strings.HasPrefix(answer.Error.Message, "the header cannot be read: ") {
			t.Errorf("%s: got %+v, %v, want the fault invalid_args", name, answer, err)
		}
		c.Reset()
	}
	if _, err := s.Open(t.Context(), protocol.StreamHeader{Target: strings.Repeat("x", maxLine)}); !errors.Is(err, errTooLong) {
		t.Errorf("Open: got %v, want errTooLong", err)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	dial, _ := pipe(t)
	s, _ := sessions(t, dial)
	for i := range MaxStreams {
		if _, err := s.Open(t.Context(), protocol.StreamHeader{}); err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
	}
	if _, err := s.Open(t.Context(), protocol.StreamHeader{}); !errors.Is(err, ErrExhausted) {
		t.Errorf("got %v, want ErrExhausted", err)
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s, _ := sessions(t, func(ctx context.Context, _ protocol.StreamHeader) (net.Conn, error) {
		close(asked)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("withdrawn")
	go func() { <-asked; cancel(why) }()
	if _, err := s.Open(ctx, protocol.StreamHeader{}); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

// TestBytesBehindTheHeaderAreNotLost: a peer may send them before it has the answer.
func TestBytesBehindTheHeaderAreNotLost(t *testing.T) {
	t.Parallel()
	dial, targets := pipe(t)
	s, _ := sessions(t, dial)
	c, err := s.mux.OpenStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "{}\nhello")
	target := <-targets
	target.SetReadDeadline(time.Now().Add(time.Minute))
	got := make([]byte, 5)
	if _, err := io.ReadFull(target, got); err != nil || !bytes.Equal(got, []byte("hello")) {
		t.Errorf("got %q, %v, want hello", got, err)
	}
}
