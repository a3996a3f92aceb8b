package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

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
				t.Errorf("%+v", a.Retries)
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
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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
