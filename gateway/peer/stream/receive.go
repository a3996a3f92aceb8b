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
	// grantEvery is the number of written bytes for which credit is granted at once; grantLeast
	// applies when no more data waits to be written.
	grantEvery = 768 << 10
	grantLeast = 32 << 10
	// progressEvery is the interval of progress records.
	progressEvery = 100 * time.Millisecond
	// maxProblems is the maximum number of reported problems; all are counted.
	maxProblems = 50
)

// Receiver writes what a [Sender] sends. It can be used once.
type Receiver struct {
	ID       uint32
	Transfer protocol.TransferID // identifies part files
	Root     *os.Root            // the folder to write into
	// Rename is the new name of the only item; empty: items keep their names.
	Rename   string
	Conflict string
	Out      Send
	In       *Inbox
	Tell     Send // sends progress; nil means Out
	Early    int  // number of bytes that the sender may send without credit
	// Routed, which may be nil, is called when the sender switches its route. It may block.
	Routed func(ctx context.Context, way byte) error
	// Note, which may be nil, is called with each folder, relative to Root, before an unfinished
	// file is created in it.
	Note func(dir string)
	// Replaces, which may be nil, is called once, before the first existing file is replaced and
	// retained: see [KeptAge]. A receiver without Transfer retains nothing.
	Replaces func()

	pack   packer
	owed   int // bytes written for which no credit was granted yet
	told   time.Time
	coming map[uint32]*expected // announced, not complete
	file   *incoming            // the file that is being written
	noted  map[string]bool      // folders for which Note was called
	real   map[string]bool      // folders that are known not to be symbolic links
	names  map[uint64]uint64    // of created files: folded names to names, both as hashes
	tops   map[string]bool      // the first elements of these names
	disk   *os.File             // Root's folder, open since before anything was written
	dirs   []entry              // folders that get their modes and times at the end
	held   *folder
	end    bool

	old       *kept  // nil until something is replaced
	trail     *trail // stores checkpoints; may be nil
	settler   *keeper
	unsettled []note // of files that have their names, but are not synced
	unsynced  int64  // their size in bytes
	reread    int64  // existing bytes that were hashed again
	res       Result
}

// Result is the result of a transfer at its destination.
type Result struct {
	Arrived
	Written  int64 // bytes
	New      int   // files written
	Skipped  int   // identical files that existed already, and unwanted files
	Failed   int
	Kept     int // replaced files, also by earlier attempts, that are in the trash
	Problems []protocol.TransferProblem
	Top      string // name of the first top-level file or folder
	again    bool   // the transfer started over during the attempt
}

// Run receives everything. When it returns without an error, everything is durable on the disk.
// When ctx ends with [ErrDiscard] as its cause, unfinished files are removed; otherwise they stay
// for a later attempt.
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

// ErrDiscard is the cause of a context that ends because the transfer was cancelled. Unfinished
// files are then removed.
var ErrDiscard = errors.New("the transfer was cancelled")

// discard removes the unfinished files of Run.
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
			return nil // of an unwanted file
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
		r.owed -= recHead + len(payload) // the sender needs no credit for a route announcement
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

// patiently calls f, which waits for the disk, possibly for minutes, and meanwhile tells the other
// end that this end is alive. A peer without records gets nothing, because its protocol has no
// message for that.
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

// isAlive sends a sign of life without progress. Errors are ignored, because the next send returns
// them too.
func (r *Receiver) isAlive(ctx context.Context) {
	p := packer{id: r.ID, send: r.Out}
	if r.Tell != nil {
		p.send = r.Tell
	}
	if p.add(ctx, recAlive, nil) == nil {
		p.flush(ctx)
	}
}

// problem reports an entry that arrived changed or was omitted, which is not a failure.
func (r *Receiver) problem(name, text string) { r.tellProblem(len(r.res.Problems), name, text) }

// lost counts a failed file, and reports it before the problems that are not failures.
func (r *Receiver) lost(name, text string) {
	r.tellProblem(min(r.res.Failed, len(r.res.Problems)), name, text)
	r.res.Failed++
}

func (r *Receiver) tellProblem(at int, name, text string) {
	p := protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: strings.ToValidUTF8(text, "�")}
	list := slices.Insert(r.res.Problems, at, p)
	r.res.Problems = list[:min(len(list), maxProblems)]
}

// fail counts a file that could not be received.
func (r *Receiver) fail(e *entry, err error) {
	r.lost(e.name, err.Error())
}

// fatal reports whether an error ends the whole transfer instead of one file.
func fatal(err error) bool {
	return err != nil && (errors.Is(err, ErrProtocol) || diskFull(err) || errors.Is(err, context.Canceled))
}

// finish sets the modes and times of folders, innermost first, and makes everything durable.
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
	if len(r.names) > 0 && lost == nil { // also what an earlier attempt wrote
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
