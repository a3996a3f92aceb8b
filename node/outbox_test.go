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

// post is an outbox with its delivery goroutine, in a synctest bubble.
type post struct {
	*outbox
	mu         sync.Mutex // guards the fields below
	sent, lost []string
}

func deliver(t *testing.T) *post {
	p := &post{outbox: newOutbox()}
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

// add adds an item that fails with errs, one after the other, before it succeeds.
func (p *post) add(l lane, name string, errs ...error) {
	p.put(item{lane: l, call: protocol.CallID(name), send: func(context.Context) error {
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

func (p *post) soFar() (sent, lost string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, ""), strings.Join(p.lost, "")
}

func TestOutboxSendsALaneInOrderUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.add("one", "a", protocol.ErrUnavailable, context.DeadlineExceeded, protocol.ErrStorage)
		p.add("one", "b", protocol.ErrNotFound)
		p.add("one", "c", fmt.Errorf("report: %w", protocol.ErrForbidden))
		p.add("one", "d")
		if sent, _ := p.soFar(); sent != "a" {
			t.Errorf("sent %s", sent)
		}
		began := time.Now()
		p.nudge() // a reconnect does not wait
		if sent, _ := p.soFar(); sent != "aa" || time.Since(began) != 0 {
			t.Errorf("after a nudge: %s", sent)
		}
		time.Sleep(time.Hour)
		if all, refused := p.soFar(); all != "aaaabcd" || refused != "bc" {
			t.Errorf("sent %s, lost %s", all, refused)
		}
	})
}

func TestOutboxKnowsWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.add(resultLane("a"), "a", protocol.ErrUnavailable)
		p.soFar()
		if !p.holds("a") || p.holds("x") {
			t.Error("what waits is not known")
		}
		time.Sleep(retryMin)
		if p.soFar(); p.holds("a") || len(p.lanes) != 0 {
			t.Error("a confirmed item is kept")
		}
	})
}

func TestOutboxLetsNoItemHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		stuck := make(chan struct{})
		for i := range maxSending - 1 {
			p.put(item{lane: lane(fmt.Sprint(i)), send: func(ctx context.Context) error { <-stuck; return nil }})
		}
		p.add("failing", "f", protocol.ErrUnavailable)
		for range 100 {
			p.add(lane(protocol.NewID()), "x")
		}
		if sent, _ := p.soFar(); sent != "f"+strings.Repeat("x", 100) {
			t.Errorf("sent %s", sent)
		}
		p.put(item{lane: "last", send: func(ctx context.Context) error { <-stuck; return nil }})
		p.add("waits", "w")
		if sent, _ := p.soFar(); strings.Contains(sent, "w") {
			t.Error("more are under way than may be")
		}
		close(stuck)
		if sent, _ := p.soFar(); !strings.HasSuffix(sent, "w") {
			t.Errorf("sent %s", sent)
		}
	})
}

func TestOutboxGivesUpWhatIsRefusedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		many := func(err error) (errs []error) {
			for range 100 {
				errs = append(errs, err)
			}
			return errs
		}
		p.add("i", "i", many(protocol.ErrInternal)...)
		p.add("i", "next")
		p.add("s", "s", many(fmt.Errorf("store: %w", protocol.ErrStorage))...)
		p.add("u", "u", many(protocol.ErrUnavailable)...)
		p.add("n", "n", many(errors.New("connection lost"))...)
		time.Sleep(24 * time.Hour)
		sent, lost := p.soFar()
		for name, want := range map[string]int{"i": maxRefusals, "s": maxRefusals, "u": 101, "next": 1} {
			if n := strings.Count(strings.ReplaceAll(sent, "next", "N"), strings.ReplaceAll(name, "next", "N")); n != want {
				t.Errorf("%s was sent %d times, want %d", name, n, want)
			}
		}
		if lost != "is" && lost != "si" {
			t.Errorf("lost %s", lost)
		}
	})
}
