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

// Dialect is a provider's wire, for what every wire must do with a stream.
type Dialect struct {
	New     func(llm.Options) llm.Model
	Options llm.Options // but for the HTTP client, and the address where the test has its own
	Request llm.Request
	Whole   string // a complete answer: thoughts, text, calls
	Shown   int    // how many bytes of Whole show text, and end before it does
}

func (d Dialect) ask(ctx context.Context, w *Wire) Answer {
	o := d.Options
	o.BaseURL, o.HTTP = "http://model.test", w.Client()
	return Collect(ctx, d.New(o), d.Request)
}

// Test checks Whole by check, and that the wire gives the same or an error however Whole comes.
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
			if size <= 64 || size%97 == 0 { // pieces of one size end at all its multiples: together they end everywhere
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
	t.Run("cut anywhere", func(t *testing.T) {
		for _, cut := range []error{nil, io.ErrUnexpectedEOF} { // an end in good order, and a broken connection
			complete := 0
			for n := range len(d.Whole) + 1 {
				synctest.Test(t, func(t *testing.T) { // a cut before anything was shown is waited for and tried again
					a := d.ask(t.Context(), NewWire(Reply{Body: d.Whole[:n], Cut: cut}))
					if a.Err == nil {
						complete++
						a.Usage = whole.Usage // some tell it after the end
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
	})
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

// cancelled checks, over a real connection, that a cancelled answer ends at once at the server too.
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
