package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// eventCollector is an outbox with its delivery goroutine, in a synctest bubble.
type eventCollector struct {
	*outbox
	mu         sync.Mutex // guards the fields below
	sent, lost []string
}

func deliver(t *testing.T) *eventCollector {
	p := &eventCollector{outbox: newOutbox()}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.deliver(ctx, func(c protocol.CallID, _ error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lost = append(p.lost, string(c))
		})
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return p
}

// post adds an item that fails with errs, one after the other, before it succeeds.
func (p *eventCollector) post(l queueKey, name string, errs ...error) {
	p.add(item{queue: l, call: protocol.CallID(name), send: func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sent = append(p.sent, name)
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}})
}

func (p *eventCollector) sentAndLost() (sent, lost string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, ""), strings.Join(p.lost, "")
}

func TestOutboxSendsALaneInOrderUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.post("one", "a", protocol.ErrUnavailable, context.DeadlineExceeded, protocol.ErrStorage)
		p.post("one", "b", protocol.ErrNotFound)
		p.post("one", "c", fmt.Errorf("report: %w", protocol.ErrForbidden))
		p.post("one", "d")
		if sent, _ := p.sentAndLost(); sent != "a" {
			t.Errorf("got %q sent, want a", sent)
		}
		began := time.Now()
		p.retryNow() // a reconnect does not wait
		if sent, _ := p.sentAndLost(); sent != "aa" || time.Since(began) != 0 {
			t.Errorf("after a reconnect: got %q sent after %v, want aa at once", sent, time.Since(began))
		}
		time.Sleep(time.Hour)
		if all, refused := p.sentAndLost(); all != "aaaabcd" || refused != "bc" {
			t.Errorf("got %q sent, %q refused, want aaaabcd, bc", all, refused)
		}
	})
}

func TestOutboxListsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.post(resultKey("a"), "a", protocol.ErrUnavailable)
		p.sentAndLost()
		if !p.has("a") || p.has("x") {
			t.Error("what waits is not known")
		}
		time.Sleep(retryMin)
		p.sentAndLost()
		if p.has("a") || len(p.queues) != 0 {
			t.Error("a confirmed item is kept")
		}
	})
}

func TestOutboxItemBlocksNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		stuck := make(chan struct{})
		for i := range maxSending - 1 {
			p.add(item{queue: queueKey(fmt.Sprint(i)), send: func(ctx context.Context) error { <-stuck; return nil }})
		}
		p.post("failing", "f", protocol.ErrUnavailable)
		for range 100 {
			p.post(queueKey(protocol.NewID()), "x")
		}
		if sent, _ := p.sentAndLost(); strings.Count(sent, "x") != 100 || strings.Count(sent, "f") != 1 {
			t.Errorf("got %q sent, want 100 times x and once f", sent)
		}
		p.add(item{queue: "last", send: func(ctx context.Context) error { <-stuck; return nil }})
		synctest.Wait()
		p.post("waits", "w")
		if sent, _ := p.sentAndLost(); strings.Contains(sent, "w") {
			t.Error("more are under way than may be")
		}
		close(stuck)
		if sent, _ := p.sentAndLost(); !strings.HasSuffix(sent, "w") {
			t.Errorf("got %q sent, want w last", sent)
		}
	})
}

func TestOutboxDropsRefusedItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		many := func(err error) (errs []error) {
			for range 100 {
				errs = append(errs, err)
			}
			return errs
		}
		p.post("i", "i", many(protocol.ErrInternal)...)
		p.post("i", "next")
		p.post("s", "s", many(fmt.Errorf("store: %w", protocol.ErrStorage))...)
		p.post("u", "u", many(protocol.ErrUnavailable)...)
		p.post("n", "n", many(errors.New("connection lost"))...)
		time.Sleep(24 * time.Hour)
		sent, lost := p.sentAndLost()
		for name, want := range map[string]int{"i": maxFailures, "s": maxFailures, "u": 101, "next": 1} {
			if n := strings.Count(strings.ReplaceAll(sent, "next", "N"), strings.ReplaceAll(name, "next", "N")); n != want {
				t.Errorf("%s was sent %d times, want %d", name, n, want)
			}
		}
		if lost != "is" && lost != "si" {
			t.Errorf("got %q lost, want i and s", lost)
		}
	})
}
