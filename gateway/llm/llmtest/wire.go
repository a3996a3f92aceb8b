package llmtest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Reply is a response of a [Wire].
type Reply struct {
	Status int           // 0 means 200
	Header http.Header   // Content-Type is text/event-stream for a 200, else application/json, unless set
	Body   string        //
	Err    error         // instead of a response
	Cut    error         // after Body, instead of its end
	Hang   bool          // after Body, until the request is cancelled
	Pace   time.Duration // before each line of Body
	Size   int           // of each piece of Body that one read returns; 0 means all
}

// Asked is a request that a [Wire] has received.
type Asked struct {
	URL    string
	Header http.Header
	Body   string
}

// Wire answers HTTP requests in memory with one Reply after the other; the last one is repeated. It
// works in a synctest bubble.
type Wire struct {
	mu      sync.Mutex
	replies []Reply
	asked   []Asked
	open    int
}

// NewWire returns a Wire with the given replies.
func NewWire(replies ...Reply) *Wire { return &Wire{replies: replies} }

// Client returns an HTTP client of the wire.
func (w *Wire) Client() *http.Client { return &http.Client{Transport: w} }

// Asked returns the requests so far.
func (w *Wire) Asked() []Asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked
}

// Open returns the number of bodies that have not been closed.
func (w *Wire) Open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// RoundTrip implements [http.RoundTripper].
func (w *Wire) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, Asked{req.URL.String(), req.Header.Clone(), string(body)})
	if len(w.replies) == 0 {
		return nil, errors.New("the test's wire has no reply")
	}
	r := w.replies[0]
	if len(w.replies) > 1 {
		w.replies = w.replies[1:]
	}
	if r.Err != nil {
		return nil, r.Err
	}
	r.Status = cmp.Or(r.Status, http.StatusOK)
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[r.Status == http.StatusOK])
	}
	w.open++
	return &http.Response{
		Status: strconv.Itoa(r.Status) + " " + http.StatusText(r.Status), StatusCode: r.Status, Header: h, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Body: &wireBody{ctx: req.Context(), w: w, reply: r, rest: r.Body},
	}, nil
}

type wireBody struct {
	ctx    context.Context
	w      *Wire
	reply  Reply
	rest   string
	closed bool
}

func (b *wireBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.rest == "" {
		switch {
		case b.reply.Hang:
			<-b.ctx.Done()
			return 0, b.ctx.Err()
		case b.reply.Cut != nil:
			return 0, b.reply.Cut
		}
		return 0, io.EOF
	}
	piece := b.rest
	if b.reply.Pace > 0 {
		timer := time.NewTimer(b.reply.Pace)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
		if i := strings.IndexByte(piece, '\n'); i >= 0 {
			piece = piece[:i+1]
		}
	}
	if b.reply.Size > 0 && len(piece) > b.reply.Size {
		piece = piece[:b.reply.Size]
	}
	n := copy(p, piece)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *wireBody) Close() error {
	b.w.mu.Lock()
	defer b.w.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.w.open--
	}
	return nil
}
