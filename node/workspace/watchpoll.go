//go:build !windows

package workspace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// pollShare bounds the cost of polling: after each round there is a pause of that many times
	// its duration, which is 3 % of a core.
	pollShare = 32
	// pollTick is the time within which a file may change twice without a visible change of its
	// time.
	pollTick = 20 * time.Millisecond
)

// polling polls the tree below a folder, in rounds, for systems that do not report changes there.
// For each folder it stores one number, computed from the names, kinds, sizes, times and inodes of
// its entries. Its goroutine owns it; Close stops it.
type polling struct {
	ws         *Root
	top        string
	news       chan<- treeNews
	pause      time.Duration
	most       int // maximum number of entries
	quit, done chan struct{}
	rounds     atomic.Int64 // number of reported rounds

	seed    maphash.Seed
	folders map[uint64]polled // by the hash of the path
	round   uint32
	entries int // of this round
	changed []string
	much    bool // there are more changes
}

// polled is the known state of a folder, and the round of its last check.
type polled struct {
	sum   uint64
	round uint32
}

// stamp is the data that changes when a file does.
type stamp struct {
	mode       fs.FileMode
	size, time int64 // bytes; nanoseconds since 1970
	inode      uint64
}

// poll starts polling the tree below a folder. Its content at the end of the first round counts as
// known; later changes are sent to w.trees.
func (w *Watcher) poll(abs string) io.Closer {
	p := &polling{
		ws: w.ws, top: abs, news: w.trees, pause: w.pause, most: w.most, quit: make(chan struct{}), done: make(chan struct{}),
		seed: maphash.MakeSeed(), folders: make(map[uint64]polled),
	}
	go p.run()
	return p
}

// Close stops polling, also in the middle of a round, and waits for that.
func (p *polling) Close() error {
	close(p.quit)
	<-p.done
	return nil
}

func (p *polling) run() {
	defer close(p.done)
	for {
		start := time.Now()
		err := p.look()
		if errors.Is(err, errClosed) {
			return
		}
		rest := time.NewTimer(restAfter(time.Since(start), p.pause))
		if p.much || len(p.changed) > 0 || err != nil {
			select {
			case p.news <- treeNews{top: p.top, folders: p.changed, lost: p.much, err: err}:
			case <-p.quit:
			}
		}
		p.rounds.Add(1)
		if err != nil {
			return
		}
		select {
		case <-rest.C:
		case <-p.quit:
			rest.Stop()
			return
		}
	}
}

// restAfter returns the pause after a round.
func restAfter(round, least time.Duration) time.Duration { return max(least, pollShare*round) }

func (p *polling) closed() bool {
	select {
	case <-p.quit:
		return true
	default:
		return false
	}
}

var errClosed = errors.New("the watcher was closed")

// look is one round. If the top folder was removed or replaced, the watcher handles that.
func (p *polling) look() error {
	p.changed, p.much, p.entries = nil, false, 0
	d, err := p.ws.OpenDir(Path{Abs: p.top})
	if err != nil {
		return nil
	}
	defer d.Release()
	if d.Abs != p.top {
		return nil
	}
	p.round++
	if err := p.folder(d, 0); err != nil {
		return err
	}
	for key, f := range p.folders {
		if f.round != p.round {
			delete(p.folders, key)
		}
	}
	return nil
}

// folder polls one folder and those in it. The system reports changes directly in the top folder.
func (p *polling) folder(d *Dir, level int) error {
	var sum uint64
	var names []string
	var stop error
	d.Each(func(e Entry) bool {
		switch {
		case own(e.Name):
			return true
		case p.closed():
			stop = errClosed
			return false
		case p.entries == p.most:
			stop = shallow(fmt.Sprintf("there are more than %d files and folders below, and this system does not tell of changes there by itself", p.most))
			return false
		}
		p.entries++
		sum += p.number(d, e)
		if e.IsDir() && level < deepLevels && !p.ws.Skips(d, e.Name) {
			names = append(names, strings.Clone(e.Name))
		}
		return true
	}) // a folder that cannot be read is skipped
	if stop != nil {
		return stop
	}
	key := maphash.String(p.seed, d.Abs)
	was, had := p.folders[key]
	p.folders[key] = polled{sum: sum, round: p.round}
	if level > 0 && p.round > 1 && (!had || was.sum != sum) {
		if p.changed = append(p.changed, d.Abs); len(p.changed) > maxBelow {
			p.changed, p.much = p.changed[:0], true
		}
	}
	for _, name := range names {
		sub, err := d.Sub(name)
		if err != nil {
			continue
		}
		err = p.folder(sub, level+1)
		sub.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// number returns the hash of one entry of a folder. The hashes of a folder are added, so that their
// order does not matter.
func (p *polling) number(d *Dir, e Entry) uint64 {
	s, err := d.stamp(e.Name)
	if err != nil {
		return 0 // it was removed
	}
	if s.mode.IsDir() {
		s.size, s.time = 0, 0 // these depend on its content
	}
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.WriteString(e.Name)
	var b [4*8 + 1]byte
	binary.NativeEndian.PutUint64(b[0:], uint64(s.mode))
	binary.NativeEndian.PutUint64(b[8:], uint64(s.size))
	binary.NativeEndian.PutUint64(b[16:], uint64(s.time))
	binary.NativeEndian.PutUint64(b[24:], s.inode)
	if age := time.Now().UnixNano() - s.time; s.time != 0 && 0 <= age && age < int64(pollTick) {
		// The file may change again within the same time, so the next round must take it for
		// changed.
		b[32] = 1
	}
	h.Write(b[:])
	return h.Sum64()
}
