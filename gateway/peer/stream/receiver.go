package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
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
	// Requested are the names that the source may send.
	Requested Requested
	// Startup decides about start-up files below them.
	Startup  startupFiles
	Out      Send
	In       *Inbox
	Progress Send // sends progress; nil means Out
	// OnFolder, which may be nil, is called with each folder, relative to Root, before an
	// unfinished file is created in it.
	OnFolder func(dir string)
	// OnReplace, which may be nil, is called once, before the first existing file is replaced and
	// retained: see [TrashAge]. A receiver without Transfer retains nothing.
	OnReplace func()

	target          *targetFolder // Root
	placement       *placement
	fitted          *diskNames
	uncredited      int // bytes written for which no credit was granted yet
	lastProgress    time.Time
	announced       map[uint32]*incomingFile // announced, not complete
	current         *incomingFile            // the file that is being written
	recordedFolders map[string]bool          // folders for which OnFolder was called
	rootDir         *os.File                 // Root's folder, open since before anything was written
	dirs            []entry                  // folders that get their modes and times at the end
	ended           bool

	checkpoints checkpoints
	rehashed    int64 // existing bytes that were hashed again
	result      Result
}

// Result is the result of a transfer at its destination.
type Result struct {
	ProgressReport
	Written  int64 // bytes
	New      int   // files written
	Skipped  int   // identical files that existed already, and unwanted files
	Failed   int
	Replaced int // replaced files, also by earlier attempts, that are in the trash
	Problems []protocol.TransferProblem
	Top      string // name of the first top-level file or folder
	Sum      []byte // SHA-256 of the last file that was compared or written
}

// Run receives everything. When it returns without an error, everything is durable on the disk.
// When ctx ends with [errDiscard] as its cause, the current file is removed; otherwise it stays for
// a later attempt.
func (r *Receiver) Run(ctx context.Context) (Result, error) {
	r.recordedFolders = make(map[string]bool)
	r.announced, r.target = make(map[uint32]*incomingFile), newTargetFolder(r.Root)
	r.placement = &placement{
		root: r.Root, target: r.target, conflict: r.Conflict, transfer: r.Transfer, onReplace: r.OnReplace, names: make(createdNames), result: &r.result,
		keepAlive: r.withKeepAlive,
	}
	r.fitted = newDiskNames(r.Root)
	if r.Progress == nil {
		r.Progress = r.Out
	}
	var err error
	if r.rootDir, err = r.Root.Open("."); err != nil {
		return r.result, format.WithoutPath(err)
	}
	defer r.rootDir.Close()
	err = r.grant(ctx, Window)
	for err == nil && !r.ended {
		err = r.receive(ctx)
	}
	if err == nil {
		err = r.finish(ctx)
	}
	if r.current != nil {
		r.current.close(r, errors.Is(context.Cause(ctx), errDiscard))
	}
	if err == nil {
		err = r.sendProgress(ctx)
	}
	r.result.Replaced = r.placement.closeTrash()
	return r.result, err
}

// receive handles the next frame, grants credit and reports the progress.
func (r *Receiver) receive(ctx context.Context) error {
	f, err := r.In.Next(ctx)
	if err != nil {
		return err
	}
	defer f.Free()
	err = records(f.Body(), func(kind byte, payload []byte) error {
		err := r.handleRecord(ctx, kind, payload)
		if r.current != nil && isTooLarge(err) { // this file fails alone
			r.abandonFile(r.current.index, tooLargeText)
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	r.uncredited += len(f.Body())
	if r.uncredited >= grantEvery || r.uncredited >= grantLeast && r.In.Empty() {
		if err := r.grant(ctx, r.uncredited); err != nil {
			return err
		}
		r.uncredited = 0
	}
	if time.Since(r.lastProgress) > progressEvery {
		return r.sendProgress(ctx)
	}
	return nil
}

// errDiscard is the cause of a context that ends because the transfer was cancelled.
var errDiscard = errors.New("the transfer was cancelled")

func (r *Receiver) grant(ctx context.Context, n int) error {
	return sendRecord(ctx, r.ID, r.Out, recCredit, binary.LittleEndian.AppendUint64(nil, uint64(n)))
}

func (r *Receiver) sendProgress(ctx context.Context) error {
	r.lastProgress = time.Now()
	a := r.result.ProgressReport
	if r.current != nil {
		a.Bytes += r.current.hasher.n
		a.Current = r.current.name
	}
	return sendRecord(ctx, r.ID, r.Progress, recProgress, a.encode())
}

func (r *Receiver) handleRecord(ctx context.Context, kind byte, payload []byte) error {
	if r.ended {
		return protocolError("more after the end")
	}
	p := reader{b: payload}
	switch kind {
	case recData:
		if r.current != nil { // otherwise it is of an unwanted file
			return r.current.write(payload)
		}
	case recHole:
		n := p.i64()
		if p.bad || n < 0 {
			return protocolError("a hole")
		}
		if r.current != nil {
			return r.current.hole(ctx, n)
		}
	case recEntry:
		e, err := parseEntry(payload)
		if err != nil {
			return err
		}
		return r.entry(ctx, e)
	case recBegin:
		index, offset := p.u32(), p.i64()
		if p.bad || offset < 0 {
			return protocolError("a beginning")
		}
		return r.begin(index, offset)
	case recFile:
		index, sum := p.u32(), bytes.Clone(p.bytes(sumSize)) // the result keeps it after the frame is freed
		if p.bad {
			return protocolError("an end")
		}
		return r.complete(ctx, index, sum)
	case recFailed:
		r.abandonFile(p.u32(), string(p.rest()))
	case recSkipped, recUnreadable:
		name := string(p.bytes(int(p.u32())))
		if p.bad {
			return protocolError("a note")
		}
		if kind == recUnreadable {
			r.result.addFailure(name, errors.New(string(p.rest())))
		} else {
			r.result.addProblem(name, string(p.rest()))
		}
	case recEnd:
		if r.current != nil {
			return protocolError("the end in the middle of a file")
		}
		r.ended = true
	case recAlive:
	default:
		return protocolError("an unknown record")
	}
	return nil
}

// withKeepAlive calls f, which uses the disk, possibly for minutes, and meanwhile shows the gateway
// that this end is alive.
func (r *Receiver) withKeepAlive(ctx context.Context, f func() error) error {
	return withKeepAlive(ctx, func(ctx context.Context) { sendRecord(ctx, r.ID, r.Progress, recAlive, nil) }, f)
}

// addProblem reports an entry that arrived changed or was omitted, which is not a failure.
func (r *Result) addProblem(name, text string) { r.insertProblem(len(r.Problems), name, text) }

// addFailure counts a failed file, and reports it before the problems that are not failures.
func (r *Result) addFailure(name string, err error) {
	r.insertProblem(min(r.Failed, len(r.Problems)), name, err.Error())
	r.Failed++
}

func (r *Result) insertProblem(at int, name, text string) {
	p := protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: strings.ToValidUTF8(text, "�")}
	list := slices.Insert(r.Problems, at, p)
	r.Problems = list[:min(len(list), maxProblems)]
}

// isFatal reports whether an error ends the whole transfer instead of one file.
func isFatal(err error) bool {
	if _, unrequested := errors.AsType[unrequestedError](err); unrequested {
		return true
	}
	return err != nil && (errors.Is(err, ErrProtocol) || isDiskFull(err) || errors.Is(err, context.Canceled))
}

// finish sets the modes and times of folders, innermost first, and makes everything durable.
func (r *Receiver) finish(ctx context.Context) error {
	if len(r.announced) > 0 {
		return protocolError("files were announced and not sent")
	}
	for i := len(r.dirs) - 1; i >= 0; i-- {
		d := r.dirs[i]
		if runtime.GOOS != "windows" {
			r.Root.Chmod(d.name, d.mode.Perm()&^forbiddenBits|0o700)
		}
		r.Root.Chtimes(d.name, time.Time{}, time.Unix(0, d.mtime))
	}
	if len(r.placement.names) > 0 && r.withKeepAlive(ctx, func() error { return syncAll(r.rootDir) }) != nil { // also what an earlier attempt wrote
		return r.removeUnsaved()
	}
	return nil
}
