package junction

import (
	"io"
	"net"
	"sync"
	"time"
)

// joinLimit is the time limit for telling an end that the other one is connected.
const joinLimit = 5 * time.Second

// Junction joins connections by their tickets. It is safe for concurrent use. The zero Junction is
// ready.
type Junction struct {
	mu      sync.Mutex // guards the fields below, and the meetings
	tickets map[ticket]*meeting
}

// meeting is a pair of ends.
type meeting struct {
	ends [2]net.Conn // the connected ends
	over bool
	wg   sync.WaitGroup // the copying goroutines
}

// Meet returns one ticket for each of two ends. over withdraws both, closes the connections that
// used them, and waits until copying has stopped.
func (j *Junction) Meet() (one, other string, over func()) {
	m := new(meeting)
	a, b := newTicket(), newTicket()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.tickets == nil {
		j.tickets = make(map[ticket]*meeting)
	}
	j.tickets[a], j.tickets[b] = m, m
	return a.text(), b.text(), func() {
		j.mu.Lock()
		delete(j.tickets, a)
		delete(j.tickets, b)
		m.over = true
		for _, c := range m.ends {
			if c != nil {
				c.Close()
			}
		}
		j.mu.Unlock()
		m.wg.Wait()
	}
}

// enter takes ownership of a connection that has shown a ticket.
func (j *Junction) enter(t ticket, conn net.Conn) {
	j.mu.Lock()
	m := j.tickets[t]
	delete(j.tickets, t)
	if m == nil || m.over {
		j.mu.Unlock()
		conn.Close()
		return
	}
	if m.ends[0] == nil {
		m.ends[0] = conn
		j.mu.Unlock()
		return
	}
	m.ends[1] = conn
	m.wg.Go(func() { m.join() })
	j.mu.Unlock()
}

// join copies in both directions until one end closes its connection.
func (m *meeting) join() {
	a, b := m.ends[0], m.ends[1]
	defer a.Close()
	defer b.Close()
	for _, c := range m.ends {
		c.SetWriteDeadline(time.Now().Add(joinLimit))
		if _, err := c.Write([]byte{joined}); err != nil {
			return
		}
		c.SetWriteDeadline(time.Time{})
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	carry := func(to, from net.Conn) {
		io.Copy(to, from)
		to.Close()
		from.Close()
	}
	wg.Go(func() { carry(a, b) })
	carry(b, a)
}
