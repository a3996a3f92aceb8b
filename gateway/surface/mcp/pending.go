package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"fairlead/gateway/peer/wake"
)

// drainTime is how long answers are waited for after the client has closed its end. Then the open
// calls are cancelled, and with them the commands that they started.
const drainTime = 30 * time.Second

// methodListen is a request that stays open for notifications until the client has gone.
const methodListen = "subscriptions/listen"

// pending passes the messages of both directions on, one a line, and counts the requests without an
// answer. The end of the input is passed on when all of them have been answered: a client may close
// its end as soon as it has written its last request.
//
// It answers what is no message itself: the SDK would end the connection for it. The messages of a
// batch, as in version 2025-03-26, are answered one by one.
type pending struct {
	in   *bufio.Reader
	rest []byte // of lines that were read; only Read uses it

	mu   sync.Mutex // guards the fields below, and is held while a message is written
	out  io.Writer
	open map[string]bool // by ID, as canonical JSON
	none wake.Signal     // capacity 1: open became empty
	// gone is called when the client waits for no answer any more. It must not block.
	gone func()

	drainTime time.Duration // until open calls are given up after the end of the input
}

func newPending(in io.Reader, out io.Writer, gone func()) *pending {
	return &pending{in: bufio.NewReader(in), out: out, gone: gone, open: make(map[string]bool), none: wake.New(), drainTime: drainTime}
}

// Read implements io.Reader.
func (p *pending) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.in.ReadBytes('\n')
		if err == nil || len(line) > 0 {
			p.rest, err = p.accept(bytes.TrimSpace(line))
		} else if errors.Is(err, io.EOF) {
			p.drain()
			p.gone()
		}
		if err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// accept returns the lines of the messages in a line, and answers what is no message.
func (p *pending) accept(line []byte) (lines []byte, err error) {
	if len(line) == 0 {
		return nil, nil
	}
	var messages []json.RawMessage
	if !isBatch(line) || json.Unmarshal(line, &messages) != nil || len(messages) == 0 {
		messages = []json.RawMessage{line}
	}
	for _, raw := range messages {
		m, failure := decode(raw)
		if failure != nil {
			if _, err := p.Write(append(encodeFailure(m.ID, failure), '\n')); err != nil {
				return nil, err
			}
			continue
		}
		if m.Method != "" && m.ID != nil && m.Method != methodListen {
			p.mu.Lock()
			p.open[canonical(m.ID)] = true
			p.mu.Unlock()
		}
		lines = append(append(lines, raw...), '\n')
	}
	return lines, nil
}

// canonical returns an ID as the SDK writes it: 1.0 as 1, and "\u0041" as "A".
func canonical(id json.RawMessage) string {
	var v any
	json.Unmarshal(id, &v) // valid, as it was decoded
	return fmt.Sprintf("%#v", v)
}

// drain waits until every request has been answered.
func (p *pending) drain() {
	limit := time.NewTimer(p.drainTime)
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
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.out.Write(correctError(b)); err != nil {
		p.gone()
		return 0, err
	}
	for line := range bytes.Lines(b) {
		if m, failure := decode(line); failure == nil && m.Method == "" && m.ID != nil {
			delete(p.open, canonical(m.ID))
		}
	}
	if len(p.open) == 0 {
		p.none.Send()
	}
	return len(b), nil
}

// Close implements io.Closer. The caller closes both ends.
func (p *pending) Close() error { return nil }
