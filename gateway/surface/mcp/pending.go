package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// drainTime is how long answers are waited for after the client has closed its end.
const drainTime = 30 * time.Second

// methodListen is a request that stays open for notifications until the client has gone.
const methodListen = "subscriptions/listen"

// pending passes the lines of both directions on, and counts the requests without an answer. The end
// of the input is passed on when all of them have been answered: a client may close its end as soon
// as it has written its last request.
type pending struct {
	in  *bufio.Reader
	out io.Writer

	mu   sync.Mutex // guards the fields below
	rest []byte     // of a line that was read
	open map[string]bool
	none chan struct{} // capacity 1: open became empty
}

func newPending(in io.Reader, out io.Writer) *pending {
	return &pending{in: bufio.NewReader(in), out: out, open: make(map[string]bool), none: make(chan struct{}, 1)}
}

// envelope is what a message of JSON-RPC has outside of its content.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// Read implements io.Reader.
func (p *pending) Read(b []byte) (int, error) {
	p.mu.Lock()
	if n := copy(b, p.rest); n > 0 {
		p.rest = p.rest[n:]
		p.mu.Unlock()
		return n, nil
	}
	p.mu.Unlock()
	line, err := p.in.ReadBytes('\n')
	if len(line) == 0 && errors.Is(err, io.EOF) {
		p.drain()
		return 0, err
	}
	if len(line) == 0 {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var e envelope
	if json.Unmarshal(line, &e) == nil && e.Method != "" && len(e.ID) > 0 && e.Method != methodListen {
		p.open[string(e.ID)] = true
	}
	n := copy(b, line)
	p.rest = line[n:]
	return n, nil
}

// drain waits until every request has been answered.
func (p *pending) drain() {
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	for {
		p.mu.Lock()
		n := len(p.open)
		p.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-p.none:
		case <-limit.C:
			return
		}
	}
}

// Write implements io.Writer. It gets whole messages.
func (p *pending) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range bytes.Lines(b) {
		var e envelope
		if json.Unmarshal(line, &e) == nil && e.Method == "" && len(e.ID) > 0 {
			delete(p.open, string(e.ID))
		}
	}
	if len(p.open) == 0 {
		select {
		case p.none <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Close implements io.Closer. The caller closes both ends.
func (p *pending) Close() error { return nil }
