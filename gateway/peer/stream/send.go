package stream

import (
	"context"
	"encoding/binary"
	"sync"
	"time"
)

const (
	// Window is the maximum number of bytes in flight that the receiver has not written yet, so
	// that either end and the gateway use at most 4 MiB of memory for one transfer.
	Window = 3 << 20
	// Early is the maximum number of bytes that a sender may have in flight before the receiver has
	// answered, if the gateway allows it.
	Early = 1 << 20
	// eager is the size up to which a file is sent without waiting for the receiver's verdict.
	eager = 64 << 10
	// ahead is the number of larger files that are announced in advance, so that verdicts arrive in
	// time.
	ahead = 32
	// tries is the maximum number of attempts to send a file that changes meanwhile.
	tries = 3
	// aliveEvery is the interval of signs of life of a busy end.
	aliveEvery = 5 * time.Second
)

// Sender sends items. It can be used once.
type Sender struct {
	ID    uint32
	Items []Item
	Links string
	Out   Send
	In    *Inbox
	Pace  *Pace // of the connection; may be nil
	// Early is the credit in bytes at the start. If it is not 0, the first file starts before the
	// receiver has told how much it has of it.
	Early int
	// Routed, which may be nil, is called when the receiver switches its route. It must not block.
	Routed func(ctx context.Context, way byte) error

	trail  *trail // stores checkpoints; may be nil
	reread int64  // bytes of earlier attempts that were hashed again
	pack   packer
	next   uint32
	// guessed reports that a file was started before its verdict.
	guessed bool
	busy    time.Time // time of the last sign of life
	news    chan struct{}

	mu       sync.Mutex // guards the fields below
	credit   int        // bytes that may be sent
	way      way
	verdicts map[uint32]verdict
}

// Run sends everything. It returns when everything was sent, ctx ends, or the other end fails.
func (s *Sender) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	s.credit = s.Early
	s.news, s.verdicts = make(chan struct{}, 1), make(map[uint32]verdict)
	s.pack = packer{id: s.ID, send: s.Out, spend: s.spend, body: s.body}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(s.listen(ctx))
	}()
	err := s.sendAll(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	cancel(nil)
	<-done
	return err
}

// listen handles the receiver's records, independently of sending.
func (s *Sender) listen(ctx context.Context) error {
	for {
		f, err := s.In.Next(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		err = records(f.Body(), func(kind byte, payload []byte) error { return s.heard(ctx, kind, payload) })
		s.mu.Unlock()
		f.Free()
		if err != nil {
			return err
		}
		signal(s.news)
	}
}

// heard handles one record, under s.mu.
func (s *Sender) heard(ctx context.Context, kind byte, payload []byte) error {
	switch kind {
	case recCredit:
		r := reader{b: payload}
		n := int(r.i64())
		if r.bad || n < 0 || n > Window || s.credit+n > Window {
			return broken("a credit")
		}
		s.credit += n
		now := time.Now()
		if took, ok := s.way.back(n, now); ok && s.Pace.shared() {
			s.Pace.took(n, took, now)
		}
	case recVerdict:
		v, err := parseVerdict(payload)
		if err != nil {
			return err
		}
		if s.verdicts[v.index] = v; len(s.verdicts) > 2*ahead {
			return broken("verdicts about nothing")
		}
	case recRoute:
		way, err := parseRoute(payload)
		if err != nil || s.Routed == nil {
			return err
		}
		return s.Routed(ctx, way)
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
		case <-s.news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// body returns the maximum length of the next frame, which is limited because calls and their
// results are sent between frames.
func (s *Sender) body() int {
	if s.Pace.shared() {
		return sharedBody
	}
	return maxBody
}

// spend waits until n bytes may be sent.
func (s *Sender) spend(ctx context.Context, n int) error {
	return s.await(ctx, func() bool {
		if s.credit < n+Window-max(s.Pace.each(), n) {
			return false
		}
		s.credit -= n
		s.way.send(n, time.Now())
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
	w := newWalker(s.Items, s.Links, func(kind byte, name, why string) error { return s.note(ctx, kind, name, why) })
	var queue []found // announced or small files, in order
	large := 0
	end := false
	for {
		for !end && large < ahead && len(queue) < 4*ahead {
			f, ok, err := w.next()
			if err != nil {
				return err
			}
			if end = !ok; end {
				break
			}
			f.index = s.next
			s.next++
			if f.mode.IsRegular() && f.size > eager {
				large++
				if err := s.pack.add(ctx, recEntry, f.encode()); err != nil {
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
		var err error
		switch {
		case !f.mode.IsRegular():
			err = s.pack.add(ctx, recEntry, f.encode())
		case f.size > eager:
			large--
			err = s.large(ctx, f)
		default:
			err = s.small(ctx, f)
		}
		if err != nil {
			return err
		}
	}
	if err := s.pack.add(ctx, recEnd, binary.LittleEndian.AppendUint32(nil, s.next)); err != nil {
		return err
	}
	return s.pack.flush(ctx)
}

// note reports an entry that is not sent, and the reason; kind is recNote or recLost.
func (s *Sender) note(ctx context.Context, kind byte, name, why string) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
	return s.pack.add(ctx, kind, append(append(b, name...), cut(why, maxText)...))
}

// large sends an announced file, from the offset up to which the receiver has it.
func (s *Sender) large(ctx context.Context, f found) error {
	if err := s.pack.flush(ctx); err != nil {
		return err
	}
	if s.Early > 0 && !s.guessed {
		s.guessed = true
		return s.file(ctx, f, verdict{index: f.index, guess: &guess{s: s, index: f.index}})
	}
	v, err := s.verdict(ctx, f.index)
	if err != nil || v.have < 0 {
		return err
	}
	return s.file(ctx, f, v)
}

func (s *Sender) small(ctx context.Context, f found) error {
	if err := s.pack.add(ctx, recEntry, f.encode()); err != nil {
		return err
	}
	return s.file(ctx, f, verdict{index: f.index})
}
