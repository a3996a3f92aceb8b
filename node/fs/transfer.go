package fs

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Limits of files that are read or written in parts.
const (
	// maxOpen bounds the files that a program has open at the same time.
	maxOpen = 64
	// idle is how long an open file waits for the next part. It is shorter than the time after
	// which a temporary file counts as left by a crash.
	idle = 5 * time.Minute
	// hold is how long a file whose parts are complete waits for the person's answer.
	hold = 25 * time.Hour
	// maxCollected bounds the bytes that a program has collected and not finished.
	maxCollected = 16 << 30
	// reserve is the space in bytes that collected parts leave free.
	reserve = 16 << 20
)

// transfers are the open files, by their file_id. They are safe for concurrent use.
type transfers struct {
	mu   sync.Mutex // guards open
	open map[string]*transfer
	idle time.Duration
}

// transfer is a file that is read or written in parts.
type transfer struct {
	caller string     // the program that opened it
	turn   sync.Mutex // one part at a time
	reader *reader    // or
	writer *writer
	timer  *time.Timer
	// collected are the bytes of a file that is written; the mutex of transfers guards it.
	collected int64
	ended     bool
	held      time.Time // until then it waits for the person's answer about its last part
}

func newTransfers() *transfers {
	return &transfers{open: make(map[string]*transfer), idle: idle}
}

// begin opens a transfer and returns its ID, which nobody can guess. What it has collected already,
// such as a download, counts like parts.
func (t *transfers) begin(x *transfer) (id string, err error) {
	var b [16]byte
	rand.Read(b[:])
	id = "file_" + hex.EncodeToString(b[:])
	if x.collected > 0 {
		if err := checkFree(x.writer.new.FreeSpace(), 0); err != nil {
			return "", err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	count, total := t.usedBy(x.caller)
	switch {
	case total+x.collected > maxCollected:
		return "", errCollected
	case count >= maxOpen:
		f := protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("%d files are open on this machine. Finish one, or wait.", maxOpen))
		return "", f.With(map[string]int64{"retry_after_ms": time.Second.Milliseconds()})
	}
	x.timer = crash.AfterFunc(t.idle, func() { t.end(id, x) })
	t.open[id] = x
	return id, nil
}

// usedBy returns how many files a program has open, and how many bytes it has collected. The caller
// holds mu.
func (t *transfers) usedBy(caller string) (files int, bytes int64) {
	for _, x := range t.open {
		if x.caller == caller {
			files, bytes = files+1, bytes+x.collected
		}
	}
	return files, bytes
}

// take returns an open transfer, locked for one part. The caller unlocks turn.
func (t *transfers) take(id string) (*transfer, error) {
	t.mu.Lock()
	x := t.open[id]
	t.mu.Unlock()
	if x != nil {
		x.turn.Lock()
		if !x.ended {
			x.timer.Reset(t.idle)
			return x, nil
		}
		x.turn.Unlock()
	}
	return nil, protocol.NewFault(protocol.FaultNotFound, "no file is open with this file_id: it is done, or nobody used it for 5 minutes. Begin again.")
}

// end closes a transfer that is not in use, unless it waits for the person.
func (t *transfers) end(id string, x *transfer) {
	x.turn.Lock()
	defer x.turn.Unlock()
	if !x.ended && time.Now().Before(x.held) && x.writer.new.Touch() == nil {
		x.timer.Reset(t.idle)
		return
	}
	t.finish(id, x)
}

// room returns an error if a program may not collect n more bytes for a file.
func (t *transfers) room(x *transfer, n int64) error {
	if err := checkFree(x.writer.new.FreeSpace(), n); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, total := t.usedBy(x.caller); total+n > maxCollected {
		return errCollected
	}
	x.collected += n
	return nil
}

var errCollected = protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("The parts that are not finished yet would have more than %d GiB. Finish a file, or wait.", maxCollected>>30))

// checkFree refuses to store n bytes on a disk that has too few bytes free; a negative number means
// that it is not known how many.
func checkFree(free, n int64) error {
	if free >= 0 && free-n < reserve {
		return protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("The disk has %d bytes free, which is too little. Nothing was written.", free))
	}
	return nil
}

// finish closes a transfer; the caller holds its turn.
func (t *transfers) finish(id string, x *transfer) {
	t.mu.Lock()
	delete(t.open, id)
	t.mu.Unlock()
	if x.ended {
		return
	}
	x.ended = true
	x.timer.Stop()
	if x.reader != nil {
		x.reader.file.Close()
	} else {
		x.writer.new.Abort()
	}
}
