package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// follow records the calls of a feed.
func follow(t *testing.T, f func(p peer, n int), limit time.Duration) (log []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, f)
		defer stop()
		c, quit := start(t, Options{Dial: dial})
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		err = c.Feed(ctx, func(s protocol.FeedSnapshot) { log = append(log, fmt.Sprintf("snapshot %d", s.Seq)) },
			func(ch protocol.Change) { log = append(log, ch.Path) })
		quit()
	})
	return log, err
}

// subscribe answers the next feed.subscribe.
func (p peer) subscribe(seq uint64) bool {
	r, ok := p.request()
	if ok && r.Method != protocol.FeedSubscribe.Name {
		p.t.Errorf("%s instead of feed.subscribe", r.Method)
	}
	p.answer(r.ID, protocol.FeedSnapshot{Seq: seq})
	return ok
}

func (p peer) change(seq uint64) {
	p.event(protocol.EventFeed, protocol.Change{Kind: protocol.ChangeConfig, Path: fmt.Sprint(seq)}, seq)
}

func TestFeedRestartsAfterGapResyncAndReconnect(t *testing.T) {
	log, err := follow(t, func(p peer, n int) {
		p.hello()
		if n == 2 {
			p.subscribe(0)
			p.change(1)
			p.idle()
			return
		}
		p.change(1) // before the snapshot, and part of it
		p.subscribe(1)
		p.change(2)
		p.change(3)
		p.change(5) // 4 is missing
		p.subscribe(5)
		p.change(6)
		p.event(protocol.EventFeed, protocol.Change{Kind: protocol.ChangeResync}, 7)
		p.subscribe(7)
		p.change(8)
		time.Sleep(time.Second) // until the client has seen it: then the connection ends
	}, time.Minute)
	want := "snapshot 1, 2, 3, snapshot 5, 6, snapshot 7, 8, snapshot 0, 1"
	if got := strings.Join(log, ", "); got != want || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("feed = %s, %v, want %s", got, err, want)
	}
}

func TestFeedAsksAgainWhenTheGatewayCannotAnswer(t *testing.T) {
	log, err := follow(t, func(p peer, _ int) {
		p.hello()
		for range 3 {
			r, _ := p.request()
			p.refuse(r.ID, protocol.ErrStorage)
		}
		p.subscribe(0)
		p.idle()
	}, time.Minute)
	if !slices.Equal(log, []string{"snapshot 0"}) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("feed = %v, %v; want %v and error DeadlineExceeded", log, err, []string{"snapshot 0"})
	}
}

func TestFeedEndsWhereThereIsNone(t *testing.T) {
	_, err := follow(t, func(p peer, _ int) {
		p.hello()
		r, _ := p.request()
		p.refuse(r.ID, protocol.ErrNotFound.With("Unknown method: feed.subscribe"))
		p.idle()
	}, time.Minute)
	if !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("Feed = %v, want error ErrNotFound", err)
	}
}

func TestFeedSurvivesAReaderThatIsTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := listen(t, func(p peer, _ int) {
			p.hello()
			p.subscribe(0)
			for seq := range uint64(maxFeedQueue + 100) {
				p.change(seq + 1)
			}
			p.subscribe(maxFeedQueue + 100)
			p.idle()
		})
		defer stop()
		c, quit := start(t, Options{Dial: dial})
		snapshots := 0
		ctx, cancel := context.WithCancel(t.Context())
		c.Feed(ctx, func(protocol.FeedSnapshot) {
			if snapshots++; snapshots == 2 {
				cancel()
				return
			}
			time.Sleep(time.Minute)
		}, func(protocol.Change) {})
		if snapshots != 2 {
			t.Errorf("got %d snapshots, want 2", snapshots)
		}
		quit()
	})
}
