//go:build !windows

package watch

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/node/workspace"
)

const (
	// pollShare bounds the cost of polling: after each round there is a pause of that many times
	// its duration, which is 3 % of a core.
	pollShare = 32
	// pollTick is the time within which a file may change twice without a visible change of its
	// time.
	pollTick = 20 * time.Millisecond
)

// poller polls the tree below a folder, in rounds, for systems that do not report changes there.
// For each folder it stores one number, computed from the names, kinds, sizes, times and inodes of
// its entries. Its goroutine owns it; Close stops it.
type poller struct {
	ws         *workspace.Root
	top        string
	reports    chan<- treeReport
	pause      time.Duration
	maxEntries int // maximum number of entries
	quit, done chan struct{}
	rounds     atomic.Int64 // number of reported rounds

	seed     maphash.Seed
	folders  map[uint64]folderState // by the hash of the path
	round    uint32
	entries  int // of this round
	changed  []string
	overflow bool // there are more changes
}

// folderState is the known state of a folder, and the round of its last check.
type folderState struct {
	sum   uint64
	round uint32
}

// watchesByTree is set on systems without inotify: with kqueue (macOS and the BSDs), every file
// below would have to be open. macOS could report changes in trees by FSEvents, which only C can
// call. There, trees are polled.
const watchesByTree = runtime.GOOS != "linux"

// openTree starts polling the tree below a folder. Its content at the end of the first round counts
// as known; later changes are sent to w.treeReports.
func (w *Watcher) openTree(abs string) (io.Closer, error) {
	p := &poller{
		ws: w.ws, top: abs, reports: w.treeReports, pause: w.pollPause, maxEntries: w.maxPollEntries, quit: make(chan struct{}), done: make(chan struct{}),
		seed: maphash.MakeSeed(), folders: make(map[uint64]folderState),
	}
	crash.Go(func() { p.run() })
	return p, nil
}

// Close stops polling, also in the middle of a round, and waits for that.
func (p *poller) Close() error {
	close(p.quit)
	<-p.done
	return nil
}

func (p *poller) run() {
	defer close(p.done)
	for {
		start := time.Now()
		err := p.scan()
		if errors.Is(err, errClosed) {
			return
		}
		rest := time.NewTimer(pauseAfter(time.Since(start), p.pause))
		if p.overflow || len(p.changed) > 0 || err != nil {
			select {
			case p.reports <- treeReport{top: p.top, folders: p.changed, lost: p.overflow, err: err}:
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

// pauseAfter returns the pause after a round.
func pauseAfter(round, least time.Duration) time.Duration { return max(least, pollShare*round) }

func (p *poller) isClosed() bool {
	select {
	case <-p.quit:
		return true
	default:
		return false
	}
}

var errClosed = errors.New("the watcher was closed")

// scan is one round. If the top folder was removed or replaced, the watcher handles that.
func (p *poller) scan() error {
	p.changed, p.overflow, p.entries = nil, false, 0
	d, err := p.ws.OpenDir(workspace.Path{Abs: p.top})
	if err != nil {
		return nil
	}
	defer d.Close()
	if d.Abs != p.top {
		return nil
	}
	p.round++
	if err := p.scanFolder(d, 0); err != nil {
		return err
	}
	for key, f := range p.folders {
		if f.round != p.round {
			delete(p.folders, key)
		}
	}
	return nil
}

// scanFolder polls one folder and those in it. The system reports changes directly in the top
// folder.
func (p *poller) scanFolder(d *workspace.Dir, level int) error {
	var sum uint64
	var names []string
	var stop error
	d.Each(func(e workspace.Entry) bool {
		switch {
		case workspace.IsInternal(e.Name):
			return true
		case p.isClosed():
			stop = errClosed
			return false
		case p.entries == p.maxEntries:
			stop = treeError(fmt.Sprintf("there are more than %d files and folders below, too many to check for changes on this system", p.maxEntries))
			return false
		}
		p.entries++
		sum += p.hashEntry(d, e.Name)
		if e.IsDir() && level < maxDepth && !p.ws.Skips(d, e.Name) {
			names = append(names, strings.Clone(e.Name))
		}
		return true
	}) // a folder that cannot be read is skipped
	if stop != nil {
		return stop
	}
	key := maphash.String(p.seed, d.Abs)
	was, had := p.folders[key]
	p.folders[key] = folderState{sum: sum, round: p.round}
	if level > 0 && p.round > 1 && (!had || was.sum != sum) {
		if p.changed = append(p.changed, d.Abs); len(p.changed) > maxChangedFolders {
			p.changed, p.overflow = p.changed[:0], true
		}
	}
	for _, name := range names {
		sub, err := d.Sub(name)
		if err != nil {
			continue
		}
		err = p.scanFolder(sub, level+1)
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// hashEntry returns the hash of one entry of a folder. The hashes of a folder are added, so that
// their order does not matter.
func (p *poller) hashEntry(d *workspace.Dir, name string) uint64 {
	i, err := d.Info(name)
	if err != nil {
		return 0 // it was removed
	}
	if i.Mode.IsDir() {
		i.Size, i.Time = 0, time.Unix(0, 0) // these depend on its content
	}
	// A file that was changed just now may change again within the same time, so the next round
	// must take it for changed.
	age := time.Since(i.Time)
	isFresh := 0 <= age && age < pollTick
	var h maphash.Hash
	h.SetSeed(p.seed)
	fmt.Fprintln(&h, name, i.Mode, i.Size, i.Time.UnixNano(), i.Inode, isFresh)
	return h.Sum64()
}
