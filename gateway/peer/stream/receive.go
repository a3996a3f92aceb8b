package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

const (
	// grantEvery is how many written bytes are given back at once, grantLeast when no more are there to be written.
	grantEvery = 768 << 10
	grantLeast = 32 << 10
	// progressEvery is how often the receiver says how far it is.
	progressEvery = 100 * time.Millisecond
	// maxProblems is how many problems are told; all are counted.
	maxProblems = 50
)

// Receiver writes what a [Sender] sends. It is used once.
type Receiver struct {
	ID       uint32
	Transfer protocol.TransferID // names part files
	Root     *os.Root            // the folder to write into
	// Rename is what the one thing that is sent shall be called; empty: everything keeps its name.
	Rename   string
	Conflict string
	Out      Send
	In       *Inbox
	Tell     Send // where it says how far it is; nil is Out
	Early    int  // bytes that the sender may send before it hears anything
	// Routed, which may be nil, is told which way the sender sends from now on. It may block.
	Routed func(ctx context.Context, way byte) error
	// Note, which may be nil, is told each folder, relative to Root, before there is an unfinished file in it.
	Note func(dir string)
	// Replaces, which may be nil, is told once, before the first file that is there is replaced, and what was there is kept: see [KeptAge]. A receiver
	// without Transfer keeps nothing.
	Replaces func()

	pack   packer
	owed   int // bytes written and not given back
	told   time.Time
	coming map[uint32]*expected // announced, not complete
	file   *incoming            // the one that is being written
	noted  map[string]bool      // folders that Note was told
	real   map[string]bool      // folders that are known to be no links
	names  map[uint64]uint64    // of what was made: folded names to names, both as sums
	tops   map[string]bool      // the first parts of these
	disk   *os.File             // Root's folder, open since before anything was written
	dirs   []entry              // to get their modes and times at the end
	held   *folder
	end    bool

	old       *kept  // nil until something is replaced
	trail     *trail // of what was hashed; may be nil
	settler   *keeper
	unsettled []note // of files that are at their places, and not synced
	unsynced  int64  // bytes of them
	reread    int64  // bytes that were there and hashed again
	res       Result
}

// Result is what became of a transfer at its destination.
type Result struct {
	Arrived
	Written  int64 // bytes
	New      int   // files written
	Skipped  int   // files that were there already, or were not wanted
	Failed   int
	Kept     int // files that were replaced, also by earlier attempts, and are in the trash
	Problems []protocol.TransferProblem
	Top      string // name of the first top file or folder
	again    bool   // it began anew in the middle
}

// Run receives everything. What it returns without an error is on the disk for good. When ctx ends with [ErrDiscard] as its cause, what is
// unfinished is removed; otherwise it is kept for a later attempt.
func (r *Receiver) Run(ctx context.Context) (Result, error) {
	r.noted = make(map[string]bool)
	r.coming, r.real, r.names = make(map[uint32]*expected), map[string]bool{".": true}, make(map[uint64]uint64)
	r.tops = make(map[string]bool)
	r.pack = packer{id: r.ID, send: r.Out}
	defer r.release()
	defer func() { r.old.close() }()
	var err error
	if r.disk, err = r.Root.Open("."); err != nil {
		return r.res, reason(err)
	}
	defer r.disk.Close()
	err = r.grant(ctx, Window-r.Early)
	for err == nil && !r.end {
		var f *Frame
		if f, err = r.In.Next(ctx); err != nil {
			break
		}
		if f.Piece {
			err = broken("a frame is too long")
		} else if err = records(f.Body(), func(kind byte, payload []byte) error { return r.take(ctx, kind, payload) }); err == nil {
			if r.owed += len(f.Body()); r.owed >= grantEvery || r.owed >= grantLeast && r.In.Empty() {
				n := r.owed
				r.owed = 0
				err = r.grant(ctx, n)
			}
		}
		f.Free()
		if err == nil && time.Since(r.told) > progressEvery {
			err = r.tell(ctx)
		}
	}
	lost := r.patiently(ctx, func() error { return r.settler.end(false) })
	switch {
	case err == nil:
		err = r.finish(ctx, lost)
	case lost != nil:
		r.untakenFiles()
	}
	if r.file != nil {
		r.file.close(r, errors.Is(context.Cause(ctx), ErrDiscard))
	}
	if err == nil {
		err = r.tell(ctx)
	}
	if r.old != nil {
		r.res.Kept = len(r.old.files)
	}
	return r.res, err
}

// ErrDiscard is the cause of a context that ends because the transfer was cancelled: what is unfinished is removed.
var ErrDiscard = errors.New("the transfer was cancelled")

// discard removes what Run left unfinished.
func (r *Receiver) discard() {
	if r.file != nil {
		r.file.close(r, true)
		r.release()
	}
}

func (r *Receiver) grant(ctx context.Context, n int) error {
	return r.say(ctx, recCredit, binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func (r *Receiver) say(ctx context.Context, kind byte, payload []byte) error {
	if err := r.pack.add(ctx, kind, payload); err != nil {
		return err
	}
	return r.pack.flush(ctx)
}

func (r *Receiver) tell(ctx context.Context) error {
	r.told = time.Now()
	a := r.res.Arrived
	if r.file != nil {
		a.Bytes += r.file.sum.n
		a.Current = r.file.name
	}
	if r.Tell == nil {
		return r.say(ctx, recProgress, a.encode())
	}
	p := packer{id: r.ID, send: r.Tell}
	if err := p.add(ctx, recProgress, a.encode()); err != nil {
		return err
	}
	return p.flush(ctx)
}

func (r *Receiver) take(ctx context.Context, kind byte, payload []byte) error {
	if r.end {
		return broken("more after the end")
	}
	switch kind {
	case recData:
		if r.file == nil {
			return nil // of a file that is not wanted
		}
		return r.file.write(payload)
	case recHole:
		p := reader{b: payload}
		n := p.i64()
		if p.bad || n < 0 {
			return broken("a hole")
		}
		if r.file == nil {
			return nil
		}
		return r.file.hole(ctx, n, func() error { return r.alive(ctx) })
	case recEntry:
		e, err := parseEntry(payload)
		if err != nil {
			return err
		}
		return r.entry(ctx, e)
	case recBegin:
		p := reader{b: payload}
		index, offset := p.u32(), p.i64()
		if p.bad || offset < 0 {
			return broken("a beginning")
		}
		return r.begin(index, offset)
	case recGuess:
		p := reader{b: payload}
		index := p.u32()
		if p.bad {
			return broken("a beginning")
		}
		return r.guess(index)
	case recFile:
		p := reader{b: payload}
		index, sum := p.u32(), p.bytes(sumSize)
		if p.bad {
			return broken("an end")
		}
		return r.complete(ctx, index, sum)
	case recQuit:
		p := reader{b: payload}
		index := p.u32()
		return r.quit(index, string(p.rest()))
	case recNote, recLost:
		p := reader{b: payload}
		name := string(p.bytes(int(p.u32())))
		if p.bad {
			return broken("a note")
		}
		if kind == recLost {
			r.lost(name, string(p.rest()))
		} else {
			r.problem(name, string(p.rest()))
		}
	case recEnd:
		if r.file != nil {
			return broken("the end in the middle of a file")
		}
		r.end = true
	case recAlive:
	case recRoute:
		r.owed -= recHead + len(payload) // the sender did not need leave for it
		way, err := parseRoute(payload)
		if err != nil || r.Routed == nil {
			return err
		}
		return r.Routed(ctx, way)
	default:
		return broken("an unknown record")
	}
	return nil
}

func (r *Receiver) alive(ctx context.Context) error {
	if time.Since(r.told) < aliveEvery {
		return nil
	}
	return r.tell(ctx)
}

// patiently has f wait for the disk, which may take minutes where it is slow, and says meanwhile that this end is alive. Nothing is said to a peer of the
// seed, which has no word for that.
func (r *Receiver) patiently(ctx context.Context, f func() error) error {
	if r.Out == nil {
		return f()
	}
	ctx, cancel := context.WithCancel(ctx)
	var saying sync.WaitGroup
	defer saying.Wait()
	defer cancel()
	saying.Go(func() {
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				r.isAlive(ctx)
			}
		}
	})
	return f()
}

// isAlive says that this end is alive, and nothing of how far it is. Who cannot hear it hears nothing else either.
func (r *Receiver) isAlive(ctx context.Context) {
	p := packer{id: r.ID, send: r.Out}
	if r.Tell != nil {
		p.send = r.Tell
	}
	if p.add(ctx, recAlive, nil) == nil {
		p.flush(ctx)
	}
}

// problem tells of something that does not come as it was, and is no failure.
func (r *Receiver) problem(name, text string) { r.tellProblem(len(r.res.Problems), name, text) }

// lost counts a file that does not come, and tells of it before all that are no failures.
func (r *Receiver) lost(name, text string) {
	r.tellProblem(min(r.res.Failed, len(r.res.Problems)), name, text)
	r.res.Failed++
}

func (r *Receiver) tellProblem(at int, name, text string) {
	p := protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: strings.ToValidUTF8(text, "�")}
	list := slices.Insert(r.res.Problems, at, p)
	r.res.Problems = list[:min(len(list), maxProblems)]
}

// fail counts a file that cannot be had.
func (r *Receiver) fail(e *entry, err error) {
	r.lost(e.name, err.Error())
}

// fatal reports whether an error ends the transfer, and not only the file.
func fatal(err error) bool {
	return err != nil && (errors.Is(err, ErrProtocol) || diskFull(err) || errors.Is(err, context.Canceled))
}

// finish gives folders their modes and times, the innermost first, and makes everything last.
func (r *Receiver) finish(ctx context.Context, lost error) error {
	if len(r.coming) > 0 {
		return broken("files were announced and not sent")
	}
	for i := len(r.dirs) - 1; i >= 0; i-- {
		d := r.dirs[i]
		if runtime.GOOS != "windows" {
			r.Root.Chmod(d.name, d.mode.Perm()&^others|0o700)
		}
		r.Root.Chtimes(d.name, time.Time{}, time.Unix(0, d.mtime))
	}
	if len(r.names) > 0 && lost == nil { // also of what an earlier attempt has written
		lost = r.patiently(ctx, func() error { return syncAll(r.disk) })
	}
	if lost != nil {
		if err := r.untakenFiles(); err != nil {
			return err
		}
	}
	r.settled()
	return nil
}
