package junction

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"fairlead/gateway/peer/wire"
)

// callLimit is the time limit for the first byte of a connection and, if it begins a ticket, for
// the whole ticket.
const callLimit = 10 * time.Second

// Listener keeps the connections that show a ticket for the Junction, and returns all others from
// Accept, with their data still unread.
type Listener struct {
	net.Listener
	junction *Junction
	came     chan accepted
	closed   chan struct{}
	wg       sync.WaitGroup

	mu   sync.Mutex            // guards the fields below
	new  map[net.Conn]struct{} // connections that have not sent anything yet
	done bool
}

type accepted struct {
	conn net.Conn
	err  error
}

// Listen takes ownership of a listener. Accepted connections are [*wire.BufferedConn]s. The caller
// closes the Listener.
func (j *Junction) Listen(l net.Listener) *Listener {
	s := &Listener{Listener: l, junction: j, came: make(chan accepted), closed: make(chan struct{}), new: make(map[net.Conn]struct{})}
	s.wg.Go(s.run)
	return s
}

// Accept waits for a connection without a ticket.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.came:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close stops listening, closes the connections that Accept has not returned yet, and waits for
// their goroutines. Joined ends stay connected.
func (l *Listener) Close() error {
	l.mu.Lock()
	first := !l.done
	l.done = true
	for c := range l.new {
		c.Close()
	}
	l.mu.Unlock()
	var err error
	if first {
		close(l.closed)
		err = l.Listener.Close()
	}
	l.wg.Wait()
	return err
}

func (l *Listener) run() {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || !l.give(nil, err) {
				return
			}
			continue
		}
		l.wg.Go(func() { l.greet(conn) })
	}
}

// give passes a connection or error to Accept; it reports false when the Listener is closed.
func (l *Listener) give(conn net.Conn, err error) bool {
	select {
	case l.came <- accepted{conn, err}:
		return true
	case <-l.closed:
		return false
	}
}

// greet determines the purpose of a connection.
func (l *Listener) greet(raw net.Conn) {
	l.mu.Lock()
	if l.new[raw] = struct{}{}; l.done {
		raw.Close()
	}
	l.mu.Unlock()
	conn := wire.NewBufferedConn(raw)
	conn.SetReadDeadline(time.Now().Add(callLimit))
	t, shown, err := ticketOf(conn)
	conn.SetReadDeadline(time.Time{})
	l.mu.Lock()
	delete(l.new, raw)
	l.mu.Unlock()
	switch {
	case err != nil:
		conn.Close()
	case shown:
		l.junction.enter(t, conn.Conn)
	case !l.give(conn, nil):
		conn.Close()
	}
}

// ticketOf reads a ticket. If the connection begins with anything else, its data stays unread.
func ticketOf(conn *wire.BufferedConn) (t ticket, shown bool, err error) {
	first, err := conn.Peek(1)
	if err != nil || first[0] != call {
		return t, false, err
	}
	var head [1 + ticketSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return t, false, err
	}
	if conn.Buffered() > 0 {
		return t, false, errEarlyData
	}
	return ticket(head[1:]), true, nil
}

// errEarlyData is returned for an end that sends data before it is joined.
var errEarlyData = errors.New("data before the connections were joined")
