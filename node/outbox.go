package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

const (
	// ackLimit is how long the gateway may take to confirm an item; a large result on a slow line
	// needs time.
	ackLimit = 2 * time.Minute
	retryMin = time.Second
	retryMax = time.Minute
	// maxSending bounds the items that are sent and not yet confirmed, so that one slow
	// confirmation does not delay all others.
	maxSending = 16
	// maxFailures is how often the gateway may fail to take an item before the item is dropped.
	// While the gateway cannot be reached, or says that it is unavailable, the item is retried
	// without limit.
	maxFailures = 8
)

// outbox holds items that the gateway must receive even when the connection breaks, until it has
// confirmed them. Items of one queue are sent one after the other in order; queues are independent.
type outbox struct {
	wake chan struct{}

	mu     sync.Mutex // guards the fields below
	queues map[queueKey][]*item
	ready  []queueKey // queues with an item to send, in the order in which they became ready
	failed []queueKey // queues whose item must be sent again later
}

// queueKey is an ordering key: each result has its own queue, and each session's events have one.
type queueKey string

func resultKey(call protocol.CallID) queueKey { return queueKey("call " + string(call)) }

func sessionKey(id string) queueKey { return queueKey("session " + id) }

// item is one thing to deliver. send is called again after every failure that is worth a retry;
// done, which may be nil, is called once the item is confirmed or dropped.
type item struct {
	queue    queueKey
	call     protocol.CallID // the call that it comes from
	send     func(context.Context) error
	done     func()
	failures int
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), queues: make(map[queueKey][]*item)}
}

// add adds an item.
func (o *outbox) add(i item) {
	o.mu.Lock()
	o.queues[i.queue] = append(o.queues[i.queue], &i)
	if len(o.queues[i.queue]) == 1 {
		o.ready = append(o.ready, i.queue)
	}
	o.mu.Unlock()
	o.wakeUp()
}

// has reports whether a call's result waits for confirmation.
func (o *outbox) has(call protocol.CallID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queues[resultKey(call)]) > 0
}

// calls returns the calls of which something waits for confirmation.
func (o *outbox) calls() (list []protocol.CallID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, items := range o.queues {
		if call := items[0].call; call != "" {
			list = append(list, call)
		}
	}
	return list
}

// retryNow retries all failed items at once, as after a reconnect.
func (o *outbox) retryNow() {
	o.mu.Lock()
	o.ready, o.failed = append(o.ready, o.failed...), nil
	o.mu.Unlock()
	o.wakeUp()
}

func (o *outbox) wakeUp() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next returns the first item of the next ready queue. That queue is not ready until the outcome of
// sending is known.
func (o *outbox) next() *item {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.ready) == 0 {
		return nil
	}
	l := o.ready[0]
	o.ready = o.ready[1:]
	return o.queues[l][0]
}

// drop removes a queue's first item, which next returned.
func (o *outbox) drop(i *item) {
	if i.done != nil {
		i.done()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queues[i.queue][0] = nil // release the result's memory
	if o.queues[i.queue] = o.queues[i.queue][1:]; len(o.queues[i.queue]) > 0 {
		o.ready = append(o.ready, i.queue)
	} else {
		delete(o.queues, i.queue)
	}
}

// retry adds a queue to the failed ones.
func (o *outbox) retry(l queueKey) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, l)
}

// outcome is the result of sending an item.
type outcome struct {
	item *item
	err  error
}

// deliver sends items until ctx ends. It calls lost for items that the gateway refuses.
func (o *outbox) deliver(ctx context.Context, lost func(protocol.CallID, error)) {
	var sending sync.WaitGroup
	outcomes := make(chan outcome, maxSending)
	defer func() { // an item that has just been confirmed need not be sent by the next node
		sending.Wait()
		close(outcomes)
		for c := range outcomes {
			if c.err == nil {
				o.drop(c.item)
			}
		}
	}()
	free := maxSending
	wait := retryMin
	var again <-chan time.Time
	for {
		for free > 0 {
			i := o.next()
			if i == nil {
				break
			}
			free--
			sending.Go(func() {
				limited, cancel := context.WithTimeout(ctx, ackLimit)
				defer cancel()
				outcomes <- outcome{i, i.send(limited)}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-again:
			again = nil
			o.retryNow()
		case c := <-outcomes:
			free++
			switch {
			case c.err == nil:
				o.drop(c.item)
				wait = retryMin
			case ctx.Err() != nil:
				return
			case c.item.worthRetry(c.err):
				o.retry(c.item.queue)
				if again == nil {
					again = time.After(wait)
					wait = min(wait*2, retryMax)
				}
			default:
				o.drop(c.item)
				lost(c.item.call, c.err)
			}
		}
	}
}

// worthRetry reports whether sending again may help: the gateway was not reached, or could not take
// the item this time. An item that it refused, such as the result of a call that it no longer
// knows, stays refused.
func (i *item) worthRetry(err error) bool {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return true
	}
	switch {
	case errors.Is(e, protocol.ErrUnavailable), errors.Is(e, protocol.ErrNotConnected):
		return true
	case errors.Is(e, protocol.ErrTimeout), errors.Is(e, protocol.ErrStorage), errors.Is(e, protocol.ErrInternal):
	case !e.Retryable:
		return false
	}
	i.failures++
	return i.failures < maxFailures
}

// reportExec sends the gateway the state of a background command. The stored end of a command, which
// is retained in case it does not reach the gateway, is removed once that is confirmed or refused.
func (n *Node) reportExec(e protocol.NodeExecEvent) {
	report := item{queue: sessionKey(e.SessionID), call: e.CallID, send: func(ctx context.Context) error {
		if _, err := client.Call(ctx, n.client, protocol.ReportExec, e); err != nil {
			return fmt.Errorf("reporting a command: %w", err)
		}
		return nil
	}}
	if e.Event != protocol.ExecStarted {
		report.done = func() { n.jobs.Confirm(e.SessionID) }
	}
	n.out.add(report)
}
