// Package event is the gateway's event bus: it delivers a stream of [protocol.Change] to any number
// of subscribers. For a slow subscriber, a change that may be dropped (see
// [protocol.Change.MayDrop]) is merged or skipped; any other change is queued. A subscriber whose
// queue is full gets a resync instead and must load the state again.
package event

import (
	"context"
	"iter"
	"sync"
	"time"

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// MaxQueue is the number of changes that are queued for a slow subscriber before it must resync.
const MaxQueue = 4096

// Bus delivers changes. It is safe for concurrent use. The zero value is ready to use.
type Bus struct {
	mu   sync.Mutex // guards subs
	subs map[*Subscription]struct{}
}

// Publish delivers c to every subscriber. It never blocks. c and the values that it points to must
// not be changed afterwards.
func (b *Bus) Publish(c protocol.Change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subs {
		if s.filter == nil || s.filter(c) {
			s.enqueue(c) // under b.mu: every subscriber sees the same order
		}
	}
}

// PublishNotice publishes a notice for people; level is info, warning or error.
func (b *Bus) PublishNotice(level, text string) {
	b.PublishNoticeOf(protocol.Notice{Level: level, Text: text})
}

// PublishNoticeOf publishes a notice with the present time.
func (b *Bus) PublishNoticeOf(n protocol.Notice) {
	n.At = time.Now().UnixMilli()
	b.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &n})
}

// Subscribe starts a subscription to all changes; Close ends it.
func (b *Bus) Subscribe() *Subscription { return b.SubscribeOnly(nil) }

// SubscribeOnly starts a subscription to the changes for which filter returns true, and to a resync
// when the subscriber was too slow for those. filter must be fast and must not use the
// bus; nil selects all changes.
func (b *Bus) SubscribeOnly(filter func(protocol.Change) bool) *Subscription {
	s := &Subscription{bus: b, filter: filter, wake: wake.New()}
	b.mu.Lock()
	if b.subs == nil {
		b.subs = make(map[*Subscription]struct{})
	}
	b.subs[s] = struct{}{}
	b.mu.Unlock()
	return s
}

// Subscription is the queue of one subscriber.
type Subscription struct {
	bus    *Bus
	filter func(protocol.Change) bool
	wake   wake.Signal   // holds a token when the queue may not be empty
	pace   time.Duration // see PaceText

	mu     sync.Mutex // guards the fields below
	queue  []protocol.Change
	textAt time.Time // when Next returned the latest piece of a text
}

// PaceText makes Next return pieces of a streamed text at least an interval apart, and merges those
// that a model sends in between. Any other change ends the wait. Call it before Next.
func (s *Subscription) PaceText(interval time.Duration) { s.pace = interval }

// Close ends the subscription.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	delete(s.bus.subs, s)
	s.bus.mu.Unlock()
}

func (s *Subscription) enqueue(c protocol.Change) {
	s.mu.Lock()
	switch {
	case len(s.queue) > 0 && merge(&s.queue[len(s.queue)-1], c):
		s.mu.Unlock()
		return // the subscriber was woken up for the change before
	case len(s.queue) >= MaxQueue && c.MayDrop():
	case len(s.queue) >= MaxQueue:
		s.queue = append(s.queue[:0:0], protocol.Change{Kind: protocol.ChangeResync})
	case len(s.queue) == 1 && s.queue[0].Kind == protocol.ChangeResync:
		// The subscriber loads all changes before its resync anew.
	default:
		s.queue = append(s.queue, c)
	}
	s.mu.Unlock()
	s.wake.Send()
}

// merge combines next with last if both report the same progress.
func merge(last *protocol.Change, next protocol.Change) bool {
	if last.Kind != next.Kind {
		return false
	}
	switch next.Kind {
	case protocol.ChangeDelta:
		a, b := last.Delta, next.Delta
		if a.RunID != b.RunID || a.Step != b.Step || a.Thinking != b.Thinking || a.Offset+len(a.Text) != b.Offset {
			return false
		}
		d := *a // a may be shared with other subscribers
		d.Text += b.Text
		last.Delta = &d
		return true
	case protocol.ChangeChat:
		a, b := last.Chat, next.Chat
		if a.State != protocol.ChatDelta || b.State != protocol.ChatDelta || a.SessionKey != b.SessionKey ||
			a.RunID == nil || b.RunID == nil || *a.RunID != *b.RunID {
			return false
		}
		d := *a
		d.Text += b.Text
		last.Chat = &d
		return true
	case protocol.ChangeTransfer:
		if last.Transfer.ID != next.Transfer.ID || last.Transfer.State != next.Transfer.State {
			return false
		}
		last.Transfer = next.Transfer
		return true
	case protocol.ChangeCall:
		if last.Call.CallID != next.Call.CallID || last.Call.State != next.Call.State {
			return false
		}
		last.Call = next.Call
		return true
	}
	return false
}

// Next waits for the next change. It returns ctx's error when ctx ends.
func (s *Subscription) Next(ctx context.Context) (protocol.Change, error) {
	for {
		c, due, ok := s.take(time.Now())
		if ok {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return protocol.Change{}, ctx.Err()
		case <-s.wake:
		case <-due:
		}
	}
}

// take takes the first change from the queue. If that is a piece of a text that is to wait for the
// next one, due receives when its time has come.
func (s *Subscription) take(now time.Time) (c protocol.Change, due <-chan time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return c, nil, false
	}
	isText := s.queue[0].Kind == protocol.ChangeDelta
	if wait := s.textAt.Add(s.pace).Sub(now); isText && len(s.queue) == 1 && wait > 0 {
		return c, time.After(wait), false
	}
	if isText {
		s.textAt = now
	}
	c = s.queue[0]
	s.queue[0] = protocol.Change{}
	s.queue = s.queue[1:]
	return c, nil, true
}

// All yields changes until ctx ends.
func (s *Subscription) All(ctx context.Context) iter.Seq[protocol.Change] {
	return func(yield func(protocol.Change) bool) {
		for {
			c, err := s.Next(ctx)
			if err != nil || !yield(c) {
				return
			}
		}
	}
}
