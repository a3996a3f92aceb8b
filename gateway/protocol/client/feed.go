package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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

// Pauses before the feed asks again on a connection where the gateway could not answer.
const (
	minFeedPause = 500 * time.Millisecond
	maxFeedPause = 10 * time.Second
)

// Feed calls onSnapshot with the gateway's present state and then onChange for every change, in order and without a gap, until ctx ends.
// After a reconnect, or when changes were lost, it begins anew with onSnapshot. Both are called on Feed's goroutine and may
// block; a client has at most one Feed. It returns ctx's error, or at once that the gateway has no feed for this peer.
func (c *Client) Feed(ctx context.Context, onSnapshot func(protocol.FeedSnapshot), onChange func(protocol.Change)) error {
	pause := minFeedPause
	for {
		conn, err := c.await(ctx)
		if err != nil {
			return err
		}
		err = c.follow(ctx, conn, func(s protocol.FeedSnapshot) {
			pause = minFeedPause
			onSnapshot(s)
		}, onChange)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.log.Debug("Feed starts over", "err", err)
		switch {
		case errors.Is(err, errGap):
			continue
		case errors.Is(err, protocol.ErrNotFound), errors.Is(err, protocol.ErrForbidden):
			return fmt.Errorf("subscribe to the feed: %w", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-conn.done:
		case <-timer.C: // the gateway was not able to: ask again
			pause = min(2*pause, maxFeedPause)
		}
		timer.Stop()
	}
}

// await returns the connection as soon as there is one that lives.
func (c *Client) await(ctx context.Context) (*conn, error) {
	for {
		conn, up := c.current()
		if conn != nil {
			select {
			case <-conn.done: // going: the next one is awaited
			default:
				return conn, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-up:
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
