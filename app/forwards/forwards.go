// Package forwards runs the forwards of this program: local ports that lead to ports of machines.
// They are open as long as the program runs. Those that the person wants are opened again at its
// next start. It knows no toolkit.
package forwards

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/forward"
)

// retryInterval is the time between attempts to open a saved forward.
const retryInterval = 10 * time.Second

// Spec says what a forward leads to.
type Spec struct {
	Node   protocol.NodeID `json:"node"`
	Target string          `json:"target"` // host:port, as the machine reaches it
	Port   uint16          `json:"port"`   // of this computer; 0 for any free one
}

// Forward is a forward of this program, with its local port.
type Forward struct {
	Spec
	// ID is that of the gateway; empty while the forward is not open.
	ID protocol.ForwardID
	// Saved is whether it is opened again when the program starts.
	Saved bool
	// Problem says why the last connection failed, or why the forward is not open; empty for neither.
	Problem string
	// At is the time of the problem, in Unix milliseconds.
	At int64
}

// Local is the local address, host:port.
func (f Forward) Local() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(f.Port))) }

// Forwards runs the forwards of this program. It is safe for concurrent use.
type Forwards struct {
	// List has the forwards, oldest first.
	List *feed.Value[[]Forward]

	save    func([]Spec)
	notify  func(text string)
	workers *crash.Workers
	ready   chan struct{} // closed when dial is set
	dial    client.Options

	mu   sync.Mutex // guards the fields below, also those of the forwards but Saved, which does not change
	open []*running
}

// running is a forward with what ends it.
type running struct {
	Forward
	cancel context.CancelFunc
}

// New creates the list. save stores the saved ones for the next start, and notify says why one
// ended.
func New(save func([]Spec), notify func(text string)) *Forwards {
	return &Forwards{List: feed.NewValue[[]Forward](nil), save: save, notify: notify, workers: crash.NewWorkers(), ready: make(chan struct{})}
}

// Use sets how the gateway is reached, and opens the forwards that were saved.
func (f *Forwards) Use(o client.Options, saved []Spec) {
	f.dial = o
	close(f.ready)
	for _, s := range saved {
		f.start(Forward{Spec: s, Saved: true}, nil)
	}
}

// Close closes all forwards and waits for them. Saved ones stay saved.
func (f *Forwards) Close() { f.workers.Close(nil) }

// Open opens a forward, and returns when the gateway has accepted or refused it. It blocks.
func (f *Forwards) Open(ctx context.Context, s Spec, saved bool) (Forward, error) {
	select {
	case <-f.ready:
	case <-ctx.Done():
		return Forward{}, protocol.ErrUnavailable.With("not connected to the gateway yet")
	}
	first := make(chan error, 1)
	w := f.start(Forward{Spec: s, Saved: saved}, first)
	if w == nil {
		return Forward{}, context.Canceled
	}
	select {
	case err := <-first:
		f.mu.Lock()
		defer f.mu.Unlock()
		return w.Forward, err
	case <-ctx.Done():
		f.remove(w)
		return Forward{}, context.Cause(ctx)
	}
}

// EndOwn closes a forward of this program with a local address, also if it is not open, and forgets
// it. It reports whether there was one.
func (f *Forwards) EndOwn(local string) bool {
	f.mu.Lock()
	w, ok := lists.Find(f.open, func(w *running) bool { return w.Local() == local })
	f.mu.Unlock()
	if ok {
		f.remove(w)
	}
	return ok
}

// start adds a forward and runs it; see run. After Close, it returns nil.
func (f *Forwards) start(w Forward, first chan<- error) *running {
	ctx, cancel := context.WithCancel(f.workers.Context())
	r := &running{Forward: w, cancel: cancel}
	f.change(func() { f.open = append(f.open, r) })
	if !f.workers.Start(func() { f.run(ctx, r, first) }) {
		cancel()
		return nil
	}
	return r
}

// change changes forwards, and saves and shows the result.
func (f *Forwards) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	list := lists.Map(f.open, func(w *running) Forward { return w.Forward })
	var saved []Spec
	for _, w := range list {
		if w.Saved {
			saved = append(saved, w.Spec)
		}
	}
	f.save(saved)
	f.List.Update(func(l *[]Forward) { *l = list })
}

func (f *Forwards) remove(w *running) {
	w.cancel()
	f.change(func() { f.open = lists.Without(f.open, func(x *running) bool { return x == w }) })
}

// run runs a forward until ctx ends, somebody closes it, or it fails and is not saved. first gets
// the result of the first attempt, which must succeed; nil: the forward is saved, and is tried
// again.
func (f *Forwards) run(ctx context.Context, w *running, first chan<- error) {
	for {
		err := f.attempt(ctx, w, func() {
			if first != nil {
				first <- nil
				first = nil
			}
		})
		switch {
		case ctx.Err() != nil:
			return // the program ends, or the forward was removed
		case first != nil:
			f.remove(w)
			first <- err
			return
		case errors.Is(err, forward.ErrClosed):
			f.remove(w)
			return
		case !w.Saved:
			f.notify("The forward " + w.Local() + " was closed: " + err.Error() + ".")
			f.remove(w)
			return
		}
		f.fail(w, err, true)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryInterval):
		}
	}
}

// attempt opens the local port and the forward, and returns why it ended.
func (f *Forwards) attempt(ctx context.Context, w *running, opened func()) error {
	l, err := forward.Listen(forward.Options{
		Client: f.dial, Node: w.Node, Target: w.Target, Port: w.Port,
		OnOpen: func(info protocol.Forward) {
			f.change(func() {
				_, port, _ := net.SplitHostPort(info.Listen)
				n, _ := strconv.ParseUint(port, 10, 16) // it is our own address
				w.ID, w.Port, w.Problem, w.At = info.ID, uint16(n), "", 0
			})
			opened()
		},
		OnLost:  func(err error) { f.fail(w, err, true) },
		OnError: func(err error) { f.fail(w, err, false) },
	})
	if err != nil {
		return err
	}
	return l.Run(ctx)
}

// fail shows a problem of a forward, which is lost or only had a failed connection.
func (f *Forwards) fail(w *running, err error, lost bool) {
	f.change(func() {
		if w.Problem, w.At = feed.Sentence(err), time.Now().UnixMilli(); lost {
			w.ID = ""
		}
	})
}
