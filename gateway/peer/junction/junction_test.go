package junction

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/wire"
)

// port is a gateway's port; guests receives the connections without a ticket.
func port(t *testing.T) (j *Junction, l *Listener, guests <-chan net.Conn) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j = new(Junction)
	l = j.Listen(raw)
	came := make(chan net.Conn, 10)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(came)
				return
			}
			came <- c
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
		for c := range came {
			c.Close()
		}
	})
	return j, l, came
}

func dial(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// gone checks that a connection is closed without any data before.
func gone(t *testing.T, what string, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: %d bytes, %v", what, n, err)
	}
}

// joinedBy opens two connections that show their tickets.
func joinedBy(t *testing.T, l *Listener, one, other string) (a, b net.Conn) {
	t.Helper()
	a, b = dial(t, l), dial(t, l)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Enter(t.Context(), a, one); err != nil {
			t.Error(err)
		}
	})
	if err := Enter(t.Context(), b, other); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return a, b
}

func TestTwoThatShowTheirTicketsAreJoined(t *testing.T) {
	j, l, _ := port(t)
	one, other, over := j.Meet()
	a, b := joinedBy(t, l, one, other)
	want := make([]byte, 8<<20)
	rand.Read(want)
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() { way[0].Write(want) })
		got := make([]byte, len(want))
		if _, err := io.ReadFull(way[1], got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%v", err)
		}
		wg.Wait()
	}
	over()
	gone(t, "one, when the gateway has ended it", a)
	gone(t, "the other", b)
}

func TestWhoHangsUpEndsItForBoth(t *testing.T) {
	j, l, _ := port(t)
	one, other, over := j.Meet()
	defer over()
	a, b := joinedBy(t, l, one, other)
	a.Close()
	gone(t, "the other", b)
}

func TestATicketLetsOneInAndOnlyWhileItIsGood(t *testing.T) {
	j, l, _ := port(t)
	one, other, over := j.Meet()
	refused := func(what, ticket string) {
		t.Helper()
		c := dial(t, l)
		if err := Enter(t.Context(), c, ticket); err == nil {
			t.Errorf("%s was let in", what)
		}
	}
	refused("one that nobody gave", newTicket().text())
	refused("no ticket", "x")
	joinedBy(t, l, one, other)
	refused("a ticket for the second time", one)
	refused("the other one", other)
	over()

	one, _, over = j.Meet()
	waits := dial(t, l)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := Enter(t.Context(), waits, one); err == nil {
			t.Error("one that waited for nobody was joined")
		}
	})
	eager := dial(t, l)
	late, _, lateOver := j.Meet()
	parsed, _ := parseTicket(late)
	eager.Write(append(append([]byte{call}, parsed[:]...), "more"...))
	gone(t, "one that speaks before it is joined", eager)
	lateOver()
	over()
	wg.Wait()
	refused("a ticket that is over", one)
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.tickets); n > 0 {
		t.Errorf("%d tickets are kept", n)
	}
}

func TestTheSameTicketTwiceJoinsNobody(t *testing.T) {
	j, l, _ := port(t)
	one, _, over := j.Meet()
	a := dial(t, l)
	parsed, _ := parseTicket(one)
	a.Write(append([]byte{call}, parsed[:]...))
	b := dial(t, l)
	b.Write(append([]byte{call}, parsed[:]...))
	// The first of the two waits for the other end; the second one is closed.
	heard := make(chan error, 2)
	for _, c := range []net.Conn{a, b} {
		go func() {
			_, err := c.Read(make([]byte, 1))
			heard <- err
		}()
	}
	if err := <-heard; err == nil {
		t.Error("an end was joined to itself")
	}
	over()
	if err := <-heard; err == nil {
		t.Error("an end was joined to nobody")
	}
}

func TestEverybodyElseIsGivenAsTheyCame(t *testing.T) {
	_, l, guests := port(t)
	for _, said := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x00\x05hello", "\x00"} {
		c := dial(t, l)
		io.WriteString(c, said)
		g := <-guests
		if _, ok := g.(*wire.BufferedConn); !ok {
			t.Errorf("%T", g)
		}
		g.SetReadDeadline(time.Now().Add(3 * time.Minute))
		got := make([]byte, len(said))
		if _, err := io.ReadFull(g, got); err != nil || string(got) != said {
			t.Errorf("%q of %q, %v", got, said, err)
		}
		g.Close()
	}
}

func TestClosingHangsUpOnWhoHasSaidNothing(t *testing.T) {
	_, l, _ := port(t)
	silent, half := dial(t, l), dial(t, l)
	half.Write([]byte{call, 1, 2, 3})
	for { // until both were accepted from the system
		l.mu.Lock()
		n := len(l.new)
		l.mu.Unlock()
		if n == 2 {
			break
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	gone(t, "one that has said nothing", silent)
	gone(t, "one that has said half a ticket", half)
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	l.Close()
}

func TestAnErrorOfTheListenerIsTold(t *testing.T) {
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := new(Junction).Listen(raw)
	defer l.Close()
	raw.(*net.TCPListener).SetDeadline(time.Unix(1, 0))
	if _, err := l.Accept(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	raw.(*net.TCPListener).SetDeadline(time.Time{})
	c := dial(t, l)
	io.WriteString(c, "x")
	for {
		g, err := l.Accept()
		if err == nil {
			g.Close()
			return
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) { // one byte may have been in flight
			t.Fatal(err)
		}
	}
}

func TestWhoWaitsForTheOtherEndIsStopped(t *testing.T) {
	j, l, _ := port(t)
	one, _, over := j.Meet()
	defer over()
	stopped := errors.New("the transfer was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error)
	go func() { ended <- Enter(ctx, dial(t, l), one) }()
	cancel(stopped)
	if err := <-ended; err == nil || !errors.Is(err, stopped) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestAnswersOfSomethingElseAreNoGateways(t *testing.T) {
	near, far := net.Pipe()
	go func() {
		io.ReadFull(far, make([]byte, 1+ticketSize))
		io.WriteString(far, "HTTP/1.1 400 Bad Request\r\n")
		far.Close()
	}()
	if err := Enter(t.Context(), near, newTicket().text()); err == nil || !strings.Contains(err.Error(), "unexpected response") {
		t.Errorf("%v", err)
	}
}

func FuzzTicket(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{call})
	f.Add(append([]byte{call}, make([]byte, ticketSize)...))
	f.Add(append([]byte{call}, make([]byte, ticketSize+1)...))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		near, far := net.Pipe()
		go func() {
			near.Write(said)
			near.Close()
		}()
		conn := wire.NewBufferedConn(far)
		defer conn.Close()
		got, shown, err := ticketOf(conn)
		switch {
		case len(said) == 0 || said[0] == call && len(said) < 1+ticketSize:
			if err == nil {
				t.Errorf("shown %v", shown)
			}
		case said[0] != call:
			rest, _ := io.ReadAll(conn)
			if shown || err != nil || !bytes.Equal(rest, said) {
				t.Errorf("shown %v, %v, %q is left", shown, err, rest)
			}
		case shown && !bytes.Equal(got[:], said[1:1+ticketSize]):
			t.Errorf("%x of %x", got, said)
		}
	})
}
