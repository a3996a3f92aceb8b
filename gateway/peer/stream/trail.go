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

// trail remembers, over crashes, up to where an end has hashed the files of one transfer, so that a later attempt hashes only what came after. It is a
// file of records, which are only added: what a crash leaves of the last ones has another checksum. The records of one file make a chain. A nil trail
// remembers nothing, and one that cannot be written costs only time. It is safe for use by many goroutines.
type trail struct {
	name    string
	settles time.Duration // see there

	mu   sync.Mutex // guards what follows
	f    *os.File   // nil until there is something to write
	shut bool
	end  int64
	last map[trailKey]int64 // where a file's last record is
}

// trailKey is a file's name, and what the records say of it.
type trailKey [16]byte

func keyOf(kind, name string) trailKey {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return trailKey(sum[:])
}

// Kinds of record.
const (
	ofSource = "source" // a file that is sent
	ofPart   = "part"   // an unfinished one
	ofRest   = "rest"   // how that was left by whoever wrote it last
	ofWhole  = "whole"  // one that is at its place
)

// mark is the state of a SHA-256 after so many bytes.
type mark struct {
	n     int64
	state []byte
}

// step is one record.
type step struct {
	mark
	file string // which file it is of, as [identity] tells
	name string // what it is called, where that is not its own name
	prev int64  // where the one before is; -1: there is none
}

const (
	trailMagic = "fairlead trail 1\n"
	// maxStep is how long a record is at most; its head is a checksum and the length of the rest.
	maxStep  = 4 << 10
	stepHead = 4 + 4
)

var checksums = crc32.MakeTable(crc32.Castagnoli)

// openTrail opens a trail, which is made with its first record. What of it cannot be read is cut off.
func openTrail(name string) *trail {
	t := &trail{name: name, settles: settles, last: make(map[trailKey]int64)}
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

// make makes the file. It is called under t.mu.
func (t *trail) make() (err error) {
	switch {
	case t.shut:
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

func (t *trail) load() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(trailMagic))
	if _, err := t.f.ReadAt(head, 0); err != nil || string(head) != trailMagic {
		return t.f.Truncate(0)
	}
	t.end = int64(len(trailMagic))
	r := io.NewSectionReader(t.f, t.end, info.Size()-t.end)
	buf := make([]byte, 256<<10)
	for have := 0; ; {
		n, err := io.ReadFull(r, buf[have:])
		have += n
		rest := buf[:have]
		for {
			key, _, size, ok := parseStep(rest)
			if !ok {
				break
			}
			t.last[key] = t.end
			t.end += int64(size)
			rest = rest[size:]
		}
		if err != nil || len(rest) > maxStep {
			break
		}
		have = copy(buf, rest)
	}
	if t.end < info.Size() {
		return t.f.Truncate(t.end)
	}
	return nil
}

func (s step) encode(key trailKey) []byte {
	b := make([]byte, stepHead, 256)
	b = append(b, key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.prev))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
	for _, part := range [][]byte{s.state, []byte(s.file), []byte(s.name)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(part)))
		b = append(b, part...)
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-stepHead))
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], checksums))
	return b
}

// parseStep takes the first record of b; ok is false when there is none, or not all of it.
func parseStep(b []byte) (key trailKey, s step, size int, ok bool) {
	if len(b) < stepHead {
		return key, s, 0, false
	}
	n := binary.LittleEndian.Uint32(b[4:])
	if n > maxStep-stepHead || int(n) > len(b)-stepHead {
		return key, s, 0, false
	}
	size = stepHead + int(n)
	if crc32.Checksum(b[4:size], checksums) != binary.LittleEndian.Uint32(b) {
		return key, s, 0, false
	}
	r := reader{b: b[stepHead:size]}
	copy(key[:], r.bytes(len(key)))
	s.prev, s.n = r.i64(), r.i64()
	part := func() []byte { return r.bytes(int(binary.LittleEndian.Uint16(r.bytes(2)))) }
	s.state = bytes.Clone(part())
	s.file, s.name = string(part()), string(part())
	return key, s, size, !r.bad && s.n >= 0
}

// at reads one record of a file.
func (t *trail) at(key trailKey, off int64) (step, bool) {
	if off < 0 {
		return step{}, false
	}
	buf := make([]byte, maxStep)
	n, err := t.f.ReadAt(buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return step{}, false
	}
	got, s, _, ok := parseStep(buf[:n])
	return s, ok && got == key && s.prev < off
}

// newest gives the last record of a file.
func (t *trail) newest(key trailKey) (s step, ok bool) {
	if t == nil {
		return s, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	off, known := t.last[key]
	if !known {
		return s, false
	}
	return t.at(key, off)
}

// marks gives what is known of a file up to a number of bytes, the furthest last: that one, and those at the ends of blocks.
func (t *trail) marks(key trailKey, file string, upTo int64) (list []mark) {
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
		s, ok := t.at(key, off)
		if !ok || s.file != file {
			break
		}
		off = s.prev
		switch {
		case s.n == 0 || s.n > upTo:
		case len(list) == 0, s.n < list[len(list)-1].n && s.n%blockOf(list[0].n) == 0:
			list = append(list, s.mark)
		}
	}
	for i, k := 0, len(list)-1; i < k; i, k = i+1, k-1 {
		list[i], list[k] = list[k], list[i]
	}
	return list
}

// add adds each record to its file's, unless the last one says as much already.
func (t *trail) add(notes ...note) {
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
			if old, ok := t.at(n.key, off); ok && old.file == n.file && old.name == n.name {
				if n.prev = off; old.n >= n.n {
					continue
				}
			}
		}
		t.put(n.key, n.step)
	}
}

func (t *trail) put(key trailKey, s step) error {
	b := s.encode(key)
	if len(b) > maxStep {
		return errors.New("a record is too long")
	}
	if err := t.make(); err != nil {
		return err
	}
	if t.end == 0 {
		b = append([]byte(trailMagic), b...)
	}
	if _, err := t.f.WriteAt(b, t.end); err != nil {
		t.f.Truncate(t.end)
		return err
	}
	t.last[key] = max(t.end, int64(len(trailMagic)))
	t.end += int64(len(b))
	return nil
}

// rest writes down how a part is left, as [identity] tells its content, and with "" that it is being written. What cannot be written down costs time only: then
// another content is told than it has.
func (t *trail) rest(name, content string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := keyOf(ofRest, name)
	if _, known := t.last[key]; known || content != "" {
		t.put(key, step{prev: -1, file: content})
	}
}

// touched reports whether somebody else may have written to a part since it was left: it has another content than was written down, or its writer was
// killed and wrote nothing down.
func (t *trail) touched(name, content string) bool {
	s, ok := t.newest(keyOf(ofRest, name))
	return !ok || s.file == "" || s.file != content
}

// cut forgets what is known of a file beyond a number of bytes, for good: an error says that it may be remembered.
func (t *trail) cut(key trailKey, file string, n int64) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	off, known := t.last[key]
	if !known {
		return nil
	}
	s, ok := t.at(key, off)
	if ok && s.file == file && s.n <= n {
		return nil
	}
	for ok && (s.file != file || s.n > n) {
		s, ok = t.at(key, s.prev)
	}
	if !ok {
		s = step{prev: -1}
	}
	if t.put(key, s) == nil && t.f.Sync() == nil {
		return nil
	}
	clear(t.last) // then nothing at all is remembered
	t.end = 0
	if err := t.f.Truncate(0); err != nil {
		return err
	}
	return t.f.Sync()
}

// close reports whether there is anything in the trail.
func (t *trail) close() (used bool) {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut = true; t.f != nil {
		t.f.Close()
	}
	return t.f != nil
}
