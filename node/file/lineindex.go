package file

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"io"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// indexUnit is the number of bytes that are counted together, and between two marks of a file
	// that is not huge.
	indexUnit   = 16 << 10
	indexChunk  = 1 << 20   // bytes of one read while counting
	indexRound  = 64 << 20  // bytes counted between two checks of the context
	indexMarks  = 32 << 10  // most marks of a file; beyond, every other one is dropped
	indexFiles  = 16        // number of files in the cache: at most 4 MiB of marks
	indexSmall  = 256 << 10 // smaller files are read from the start
	indexProbes = 16        // number of places that are compared to detect whether a file only grew
	probeBytes  = 512
	// racy is how old a file must be for its time to identify a version: clocks of file systems are
	// coarse.
	racy = 2 * time.Second
)

// lineIndex caches the positions of lines in large files, so that a later Read of one of its lines
// costs only as much as it returns. Marks of a file that only grew stay valid; those of a file that
// was changed otherwise are rebuilt.
type lineIndex struct {
	mu    sync.Mutex // guards files
	files []*marks   // least recently used first
}

func newLineIndex() *lineIndex { return &lineIndex{} }

// marks counts the line feeds before every step'th byte of one version of a file.
type marks struct {
	id     os.FileInfo // the file's identity; set once
	mu     sync.Mutex  // locked for use and extension, so that two Reads of one file count it once
	info   os.FileInfo // of the version
	made   time.Time   // time of info
	step   int64       // a multiple of indexUnit
	feeds  []int64     // there are feeds[i] line feeds before byte i*step
	done   int64       // bytes counted, a multiple of indexUnit
	total  int64       // line feeds in them
	probes []probe
}

// probe is a copy of a piece of a file.
type probe struct {
	at  int64
	n   int
	sum uint64
}

var seed = maphash.MakeSeed()

// seek returns an offset in f at or before the start of line (counted from 0), and the number of
// lines in between.
func (x *lineIndex) seek(ctx context.Context, f io.ReaderAt, info os.FileInfo, line int64) (at, skip int64, err error) {
	if line == 0 || info.Size() < indexSmall {
		return 0, line, nil
	}
	m := x.of(info)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.renew(f, info)
	if err := m.extend(ctx, f, info.Size(), line); err != nil {
		return 0, 0, err
	}
	// The last mark with fewer line feeds before it than line: the line starts after it.
	i := sort.Search(len(m.feeds), func(i int) bool { return m.feeds[i] >= line }) - 1
	return int64(i) * m.step, line - m.feeds[i], nil
}

// forget removes a file from the cache.
func (x *lineIndex) forget(info os.FileInfo) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, m := range x.files {
		if os.SameFile(m.id, info) {
			x.files = append(x.files[:i:i], x.files[i+1:]...)
			return
		}
	}
}

func (x *lineIndex) of(info os.FileInfo) *marks {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, m := range x.files {
		if os.SameFile(m.id, info) {
			x.files = append(append(x.files[:i:i], x.files[i+1:]...), m)
			return m
		}
	}
	if len(x.files) == indexFiles {
		x.files = x.files[1:]
	}
	m := &marks{id: info}
	x.files = append(x.files, m)
	return m
}

// renew starts again unless the file is the one that was counted, perhaps with additional data at
// its end.
func (m *marks) renew(f io.ReaderAt, info os.FileInfo) {
	known := false
	if m.info != nil {
		sameTime := info.ModTime().Equal(m.info.ModTime())
		known = info.Size() == m.info.Size() && sameTime && m.made.Sub(info.ModTime()) > racy
		known = known || (info.Size() > m.info.Size() || info.Size() == m.info.Size() && sameTime) && m.holds(f)
	}
	if !known {
		m.step, m.feeds, m.done, m.total, m.probes = indexUnit, []int64{0}, 0, 0, nil
	}
	m.info, m.made = info, time.Now()
}

// holds reports whether the probes are unchanged.
func (m *marks) holds(f io.ReaderAt) bool {
	buf := make([]byte, probeBytes)
	for _, p := range m.probes {
		if n, _ := f.ReadAt(buf[:p.n], p.at); n != p.n || maphash.Bytes(seed, buf[:n]) != p.sum {
			return false
		}
	}
	return len(m.probes) > 0
}

// probe copies the start, the end and places in between of the counted part.
func (m *marks) probe(f io.ReaderAt) {
	m.probes = m.probes[:0]
	buf := make([]byte, probeBytes)
	for i := range int64(indexProbes) {
		at := (m.done - probeBytes) * i / (indexProbes - 1)
		if n, _ := f.ReadAt(buf, at); n > 0 {
			m.probes = append(m.probes, probe{at, n, maphash.Bytes(seed, buf[:n])})
		}
	}
}

// extend counts until line is passed or the file ends. An incomplete unit at the end is not
// counted.
func (m *marks) extend(ctx context.Context, f io.ReaderAt, size, line int64) error {
	from := m.done
	for m.total < line && size-m.done >= indexUnit {
		if err := ctx.Err(); err != nil {
			return err
		}
		counts := make([]int32, min(size-m.done, indexRound)/indexUnit)
		if err := count(f, m.done, counts); err != nil {
			return err
		}
		for _, n := range counts {
			m.done += indexUnit
			m.total += int64(n)
			if m.done%m.step == 0 {
				m.feeds = append(m.feeds, m.total)
			}
		}
		m.thin()
	}
	if m.done != from {
		m.probe(f)
	}
	return nil
}

// thin drops every other mark while there are too many.
func (m *marks) thin() {
	for len(m.feeds) > indexMarks {
		kept := m.feeds[:0]
		for i := 0; i < len(m.feeds); i += 2 {
			kept = append(kept, m.feeds[i])
		}
		m.feeds, m.step = kept, m.step*2
	}
}

// count counts the line feeds of the units that begin at at, on all processors.
func count(f io.ReaderAt, at int64, counts []int32) error {
	const units = indexChunk / indexUnit
	workers := min(runtime.GOMAXPROCS(0), (len(counts)+units-1)/units, 8)
	errs := make([]error, workers)
	var next atomic.Int64
	work := func(w int) {
		chunk := chunks.Get().(*[]byte)
		defer chunks.Put(chunk)
		for errs[w] == nil {
			i := int(next.Add(1)-1) * units
			if i >= len(counts) {
				return
			}
			part := counts[i:min(i+units, len(counts))]
			buf := (*chunk)[:len(part)*indexUnit]
			if n, err := f.ReadAt(buf, at+int64(i)*indexUnit); n < len(buf) {
				if errs[w] = err; errors.Is(err, io.EOF) {
					errs[w] = errShrank
				}
				return
			}
			for k := range part {
				part[k] = int32(bytes.Count(buf[k*indexUnit:(k+1)*indexUnit], lineFeed))
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	return errors.Join(errs...)
}

var chunks = sync.Pool{New: func() any { b := make([]byte, indexChunk); return &b }}

var lineFeed = []byte{'\n'}

// errShrank is the error for a file that became shorter while it was counted.
var errShrank = errors.New("it became shorter while it was read")
