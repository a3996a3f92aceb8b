package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
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
	added wake.Signal // contains a token when there are new queues

	mu     sync.Mutex // guards the fields below
	queues map[queueKey][]*item
	fresh  []queueKey    // new queues
	retry  chan struct{} // closed to send failed items again at once
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
	return &outbox{added: wake.New(), queues: make(map[queueKey][]*item), retry: make(chan struct{})}
}

func (o *outbox) add(i item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.queues[i.queue] = append(o.queues[i.queue], &i); len(o.queues[i.queue]) > 1 {
		return
	}
	o.fresh = append(o.fresh, i.queue)
	o.added.Send()
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
	defer o.mu.Unlock()
	close(o.retry)
	o.retry = make(chan struct{})
}

// first returns the first item of a queue, and a channel that is closed to send it again at once.
func (o *outbox) first(key queueKey) (*item, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queues[key][0], o.retry
}

// drop removes a queue's first item and reports whether there are more.
func (o *outbox) drop(i *item) (more bool) {
	if i.done != nil {
		i.done()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queues[i.queue][0] = nil // release the result's memory
	if o.queues[i.queue] = o.queues[i.queue][1:]; len(o.queues[i.queue]) == 0 {
		delete(o.queues, i.queue)
		return false
	}
	return true
}

// deliver sends items until ctx ends. It calls lost for items that the gateway refuses.
func (o *outbox) deliver(ctx context.Context, lost func(protocol.CallID, error)) {
	var queues crash.Group
	defer queues.Wait()
	sending := make(chan struct{}, maxSending)
	for {
		o.mu.Lock()
		fresh := o.fresh
		o.fresh = nil
		o.mu.Unlock()
		for _, key := range fresh {
			queues.Go(func() { o.deliverQueue(ctx, key, sending, lost) })
		}
		select {
		case <-o.added:
		case <-ctx.Done():
			return
		}
	}
}

// deliverQueue sends the items of a queue until it is empty. sending has a token for each item that
// is sent and not yet confirmed.
func (o *outbox) deliverQueue(ctx context.Context, key queueKey, sending chan struct{}, lost func(protocol.CallID, error)) {
	wait := retryMin
	for more := true; more; {
		i, retry := o.first(key)
		select {
		case sending <- struct{}{}:
		case <-ctx.Done():
			return
		}
		limited, cancel := context.WithTimeout(ctx, ackLimit)
		err := crash.Call("report to the gateway", func() error { return i.send(limited) })
		cancel()
		<-sending
		switch {
		case err == nil:
			more, wait = o.drop(i), retryMin
			continue
		case ctx.Err() != nil:
			return
		case !i.worthRetry(err):
			more = o.drop(i)
			lost(i.call, err)
			continue
		}
		select {
		case <-time.After(wait):
			wait = min(wait*2, retryMax)
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// worthRetry reports whether sending again may help: the gateway was not reached, or could not take
// the item this time. An item that it refused, such as the result of a call that it no longer
// knows, stays refused.
func (i *item) worthRetry(err error) bool {
	if _, hasCrashed := errors.AsType[*crash.Error](err); hasCrashed {
		return false
	}
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
	n.screens.Changed()
}

// reportPutBack sends the gateway what was put back after a command. It is reported again after each
// reconnection, until the gateway says that the person has answered.
func (n *Node) reportPutBack(b protocol.PutBack) {
	e := protocol.NodeExecEvent{EventID: b.ID, SessionID: b.ID, Event: protocol.ExecPutBack, CallID: b.CallID, PutBack: &b}
	n.out.add(item{queue: sessionKey(b.ID), send: func(ctx context.Context) error {
		ack, err := client.Call(ctx, n.client, protocol.ReportExec, e)
		if err != nil {
			return fmt.Errorf("reporting what was put back: %w", err)
		}
		if ack.Dropped {
			n.baseline.Questions.Forget(b.ID)
		}
		return nil
	}})
}
