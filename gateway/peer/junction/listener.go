package junction

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"fairlead/gateway/peer/trust"
)

// callLimit is how long whoever connects may take until it says something, and a whole ticket if that is what it begins.
const callLimit = 10 * time.Second

// Listener keeps those that show a ticket, and gives everybody else: what they have said is still to be read.
type Listener struct {
	net.Listener
	junction *Junction
	came     chan accepted
	closed   chan struct{}
	wg       sync.WaitGroup

	mu   sync.Mutex            // guards what follows
	new  map[net.Conn]struct{} // that have said nothing yet; nil once closed
	done bool
}

type accepted struct {
	conn net.Conn
	err  error
}

// Listen takes over a listener, whose connections are made [*trust.Pile]s. Close it to end it.
func (j *Junction) Listen(l net.Listener) *Listener {
	s := &Listener{Listener: l, junction: j, came: make(chan accepted), closed: make(chan struct{}), new: make(map[net.Conn]struct{})}
	s.wg.Go(s.run)
	return s
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.came:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends listening, hangs up on who was not given to anybody yet, and waits. Ends that were joined stay so.
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

// give is false when there is nobody any more.
func (l *Listener) give(conn net.Conn, err error) bool {
	select {
	case l.came <- accepted{conn, err}:
		return true
	case <-l.closed:
		return false
	}
}

// greet finds out what a connection is for.
func (l *Listener) greet(raw net.Conn) {
	l.mu.Lock()
	if l.new[raw] = struct{}{}; l.done {
		raw.Close()
	}
	l.mu.Unlock()
	conn := trust.NewPile(raw)
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
		l.junction.enter(t, conn.Bottom())
	case !l.give(conn, nil):
		conn.Close()
	}
}

// ticketOf reads a ticket; when something else comes, all of it is still there.
func ticketOf(conn *trust.Pile) (t ticket, shown bool, err error) {
	first, err := conn.Peek(1)
	if err != nil || first[0] != call {
		return t, false, err
	}
	var head [1 + ticketSize]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return t, false, err
	}
	if conn.Buffered() > 0 {
		return t, false, errEager
	}
	return ticket(head[1:]), true, nil
}

// errEager is that of an end that speaks before it is joined.
var errEager = errors.New("more than a ticket")
