package stream

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// checkpointLog is a log of checkpoints: up to which offset an end has hashed the files of one
// transfer, so that a later attempt hashes only the rest. Records are only appended; each has a
// checksum, by which records that a crash damaged are recognized. The records of one file are
// linked in a chain. A nil log stores nothing, and one that cannot be written costs only time. It
// is safe for concurrent use.
type checkpointLog struct {
	name   string
	minAge time.Duration // as the constant settles; tests change it

	mu     sync.Mutex // guards the fields below
	f      *os.File   // nil until there is something to write
	closed bool
	end    int64
	last   map[recordKey]int64 // offset of each file's last record
}

// recordKey identifies a file and the kind of its records.
type recordKey [16]byte

func recordKeyOf(kind, name string) recordKey {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return recordKey(sum[:])
}

// Kinds of record.
const (
	sourceFileRecord   = "source" // a file that is sent
	partFileRecord     = "part"   // an unfinished file
	closedPartRecord   = "rest"   // the state in which its writer left it
	completeFileRecord = "whole"  // a complete file under its name
)

// checkpoint is a checkpoint: the state of a SHA-256 after a number of bytes.
type checkpoint struct {
	n     int64
	state []byte
}

// logRecord is one record.
type logRecord struct {
	checkpoint
	file string // identity of the file ([identity])
	name string // its name, if that is not the announced one
	prev int64  // offset of the file's previous record; -1: none
}

const (
	checkpointMagic = "fairlead trail 1\n"
	// maxLogRecord is the maximum length of a record. Its header is a checksum and the length of
	// the rest.
	maxLogRecord  = 4 << 10
	logRecordHead = 4 + 4
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// openCheckpointLog opens a log, whose file is created with its first record. It truncates the file
// at the first unreadable record.
func openCheckpointLog(name string) *checkpointLog {
	t := &checkpointLog{name: name, minAge: minFileAge, last: make(map[recordKey]int64)}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return t
	}
	if err != nil {
		return nil
	}
	if t.f = f; t.load() != nil {
		f.Close()
		return nil
	}
	return t
}

// create creates the file. The caller holds t.mu.
func (t *checkpointLog) create() (err error) {
	switch {
	case t.closed:
		return fs.ErrClosed
	case t.f != nil:
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(t.name), 0o700); err != nil {
		return err
	}
	t.f, err = os.OpenFile(t.name, os.O_RDWR|os.O_CREATE, 0o600)
	return err
}

func (t *checkpointLog) load() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(checkpointMagic))
	if _, err := t.f.ReadAt(head, 0); err != nil || string(head) != checkpointMagic {
		return t.f.Truncate(0)
	}
	t.end = int64(len(checkpointMagic))
	r := io.NewSectionReader(t.f, t.end, info.Size()-t.end)
	buf := make([]byte, 256<<10)
	for have := 0; ; {
		n, err := io.ReadFull(r, buf[have:])
		have += n
		rest := buf[:have]
		for {
			key, _, size, ok := parseLogRecord(rest)
			if !ok {
				break
			}
			t.last[key] = t.end
			t.end += int64(size)
			rest = rest[size:]
		}
		if err != nil || len(rest) > maxLogRecord {
			break
		}
		have = copy(buf, rest)
	}
	if t.end < info.Size() {
		return t.f.Truncate(t.end)
	}
	return nil
}

func (s logRecord) encode(key recordKey) []byte {
	b := make([]byte, logRecordHead, 256)
	b = append(b, key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.prev))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	for _, part := range [][]byte{s.state, []byte(s.file), []byte(s.name)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(part)))
		b = append(b, part...)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-logRecordHead))
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], checksums))
	return b
}

// parseLogRecord parses the first record of b; ok is false if there is no complete record.
func parseLogRecord(b []byte) (key recordKey, s logRecord, size int, ok bool) {
	if len(b) < logRecordHead {
		return key, s, 0, false
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n > maxLogRecord-logRecordHead || int(n) > len(b)-logRecordHead {
		return key, s, 0, false
	}
	size = logRecordHead + int(n)
	if crc32.Checksum(b[4:size], checksums) != binary.LittleEndian.Uint32(b) {
		return key, s, 0, false
	}
	r := reader{b: b[logRecordHead:size]}
	copy(key[:], r.bytes(len(key)))
	s.prev, s.n = r.i64(), r.i64()
	part := func() []byte { return r.bytes(int(binary.LittleEndian.Uint16(r.bytes(2)))) }
	s.state = bytes.Clone(part())
	s.file, s.name = string(part()), string(part())
	return key, s, size, !r.bad && s.n >= 0
}

// readAt reads one record of a file.
func (t *checkpointLog) readAt(key recordKey, off int64) (logRecord, bool) {
	if off < 0 {
		return logRecord{}, false
	}
	buf := make([]byte, maxLogRecord)
	n, err := t.f.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return logRecord{}, false
	}
	got, s, _, ok := parseLogRecord(buf[:n])
	return s, ok && got == key && s.prev < off
}

// latest returns the last record of a file.
func (t *checkpointLog) latest(key recordKey) (s logRecord, ok bool) {
	if t == nil {
		return s, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	off, known := t.last[key]
	if !known {
		return s, false
	}
	return t.readAt(key, off)
}

// checkpoints returns the checkpoints of a file up to an offset, the furthest last: that one, and
// those at the ends of blocks.
func (t *checkpointLog) checkpoints(key recordKey, file string, upTo int64) (list []checkpoint) {
	if t == nil || file == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	off, known := t.last[key]
	if !known {
		return nil
	}
	for {
		s, ok := t.readAt(key, off)
		if !ok || s.file != file {
			break
		}
		off = s.prev
		switch {
		case s.n == 0 || s.n > upTo:
		case len(list) == 0, s.n < list[len(list)-1].n && s.n%blockSize(list[0].n) == 0:
			list = append(list, s.checkpoint)
		}
	}
	for i, k := 0, len(list)-1; i < k; i, k = i+1, k-1 {
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// add appends records, except those that repeat the last one of their file.
func (t *checkpointLog) add(notes ...keyedRecord) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range notes {
		if n.file == "" {
			continue
		}
		n.prev = -1
		if off, known := t.last[n.key]; known {
			if old, ok := t.readAt(n.key, off); ok && old.file == n.file && old.name == n.name {
				if n.prev = off; old.n >= n.n {
					continue
				}
			}
		}
		t.append(n.key, n.logRecord)
	}
}

func (t *checkpointLog) append(key recordKey, s logRecord) error {
	b := s.encode(key)
	if len(b) > maxLogRecord {
		return errors.New("a record is too long")
	}
	if err := t.create(); err != nil {
		return err
	}
	if t.end == 0 {
		b = append([]byte(checkpointMagic), b...)
	}
	if _, err := t.f.WriteAt(b, t.end); err != nil {
		t.f.Truncate(t.end)
		return err
	}
	t.last[key] = max(t.end, int64(len(checkpointMagic)))
	t.end += int64(len(b))
	return nil
}

// recordClosed records the state of a part file when it is left: the identity of its content
// ([identity]), or "" while it is being written. If it cannot be recorded, the state will not
// match, which costs only time.
func (t *checkpointLog) recordClosed(name, content string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := recordKeyOf(closedPartRecord, name)
	if _, known := t.last[key]; known || content != "" {
		t.append(key, logRecord{prev: -1, file: content})
	}
}

// isModified reports whether another program may have changed a part file since it was left: its
// identity differs from the recorded one, or its writer was killed before it could record one.
func (t *checkpointLog) isModified(name, content string) bool {
	s, ok := t.latest(recordKeyOf(closedPartRecord, name))
	return !ok || s.file == "" || s.file != content
}

// truncate removes the checkpoints of a file beyond an offset, durably. An error means that they
// may still exist.
func (t *checkpointLog) truncate(key recordKey, file string, n int64) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	off, known := t.last[key]
	if !known {
		return nil
	}
	s, ok := t.readAt(key, off)
	if ok && s.file == file && s.n <= n {
		return nil
	}
	for ok && (s.file != file || s.n > n) {
		s, ok = t.readAt(key, s.prev)
	}
	if !ok {
		s = logRecord{prev: -1}
	}
	if t.append(key, s) == nil && t.f.Sync() == nil {
		return nil
	}
	clear(t.last) // then all checkpoints are removed
	t.end = 0
	if err := t.f.Truncate(0); err != nil {
		return err
	}
	return t.f.Sync()
}

// close closes the log and reports whether it has any records.
func (t *checkpointLog) close() (used bool) {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed = true; t.f != nil {
		t.f.Close()
	}
	return t.f != nil
}
