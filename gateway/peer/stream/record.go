package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/wake"
)

// Kinds of record (docs/protocol.md#transfers-between-fairleads-own-peers). From the sender:
const (
	recEntry      = 'e' // a file, folder or link: index, type, mode, size, mtime, name, link target
	recBegin      = 'b' // data of a file follows: index, offset
	recData       = 'd' // bytes
	recHole       = 'h' // a number of zeros
	recFile       = 'x' // a file is complete: index, SHA-256 of the whole file
	recFailed     = 'q' // a file cannot be sent: index, reason
	recSkipped    = 'n' // an entry was omitted on purpose: name, reason
	recUnreadable = 'l' // an entry could not be read: name, reason
	recEnd        = 'z' // the end
)

// From the receiver:
const (
	recCredit   = 'c' // number of further bytes that may be sent
	recVerdict  = 'v' // existing data of a file: index, bytes (-1: not wanted), checksums at the end of each block and at the end
	recProgress = 'p' // number of complete files and bytes, index of the current file
)

// recAlive, from either end, is a sign of life during work that takes long.
const recAlive = 'k'

// recRoute, from either end, is a report to the gateway about the direct connection.
const recRoute = 'w'

// recHead is the length of a record's header: its kind and the length of its payload.
const recHead = 1 + 4

// ErrProtocol reports that the other end violates the record protocol.
var ErrProtocol = errors.New("the other machine sent invalid data")

func protocolError(what string) error { return fmt.Errorf("%w (%s)", ErrProtocol, what) }

// Send sends one frame, takes ownership of it, and blocks while the connection is congested.
type Send func(ctx context.Context, f *Frame) error

// packer packs records into frames. It belongs to one goroutine.
type packer struct {
	id      uint32
	send    Send
	reserve func(ctx context.Context, n int) error // waits until n bytes may be sent; nil: no limit
	frame   *Frame
}

// flush sends the current frame.
func (p *packer) flush(ctx context.Context) error {
	if p.frame == nil {
		return nil
	}
	f := p.frame
	p.frame = nil
	if p.reserve != nil {
		if err := p.reserve(ctx, len(f.Body())); err != nil {
			f.Free()
			return err
		}
	}
	return p.send(ctx, f)
}

// add adds a record to the current frame, or to the next one if it does not fit.
func (p *packer) add(ctx context.Context, kind byte, payload []byte) error {
	if recHead+len(payload) > maxBody {
		return fmt.Errorf("a record of %d bytes does not fit", len(payload))
	}
	if err := p.makeRoom(ctx, recHead+len(payload)); err != nil {
		return err
	}
	b := append(p.frame.buf, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	p.frame.buf = append(b, payload...)
	return nil
}

// makeRoom starts a new frame unless the current one has room for size bytes.
func (p *packer) makeRoom(ctx context.Context, size int) error {
	if p.frame != nil && len(p.frame.Body())+size > maxBody {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	if p.frame == nil {
		p.frame = newFrame(p.id)
	}
	return nil
}

// minRead is the minimum number of bytes to read at once, if as many remain.
const minRead = 16 << 10

// addData adds a data record with the next bytes of file, at most left, and returns them; they are
// valid until the next call. It reads into the frame: a copy would cost about 4 % of the speed.
func (p *packer) addData(ctx context.Context, file io.Reader, left int64) ([]byte, error) {
	if err := p.makeRoom(ctx, recHead+int(min(left, minRead))); err != nil {
		return nil, err
	}
	head := len(p.frame.buf)
	space := p.frame.buf[head+recHead : idSize+maxBody]
	n, err := file.Read(space[:min(int64(len(space)), left)])
	if n == 0 && err != nil {
		if errors.Is(err, io.EOF) {
			err = errFileChanged
		}
		return nil, &fileError{format.WithoutPath(err)}
	}
	p.frame.buf = append(p.frame.buf, recData)
	p.frame.buf = binary.LittleEndian.AppendUint32(p.frame.buf, uint32(n))[:head+recHead+n]
	return space[:n], nil
}

// sendRecord sends a frame with one record.
func sendRecord(ctx context.Context, id uint32, out Send, kind byte, payload []byte) error {
	p := packer{id: id, send: out}
	if err := p.add(ctx, kind, payload); err != nil {
		return err
	}
	return p.flush(ctx)
}

// records calls f for each record of a frame's body.
func records(body []byte, f func(kind byte, payload []byte) error) error {
	for len(body) > 0 {
		if len(body) < recHead {
			return protocolError("a record is cut")
		}
		kind, n := body[0], binary.LittleEndian.Uint32(body[1:])
		if body = body[recHead:]; uint64(n) > uint64(len(body)) {
			return protocolError("a record is cut")
		}
		if err := f(kind, body[:n]); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// ParseProgress returns the progress that a receiver reports in a frame; ok is false if the frame
// has none.
func ParseProgress(f *Frame) (p ProgressReport, ok bool) {
	records(f.Body(), func(kind byte, payload []byte) error {
		if kind == recProgress {
			r := reader{b: payload}
			p = ProgressReport{Files: int(r.u32()), Bytes: r.i64(), Current: string(r.rest())}
			ok = !r.bad
		}
		return nil
	})
	return p, ok
}

// aliveEvery is the interval of signs of life of a busy end.
const aliveEvery = 5 * time.Second

// withKeepAlive calls f, and meanwhile alive every [aliveEvery]. alive sends a sign of life; if that
// fails, so does the next send.
func withKeepAlive(ctx context.Context, alive func(context.Context), f func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg crash.Group
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { wake.Every(ctx, aliveEvery, func() { alive(ctx) }) })
	return f()
}

// ProgressReport counts what is at the destination, whether it was sent or existed before.
type ProgressReport struct {
	Files   int
	Bytes   int64
	Current string // the file in progress, relative to the destination
}

func (a ProgressReport) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(a.Files))
	b = binary.LittleEndian.AppendUint64(b, uint64(a.Bytes))
	return append(b, cut(a.Current, maxText)...)
}

// maxText is the maximum length of an error text or display name in a record.
const maxText = 1000

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// entry is a file, folder or link as sent.
type entry struct {
	index uint32
	mode  fs.FileMode // type and permissions
	size  int64
	mtime int64  // nanoseconds since 1970
	name  string // slash-separated, relative to the destination folder
	link  string
}

// isLarge reports whether the sender waits for the receiver's verdict about a file.
func (e entry) isLarge() bool { return e.mode.IsRegular() && e.size > smallFile }

func (e entry) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, e.index)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.mode))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.mtime))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.name)))
	b = append(b, e.name...)
	return append(b, e.link...)
}

func parseEntry(b []byte) (e entry, err error) {
	r := reader{b: b}
	e = entry{index: r.u32(), mode: fs.FileMode(r.u32()), size: r.i64(), mtime: r.i64()}
	e.name = string(r.bytes(int(r.u32())))
	e.link = string(r.rest())
	if r.bad || e.size < 0 {
		return e, protocolError("an entry")
	}
	return e, nil
}

// verdict tells how much the receiver has of a file.
type verdict struct {
	index uint32
	have  int64    // bytes; -1: the file is not wanted
	sums  [][]byte // of everything up to the end of each block; the last one of everything
}

func (v verdict) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, v.index)
	b = binary.LittleEndian.AppendUint64(b, uint64(v.have))
	for _, s := range v.sums {
		b = append(b, s...)
	}
	return b
}

func parseVerdict(b []byte) (v verdict, err error) {
	r := reader{b: b}
	v = verdict{index: r.u32(), have: r.i64()}
	rest := r.rest()
	for len(rest) >= sumSize {
		v.sums = append(v.sums, append([]byte(nil), rest[:sumSize]...))
		rest = rest[sumSize:]
	}
	if r.bad || len(rest) > 0 || v.have < -1 || v.have > 0 && len(v.sums) != blockCount(v.have) {
		return v, protocolError("a verdict")
	}
	return v, nil
}

// reader decodes a payload; bad reports that it was too short.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.bad = true
		return make([]byte, min(max(n, 0), 8))
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u32() uint32  { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *reader) i64() int64   { return int64(binary.LittleEndian.Uint64(r.bytes(8))) }
func (r *reader) rest() []byte { return r.bytes(len(r.b)) }
