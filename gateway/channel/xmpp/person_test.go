package xmpp

import (
	"testing"
	"time"
)

// person is a person with an XMPP client.
type person struct {
	*stream
	name  string
	heard chan message
	seen  chan presence
	iqs   chan iq
}

func (p *prosody) person(t *testing.T, name string) *person {
	t.Helper()
	s, err := dial(t.Context(), login{local: name, domain: "town.test", password: "secret of " + name, server: p.addr, roots: p.roots})
	if err != nil {
		t.Fatal(err)
	}
	o := &person{s, name, make(chan message, 100), make(chan presence, 100), make(chan iq, 100)}
	go func() {
		for {
			start, err := s.next()
			if err != nil {
				return
			}
			switch start.Name.Local {
			case "message":
				var m message
				s.dec.DecodeElement(&m, &start)
				o.heard <- m
			case "presence":
				var m presence
				s.dec.DecodeElement(&m, &start)
				o.seen <- m
			default:
				var m iq
				s.dec.DecodeElement(&m, &start)
				o.iqs <- m
			}
		}
	}()
	o.do(t, "<presence/>")
	t.Cleanup(func() { s.conn.Close() })
	return o
}

func (o *person) do(t *testing.T, text string) {
	t.Helper()
	if err := o.send(text); err != nil {
		t.Fatal(err)
	}
}

// hears waits for the next message that satisfies want.
func (o *person) hears(t *testing.T, what string, want func(message) bool) message {
	t.Helper()
	timer := time.NewTimer(3 * time.Minute)
	defer timer.Stop()
	for {
		select {
		case m := <-o.heard:
			if want(m) {
				return m
			}
		case <-timer.C:
			t.Fatalf("%s: got no message in time, want %s", o.name, what)
		}
	}
}

func (o *person) hearsText(t *testing.T, text string) message {
	t.Helper()
	return o.hears(t, text, func(m message) bool { return len(m.Body) > 0 && m.Body[0] == text })
}
