package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// maxFeedQueue is the maximum number of queued changes; a slower reader gets a new snapshot.
const maxFeedQueue = 8192

// feedQueue queues the numbered events of one connection for Feed.
type feedQueue struct {
	wake wake.Signal // holds a token when the queue may not be empty
	mu   sync.Mutex  // guards the fields below
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
	q.wake.Send()
}

func (q *feedQueue) take() (list []protocol.EventFrame, lost bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, lost = q.list, q.lost
	q.list, q.lost = nil, false
	return list, lost
}

// feedPause is the pause before the feed subscribes again when the gateway could not answer.
const feedPause = 2 * time.Second

// Feed calls onSnapshot with the gateway's current state and then onChange for every change, in
// order and without gaps, until ctx ends. After a reconnect, or when changes were lost, it starts
// over with onSnapshot. Both functions are called on Feed's goroutine and may block. A client can
// have only one Feed. It returns ctx's error, or an error at once if this peer cannot use the feed.
func (c *Client) Feed(ctx context.Context, onSnapshot func(protocol.FeedSnapshot), onChange func(protocol.Change)) error {
	return c.subscribe(ctx, func(conn *conn) (uint64, error) {
		snap, err := call(ctx, conn, protocol.FeedSubscribe, protocol.Empty{})
		if err == nil {
			onSnapshot(snap)
		}
		return snap.Seq, err
	}, onChange)
}

// Questions is [Client.Feed] for questions only: onPending gets those that wait, and onChange each one
// that opens or changes. A client can have either a Feed or Questions.
func (c *Client) Questions(ctx context.Context, onPending func([]protocol.Question), onChange func(protocol.Question)) error {
	return c.subscribe(ctx, func(conn *conn) (uint64, error) {
		r, err := call(ctx, conn, protocol.QuestionWatch, protocol.Empty{})
		if err == nil {
			onPending(r.Questions)
		}
		return r.Seq, err
	}, func(change protocol.Change) {
		if change.Question != nil {
			onChange(*change.Question)
		}
	})
}

// subscribe serves a subscription until ctx ends. begin subscribes over one connection, and returns
// the number of the last change that its answer contains.
func (c *Client) subscribe(ctx context.Context, begin func(*conn) (uint64, error), onChange func(protocol.Change)) error {
	for {
		conn, err := c.await(ctx)
		if err != nil {
			return err
		}
		err = conn.follow(ctx, begin, onChange)
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
		select {
		case <-ctx.Done():
		case <-conn.done:
		case <-time.After(feedPause): // the gateway could not answer: try again
		}
	}
}

// await waits for a live connection and returns it.
func (c *Client) await(ctx context.Context) (*conn, error) {
	for {
		conn, up := c.current()
		if conn != nil {
			select {
			case <-conn.done: // closing: wait for the next one
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

// follow serves the feed of one connection until the connection ends or a change is missing.
func (conn *conn) follow(ctx context.Context, begin func(*conn) (uint64, error), onChange func(protocol.Change)) error {
	seq, err := begin(conn)
	if err != nil {
		return err
	}
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
				continue // sent before the snapshot was taken
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
