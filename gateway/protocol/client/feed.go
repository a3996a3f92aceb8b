package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"fairlead/gateway/protocol"
)

// maxFeedQueue is how many changes wait for a slow reader before it starts over with a snapshot.
const maxFeedQueue = 8192

// feedQueue holds the numbered events of one connection until Feed takes them.
type feedQueue struct {
	wake chan struct{} // holds a token when there may be something to take
	mu   sync.Mutex    // guards what follows
	list []protocol.EventFrame
	lost bool
}

func (q *feedQueue) add(e protocol.EventFrame) {
	q.mu.Lock()
	if len(q.list) >= maxFeedQueue {
		q.list, q.lost = nil, true
	}
	q.list = append(q.list, e)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *feedQueue) take() (list []protocol.EventFrame, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, lost = q.list, q.lost
	q.list, q.lost = nil, false
	return list, lost
}

// Feed calls onSnapshot with the gateway's present state and then onChange for every change, in order and without a gap, until ctx ends.
// After a reconnect, or when changes were lost, it begins anew with onSnapshot. Both are called on Feed's goroutine and may
// block; a client has at most one Feed. It returns ctx's error.
func (c *Client) Feed(ctx context.Context, onSnapshot func(protocol.FeedSnapshot), onChange func(protocol.Change)) error {
	for {
		conn, up := c.current()
		if conn == nil {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-up:
			}
			continue
		}
		err := c.follow(ctx, conn, onSnapshot, onChange)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.log.Debug("Feed starts over", "err", err)
		var refused *protocol.Error
		if errors.As(err, &refused) && !errors.Is(err, protocol.ErrUnavailable) {
			return fmt.Errorf("subscribe to the feed: %w", err)
		}
		if !errors.Is(err, errGap) { // the connection is going: wait for its end, then for the next
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-conn.done:
			}
			c.mu.Lock()
			if c.conn == conn {
				up = c.up
			} else {
				up = nil
			}
			c.mu.Unlock()
			if up != nil {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-up:
				}
			}
		}
	}
}

var errGap = errors.New("changes were lost")

// follow serves the feed of one connection until it ends or has a gap.
func (c *Client) follow(ctx context.Context, conn *conn, onSnapshot func(protocol.FeedSnapshot), onChange func(protocol.Change)) error {
	snap, err := call(ctx, conn, protocol.FeedSubscribe, protocol.Empty{})
	if err != nil {
		return err
	}
	onSnapshot(snap)
	seq := snap.Seq
	for {
		list, lost := conn.feed.take()
		if lost {
			return errGap
		}
		for _, e := range list {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if e.Seq == nil || *e.Seq <= seq {
				continue // sent before the snapshot was made
			}
			if *e.Seq != seq+1 {
				return errGap
			}
			seq++
			var change protocol.Change
			if err := json.Unmarshal(e.Payload, &change); err != nil || change.Kind == protocol.ChangeResync {
				return errGap
			}
			onChange(change)
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-conn.feed.wake:
		case <-conn.done:
			return errLostFeed
		}
	}
}

var errLostFeed = protocol.ErrUnavailable.With("the connection was lost")
