package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// stall is the longest time without any message about a running transfer.
	stall = 60 * time.Second
	// answerLimit is the time limit for the first answer of an end that supports streams: a source
	// may have to count a million files on a slow disk, and a destination may have to ask a person.
	// Meanwhile its connection shows that it is alive.
	answerLimit = 10 * time.Minute
	// startDelay is the delay between a source's report and transfer.start, for nodes of GSV:
	// these handle transfer.start only after they have read the response to their report.
	startDelay = 150 * time.Millisecond
	// stopLimit is the time limit for telling an end that the transfer has stopped.
	stopLimit = 2 * time.Second
)

// Causes of the end of an attempt.
var (
	errPaused    = errors.New("paused")
	errCancelled = errors.New("cancelled")
	errShutdown  = errors.New("the gateway is shutting down")
	errStall     = protocol.ErrTimeout.With("Transfer timeout")
	// errDirectLost makes the transfer continue through the gateway at once.
	errDirectLost = errors.New("the machines lost their direct connection")
)

// finalError is a permanent failure that an end reported; an automatic retry would not help.
type finalError struct{ text string }

func (e *finalError) Error() string { return e.text }

func final(format string, args ...any) error { return &finalError{fmt.Sprintf(format, args...)} }

// outcome is the result of a finished attempt.
type outcome struct {
	done  protocol.TransferDoneParams
	bytes int64 // that have arrived
}

// attempt is one exchange with the two ends: of all files between Fairlead's own ends, or of one
// file if an end knows only the basic protocol.
type attempt struct {
	mover        *mover
	relays       *Relays
	direct       *directPairs
	relay        *relay
	cancel       context.CancelCauseFunc // cancels this exchange
	awaitsAnswer atomic.Bool             // an end that supports streams has not answered yet
	isOpen       atomic.Bool             // the destination has accepted, and is not notified of the end yet
	// Set before any frame is forwarded:
	requested  stream.Requested      // the names that the source may send
	introduced bool                  // the ends know how to connect directly
	earlier    stream.ProgressReport // the amounts moved by earlier exchanges of this transfer
}

func newAttempt(m *mover, src, dst *transferEnd) *attempt {
	return &attempt{mover: m, relays: m.services.relays, direct: m.services.direct, relay: newRelay(*src, *dst)}
}

// exchange runs f while reports and frames of the ends are routed to this attempt, and stops the
// ends when f fails.
func (a *attempt) exchange(ctx context.Context, f func(context.Context, *crash.Group) (outcome, error)) (out outcome, err error) {
	r := a.relay
	src, dst := r.src, r.dst
	src.id = a.relays.number()
	if dst.link == src.link {
		dst.id = a.relays.number()
	} else {
		dst.id = src.id
	}
	unregister := a.relays.register(r)
	defer unregister()
	ctx, cancel := context.WithCancelCause(ctx)
	a.cancel = cancel
	var wg crash.Group
	a.spawn(&wg, func() { a.watch(ctx) })
	out, err = f(ctx, &wg)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		a.stop(err)
	}
	a.checkDirect(err)
	cancel(nil)
	r.src.in.Close(io.ErrClosedPipe)
	r.dst.in.Close(io.ErrClosedPipe)
	wg.Wait()
	return out, err
}

// spawn starts f in a goroutine of the attempt, which fails if f panics.
func (a *attempt) spawn(wg *crash.Group, f func()) {
	wg.Go(func() {
		if err := crash.Run("transfer", f); err != nil {
			a.cancel(err)
		}
	})
}

// watch cancels the attempt when an end disconnects or nothing is received for [stall]. A transfer
// in which nothing moves has no speed.
func (a *attempt) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.relay.src.link.Gone():
			a.cancel(disconnectedError(a.relay.src.name))
			return
		case <-a.relay.dst.link.Gone():
			a.cancel(disconnectedError(a.relay.dst.name))
			return
		case now := <-tick.C:
			a.mover.live.expireSpeed(now)
			limit := stall
			if a.awaitsAnswer.Load() {
				limit = answerLimit
			}
			if a.relay.sinceActivity() > limit {
				a.cancel(errStall)
				return
			}
		}
	}
}

// disconnectedError returns the error for an end that has disconnected.
func disconnectedError(end protocol.NodeID) error {
	if end == protocol.Here {
		return offlineError(windowText)
	}
	return offlineError(fmt.Sprintf("Node disconnected: %s", end))
}

// askSource asks the source for its report.
func (a *attempt) askSource(ctx context.Context, send protocol.TransferSend) (meta protocol.TransferMetaParams, err error) {
	a.awaitsAnswer.Store(a.relay.src.isFairlead)
	defer a.awaitsAnswer.Store(false)
	send.TransferID = a.relay.src.id
	if err := a.relay.src.event(ctx, protocol.EventTransferSend, send); err != nil {
		return meta, err
	}
	if meta, err = wait(ctx, a.relay.meta); err == nil && meta.Error != "" {
		err = final("%s", meta.Error)
	}
	if err == nil && meta.Size == nil {
		meta.Size = new(int64)
	}
	return meta, err
}

// openDestination asks the destination to get ready.
func (a *attempt) openDestination(ctx context.Context, receive protocol.TransferReceive) (accept protocol.TransferAcceptParams, err error) {
	a.awaitsAnswer.Store(a.relay.dst.isFairlead)
	defer a.awaitsAnswer.Store(false)
	receive.TransferID = a.relay.dst.id
	if err := a.relay.dst.event(ctx, protocol.EventTransferReceive, receive); err != nil {
		return accept, err
	}
	if accept, err = wait(ctx, a.relay.accept); err == nil && accept.Error != "" {
		err = final("%s", accept.Error)
	}
	if err == nil {
		a.isOpen.Store(true)
	}
	return accept, err
}

// startSource asks the source to begin sending. destination is nil unless it listens for the
// source.
func (a *attempt) startSource(ctx context.Context, destination *protocol.TransferPeer) error {
	return a.relay.src.event(ctx, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: a.relay.src.id, Peer: destination})
}

// run executes a transfer between ends that support streams. Their frames carry records.
func (a *attempt) run(ctx context.Context, wg *crash.Group) (out outcome, err error) {
	r, t := a.relay, a.mover.live.view()
	send := protocol.TransferSend{Path: pathOf(t.Sources[0]), Stream: a.terms(t)}
	for _, s := range t.Sources {
		send.Stream.Paths = append(send.Stream.Paths, pathOf(s))
	}
	if a.offersDirect() {
		send.Stream.Peer = &protocol.TransferPeer{}
	}
	meta, err := a.askSource(ctx, send)
	if err != nil {
		return out, err
	}
	a.mover.live.update(func(row *store.Transfer) {
		row.Bytes, row.Files, row.Mime = *meta.Size, meta.Files, meta.Mime
		row.Route = a.pair().route()
	})

	a.awaitsAnswer.Store(true) // a person may have to answer
	if err := a.mover.authorizeStartup(ctx, t, meta.Startup); err != nil {
		return out, err
	}
	receive := protocol.TransferReceive{Path: pathOf(t.Destination), Size: *meta.Size, Mime: meta.Mime, Stream: a.terms(t), Holes: meta.Holes}
	receive.Stream.Startup = meta.Startup
	if send.Stream.Peer != nil && meta.Peer != nil {
		receive.Stream.Peer = &protocol.TransferPeer{Pin: meta.Peer.Pin}
	}
	accept, err := a.openDestination(ctx, receive)
	if err != nil {
		return out, err
	}
	if receive.Stream.Peer == nil {
		accept.Peer = nil
	}
	a.introduced = accept.Peer != nil
	a.requested = stream.Requested{Machine: string(r.src.name), Names: requestedNames(t)}
	a.spawn(wg, func() { a.forward(ctx, r.src, r.dst) })
	a.spawn(wg, func() { a.forward(ctx, r.dst, r.src) })
	if err := a.startSource(ctx, accept.Peer); err != nil {
		return out, err
	}
	return a.awaitStream(ctx)
}

func (a *attempt) terms(t protocol.Transfer) *protocol.TransferStream {
	by := t.AskedBy
	return &protocol.TransferStream{ID: t.ID, Attempt: t.Attempts, Into: t.Into, Conflict: t.Conflict, Links: t.Links, From: t.From, AskedBy: &by, Direct: isPersonal(t), Names: requestedNames(t)}
}

// wait waits for a value.
func wait[T any](ctx context.Context, c <-chan T) (v T, err error) {
	select {
	case v = <-c:
		return v, nil
	case <-ctx.Done():
		return v, context.Cause(ctx)
	}
}
