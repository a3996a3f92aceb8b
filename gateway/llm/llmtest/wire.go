package llmtest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
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

// Dialect describes a provider's protocol, for tests of how it handles a stream.
type Dialect struct {
	New     func(llm.Options) llm.Model
	Options llm.Options // without the HTTP client, and the address if the test has its own
	Request llm.Request
	Whole   string // a complete answer: thoughts, text, calls
	Shown   int    // number of bytes of Whole up to the first text, and before it
}

func (d Dialect) ask(ctx context.Context, w *Wire) Answer {
	o := d.Options
	o.BaseURL, o.HTTP = "http://model.test", w.Client()
	return Collect(ctx, d.New(o), d.Request)
}

// Test checks Whole with check, and that the result is the same or an error in whatever pieces
// Whole arrives.
func (d Dialect) Test(t *testing.T, check func(*testing.T, Answer)) {
	whole := d.ask(t.Context(), NewWire(Reply{Body: d.Whole}))
	check(t, whole)
	same := func(t *testing.T, got Answer) {
		t.Helper()
		got.Retries = nil
		check(t, got)
	}
	t.Run("in pieces of any size", func(t *testing.T) {
		for size := 1; size < len(d.Whole); size++ {
			// pieces of one size end at its multiples: together they end at every byte
			if size <= 64 || size%97 == 0 {
				same(t, d.ask(t.Context(), NewWire(Reply{Body: d.Whole, Size: size})))
			}
		}
	})
	t.Run("slowly", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := NewWire(Reply{Body: d.Whole, Pace: 40 * time.Second})
			same(t, d.ask(t.Context(), w))
			if w.Open() != 0 {
				t.Error("the connection is still open")
			}
		})
	})
	t.Run("cut anywhere", func(t *testing.T) { d.cutAnywhere(t, whole, same) })
	t.Run("cut once shown", func(t *testing.T) {
		for _, cut := range []error{nil, io.ErrUnexpectedEOF} {
			w := NewWire(Reply{Body: d.Whole[:d.Shown], Cut: cut})
			if a := d.ask(t.Context(), w); !errors.Is(a.Err, protocol.ErrModel) || len(w.Asked()) != 1 || a.Text == "" || w.Open() != 0 {
				t.Errorf("%v, %d requests, text %q", a.Err, len(w.Asked()), a.Text)
			}
		}
	})
	t.Run("dropped before it began", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := d.ask(t.Context(), NewWire(Reply{Err: io.ErrUnexpectedEOF}, Reply{Cut: io.ErrUnexpectedEOF}, Reply{Body: d.Whole}))
			if len(a.Retries) != 2 {
				t.Errorf("got %+v, want length 2", a.Retries)
			}
			same(t, a)
		})
	})
	t.Run("cancelled", d.cancelled)
	t.Run("not read to its end", func(t *testing.T) {
		w := NewWire(Reply{Body: d.Whole, Hang: true})
		o := d.Options
		o.BaseURL, o.HTTP = "http://model.test", w.Client()
		for ev := range d.New(o).Stream(t.Context(), d.Request) {
			if ev.Type == llm.EventText {
				break
			}
		}
		if w.Open() != 0 {
			t.Error("the connection is still open")
		}
	})
}

func (d Dialect) cutAnywhere(t *testing.T, whole Answer, same func(*testing.T, Answer)) {
	// a regular end, and a broken connection
	for _, cut := range []error{nil, io.ErrUnexpectedEOF} {
		complete := 0
		for n := range len(d.Whole) + 1 {
			// a cut before anything was shown is retried after a wait
			synctest.Test(t, func(t *testing.T) {
				a := d.ask(t.Context(), NewWire(Reply{Body: d.Whole[:n], Cut: cut}))
				if a.Err == nil {
					complete++
					a.Usage = whole.Usage // some report it after the end
					same(t, a)
				} else if !errors.Is(a.Err, protocol.ErrModel) || a.Stop != "" {
					t.Fatalf("cut at %d: %+v", n, a)
				}
			})
		}
		if cut == nil && complete == 0 {
			t.Error("not even the whole is complete")
		}
	}
}

// cancelled checks, over a real connection, that a cancelled answer also ends at the server at
// once.
func (d Dialect) cancelled(t *testing.T) {
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, d.Whole[:d.Shown])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}))
	defer srv.Close()
	o := d.Options
	o.BaseURL, o.HTTP = srv.URL, nil
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var last error
	for ev, err := range d.New(o).Stream(ctx, d.Request) {
		last = err
		if ev.Type == llm.EventText {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Fatal(last)
	}
	<-gone
}
