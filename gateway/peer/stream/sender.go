package stream

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
)

const (
	// Window is the maximum number of bytes in flight that the receiver has not written yet, so
	// that either end and the gateway use at most 4 MiB of memory for one transfer.
	Window = 3 << 20
	// smallFile is the size up to which a file is sent without waiting for the receiver's verdict.
	smallFile = 64 << 10
	// maxAnnounced is the number of larger files that are announced in advance, so that verdicts
	// arrive in time.
	maxAnnounced = 32
	// maxTries is the maximum number of attempts to send a file that changes meanwhile.
	maxTries = 3
)

// Sender sends items. It can be used once.
type Sender struct {
	ID    uint32
	Items []Item
	Links string
	Out   Send
	In    *Inbox
	Share *Share // of the connection; may be nil

	checkpoints checkpoints
	rehashed    int64 // bytes of earlier attempts that were hashed again
	packer      packer
	next        uint32
	wake        wake.Signal

	mu       sync.Mutex // guards the fields below
	credit   int        // bytes that may be sent
	verdicts map[uint32]verdict
}

// Run sends everything. It returns when everything was sent, ctx ends, or the other end fails.
func (s *Sender) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	s.wake, s.verdicts = wake.New(), make(map[uint32]verdict)
	s.packer = packer{id: s.ID, send: s.Out, reserve: s.reserve}
	done := make(chan struct{})
	crash.Go(func() {
		defer close(done)
		cancel(crash.Call("transfer", func() error { return s.receive(ctx) }))
	})
	err := s.sendAll(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-done
	return err
}

// receive handles the receiver's records, independently of sending.
func (s *Sender) receive(ctx context.Context) error {
	for {
		f, err := s.In.Next(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		err = records(f.Body(), s.handleRecord)
		s.mu.Unlock()
		f.Free()
		if err != nil {
			return err
		}
		s.wake.Send()
	}
}

// handleRecord handles one record, under s.mu.
func (s *Sender) handleRecord(kind byte, payload []byte) error {
	switch kind {
	case recCredit:
		r := reader{b: payload}
		n := int(r.i64())
		if r.bad || n < 0 || n > Window || s.credit+n > Window {
			return protocolError("a credit")
		}
		s.credit += n
	case recVerdict:
		v, err := parseVerdict(payload)
		if err != nil {
			return err
		}
		s.verdicts[v.index] = v
		if len(s.verdicts) > 2*maxAnnounced {
			return protocolError("verdicts about nothing")
		}
	}
	return nil
}

// await waits until ready, which is called under s.mu, returns true.
func (s *Sender) await(ctx context.Context, ready func() bool) error {
	for {
		s.mu.Lock()
		ok := ready()
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reserve waits until n bytes may be sent.
func (s *Sender) reserve(ctx context.Context, n int) error {
	return s.await(ctx, func() bool {
		if s.credit < n+Window-max(s.Share.window(), n) {
			return false
		}
		s.credit -= n
		return true
	})
}

func (s *Sender) verdict(ctx context.Context, index uint32) (v verdict, err error) {
	err = s.await(ctx, func() (ok bool) {
		v, ok = s.verdicts[index]
		delete(s.verdicts, index)
		return ok
	})
	return v, err
}

func (s *Sender) sendAll(ctx context.Context) error {
	w := newWalker(s.Items, s.Links, func(kind byte, name, why string) error { return s.reportSkipped(ctx, kind, name, why) })
	var queue []sourceFile // announced or small files, in order
	large := 0
	end := false
	for {
		for !end && large < maxAnnounced && len(queue) < 4*maxAnnounced {
			f, ok, err := w.next()
			if err != nil {
				return err
			}
			if end = !ok; end {
				break
			}
			f.index = s.next
			s.next++
			if f.isLarge() {
				large++
				if err := s.packer.add(ctx, recEntry, f.encode()); err != nil {
					return err
				}
			}
			queue = append(queue, f)
		}
		if len(queue) == 0 {
			break
		}
		f := queue[0]
		queue = queue[1:]
		if f.isLarge() {
			large--
		}
		if err := s.sendEntry(ctx, f); err != nil {
			return err
		}
	}
	if err := s.packer.add(ctx, recEnd, binary.LittleEndian.AppendUint32(nil, s.next)); err != nil {
		return err
	}
	return s.packer.flush(ctx)
}

// reportSkipped reports an entry that is not sent, and the reason; kind is recSkipped or
// recUnreadable.
func (s *Sender) reportSkipped(ctx context.Context, kind byte, name, why string) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	return s.packer.add(ctx, kind, append(append(b, name...), cut(why, maxText)...))
}

// sendEntry sends an entry and, of a file, the data. A large file was announced, and is sent from
// the offset up to which the receiver has it.
func (s *Sender) sendEntry(ctx context.Context, f sourceFile) error {
	if f.isLarge() {
		if err := s.packer.flush(ctx); err != nil {
			return err
		}
		v, err := s.verdict(ctx, f.index)
		if err != nil || v.have < 0 {
			return err
		}
		return s.sendFile(ctx, f, v)
	}
	if err := s.packer.add(ctx, recEntry, f.encode()); err != nil || !f.mode.IsRegular() {
		return err
	}
	return s.sendFile(ctx, f, verdict{index: f.index})
}

const (
	// sharedWindow is the number of bytes in flight of all transfers on a connection together, if
	// there are several. More bytes would wait in the system's buffers, where they delay calls and
	// their results. minWindow is the minimum for each: a frame, and what is sent before the next
	// credit.
	sharedWindow = 4 << 20
	minWindow    = 128 << 10
)

// Share divides a connection among its outgoing transfers in equal parts. The zero Share is ready.
// It is safe for concurrent use.
type Share struct{ running atomic.Int32 }

// window returns the number of bytes that a transfer may have in flight. s may be nil.
func (s *Share) window() int {
	if s == nil || s.running.Load() <= 1 {
		return Window
	}
	return max(minWindow, sharedWindow/int(s.running.Load()))
}
