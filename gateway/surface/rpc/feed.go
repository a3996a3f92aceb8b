package rpc

import (
	"context"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

type feed struct {
	socket    *socket
	wg        *crash.Group // of the connection
	bus       *event.Bus
	canonical func(protocol.SessionKey) protocol.SessionKey

	mu         sync.Mutex // guards the fields below
	stop       func()     // stops the events and waits; nil if there are none
	subscribed bool       // the client follows all changes
	seq        uint64
	spelling   map[protocol.SessionKey]protocol.SessionKey // canonical key to the client's spelling
}

// pushChat starts to send chat events, with deltas only when the client asked for them. A client
// that is thousands of events behind could miss the end of its run unnoticed, so its connection is
// closed instead.
func (f *feed) pushChat(deltas bool) {
	wanted := func(change protocol.Change) bool {
		return change.Kind == protocol.ChangeChat && (deltas || change.Chat.State != protocol.ChatDelta)
	}
	f.push(f.bus.SubscribeOnly(wanted), func(change protocol.Change) {
		if change.Kind == protocol.ChangeResync {
			f.socket.Close(websocket.CloseTryAgainLater, "too slow")
			return
		}
		f.sendChat(*change.Chat)
	})
}

// push sends the changes of sub until the connection ends or another push replaces it.
func (f *feed) push(sub *event.Subscription, send func(protocol.Change)) {
	ctx, cancel := context.WithCancel(f.socket.ctx)
	done := make(chan struct{})
	f.mu.Lock()
	stop := f.stop
	f.stop = func() {
		cancel()
		<-done
	}
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
	f.wg.Go(func() {
		defer close(done)
		defer cancel()
		defer sub.Close()
		for change := range sub.All(ctx) {
			crash.Run("feed", func() { send(change) })
		}
	})
}

func (f *feed) sendChange(change protocol.Change) {
	f.mu.Lock()
	f.seq++
	seq := f.seq
	f.mu.Unlock()
	frame, err := protocol.EncodeEvent(protocol.EventFeed, change, seq)
	if err != nil || len(frame) > protocol.MaxWriteFrame {
		// Too large for a frame: the client loads the state again instead.
		frame, _ = protocol.EncodeEvent(protocol.EventFeed, protocol.Change{Kind: protocol.ChangeResync}, seq)
	}
	f.socket.send(f.socket.ctx, frame)
}

func (f *feed) sendChat(e protocol.ChatEvent) {
	f.mu.Lock()
	if own, ok := f.spelling[e.SessionKey]; ok {
		e.SessionKey = own
	}
	f.mu.Unlock()
	if frame, err := protocol.EncodeEvent(protocol.EventChat, e, 0); err == nil && len(frame) <= protocol.MaxWriteFrame {
		f.socket.send(f.socket.ctx, frame)
	}
}

// storeSpelling stores the client's spelling of a session key, and returns the canonical key.
func (f *feed) storeSpelling(key protocol.SessionKey) protocol.SessionKey {
	canonical := f.canonical(key)
	f.mu.Lock()
	f.spelling[canonical] = key
	f.mu.Unlock()
	return canonical
}

func (f *feed) isSubscribed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subscribed
}

// subscribe stops all events until the next push, and returns the number of the last change.
func (f *feed) subscribe() (seq uint64) {
	f.mu.Lock()
	stop := f.stop
	f.stop, f.subscribed = nil, true
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seq
}

type feedMethods struct {
	bus       *event.Bus
	status    func(context.Context) protocol.Status
	sessions  Sessions
	tools     Tools
	questions Queue
	transfers *transfer.Engine
	nodes     *nodes.Hub
}

func (m feedMethods) register(all methods) {
	handle(all, protocol.FeedSubscribe, m.subscribe)
	handle(all, protocol.QuestionWatch, m.watchQuestions)
	handle(all, protocol.StatusGet, query(func(ctx context.Context) (protocol.Status, error) { return m.status(ctx), nil }))
	handle(all, protocol.AgentPause, plain(func(ctx context.Context, p protocol.PauseParams) (protocol.Status, error) {
		err := m.sessions.Runs.Pause(ctx, p.Paused)
		return m.status(ctx), err
	}))
}

// textInterval is the minimum time between two pieces of a streamed text in a feed: a model may send
// more than 30 words a second, and each piece is encoded, sent and applied on its own.
const textInterval = 100 * time.Millisecond

// subscribe answers feed.subscribe with a snapshot; every later change follows. Changes that happen
// while the snapshot is made are sent again after it, which does no harm.
func (m feedMethods) subscribe(ctx context.Context, r *request, _ protocol.Empty) (protocol.FeedSnapshot, error) {
	sub := m.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind != protocol.ChangeChat })
	sub.PaceText(textInterval)
	snap, err := m.snapshot(ctx)
	if err != nil {
		sub.Close()
		return snap, err
	}
	snap.Seq = r.conn.feed.subscribe() // no change may be numbered before the response
	r.afterResponse(func() { r.conn.feed.push(sub, r.conn.feed.sendChange) })
	return snap, nil
}

// watchQuestions answers question.watch with the pending questions; their changes follow, instead of
// what feed.subscribe sends.
func (m feedMethods) watchQuestions(ctx context.Context, r *request, _ protocol.Empty) (res protocol.QuestionWatchResult, err error) {
	sub := m.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeQuestion })
	if res.Questions, err = m.questions.Pending(ctx); err != nil {
		sub.Close()
		return res, err
	}
	res.Questions = list(res.Questions)
	res.Seq = r.conn.feed.subscribe()
	r.afterResponse(func() { r.conn.feed.push(sub, r.conn.feed.sendChange) })
	return res, nil
}

func (m feedMethods) snapshot(ctx context.Context) (snap protocol.FeedSnapshot, err error) {
	chats, err := m.sessions.Chats.List(ctx, protocol.SessionsListParams{Limit: protocol.MaxSnapshotSessions})
	if err != nil {
		return snap, err
	}
	if snap.Questions, err = m.questions.Pending(ctx); err != nil {
		return snap, err
	}
	snap.Sessions, snap.Runs, snap.Questions = list(chats.Sessions), list(m.sessions.Runs.Active()), list(snap.Questions)
	snap.Transfers = m.transfers.Open()
	snap.Nodes, snap.Calls, snap.Status = list(m.nodes.Nodes()), list(m.tools.Running()), m.status(ctx)
	snap.Networks = m.nodes.Networks.List()
	return snap, nil
}
