package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
)

const (
	// tempInterval is the time between two looks at the temporary files of a running command.
	tempInterval = time.Second
	// maxReserve is the free space of a disk, in bytes, below which temporary files are limited. On
	// a small disk it is a tenth.
	maxReserve = 10 << 30
)

// tempGuard keeps the private temporary files of commands from filling the disk. When the reserve is
// reached, they may take up as much as is still free. A command that writes more is ended, and what
// was written since its start is removed.
//
// It measures, because an ordinary user can limit a folder of a disk in no other way, and because
// files in memory would leave less room for what builds and package managers write.
type tempGuard struct {
	limit uint64 // in bytes; 0: what the disk permits

	mu      sync.Mutex
	running map[*Process]tempStart
}

// tempStart is the private temporary folder of a command, and when the command started.
type tempStart struct {
	dir   string
	since time.Time
}

// fileClock returns the time that a file would get that is changed now.
func fileClock() time.Time {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return time.Now()
	}
	return time.Unix(now.Unix())
}

// watch looks at the temporary files of a command until it has ended.
func (g *tempGuard) watch(p *Process, start tempStart) {
	g.mu.Lock()
	if g.running == nil {
		g.running = map[*Process]tempStart{}
	}
	g.running[p] = start
	g.mu.Unlock()
	p.tempChecked = make(chan struct{})
	crash.Go(func() {
		defer close(p.tempChecked)
		timer := time.NewTimer(tempInterval)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				began := time.Now()
				if g.hasToStop(p) {
					p.tempStopped = true
					p.Kill()
				}
				timer.Reset(max(tempInterval, 20*time.Since(began)))
			case <-p.Done():
				g.finish(p)
				return
			}
		}
	})
}

// hasToStop reports whether there are too many temporary files and a command is the latest that may
// have written some of them.
func (g *tempGuard) hasToStop(p *Process) bool {
	g.mu.Lock()
	start := g.running[p]
	g.mu.Unlock()
	last, isOver := g.measure(start.dir)
	if !isOver || last.Before(start.since) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.running {
		if other.dir == start.dir && other.since.After(start.since) && !last.Before(other.since) {
			return false
		}
	}
	return true
}

// finish removes what was written since the start of an ended command, if that is too much. Another
// running command may still write to such files: they are emptied then.
func (g *tempGuard) finish(p *Process) {
	g.mu.Lock()
	start := g.running[p]
	delete(g.running, p)
	isShared := false
	for _, other := range g.running {
		isShared = isShared || other.dir == start.dir
	}
	g.mu.Unlock()
	last, isOver := g.measure(start.dir)
	if !p.tempStopped && (!isOver || last.Before(start.since)) {
		return
	}
	root, err := os.OpenRoot(start.dir)
	if err != nil {
		return
	}
	defer root.Close()
	eachTemp(start.dir, func(rel string, bytes uint64, changed time.Time) {
		if !changed.Before(start.since) && clearFile(root, rel, !isShared) {
			p.tempCleared += bytes
		}
	})
}

// measure reports whether there are too many files in a folder, and when one of them changed last.
// It reads the folder only if that is possible.
func (g *tempGuard) measure(dir string) (last time.Time, isOver bool) {
	limit := g.limit
	if limit == 0 {
		var disk unix.Statfs_t
		if unix.Statfs(dir, &disk) != nil {
			return last, false
		}
		limit = disk.Bavail * uint64(disk.Bsize)
		if limit >= min(disk.Blocks*uint64(disk.Bsize)/10, maxReserve) {
			return last, false
		}
	}
	var all uint64
	eachTemp(dir, func(_ string, bytes uint64, changed time.Time) {
		all += bytes
		if changed.After(last) {
			last = changed
		}
	})
	return last, all > limit
}

// eachTemp calls f with every file in a folder that takes up space, and with when it changed last. A
// command may change the folder meanwhile.
func eachTemp(dir string, f func(rel string, bytes uint64, changed time.Time)) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // unreadable, or gone
		}
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil && st.Blocks > 0 {
			rel, _ := filepath.Rel(dir, path)
			f(rel, uint64(st.Blocks)*512, time.Unix(st.Ctim.Unix()))
		}
		return nil
	})
}

// clearFile empties a file, also for the programs that have it open, and removes it if asked to. It
// reports whether the space is free again.
func clearFile(root *os.Root, rel string, remove bool) bool {
	empty := func() error {
		f, err := root.OpenFile(rel, os.O_WRONLY|os.O_TRUNC|unix.O_NONBLOCK, 0)
		if err == nil {
			f.Close()
		}
		return err
	}
	err := empty()
	if err != nil { // a command may have made it read-only
		root.Chmod(rel, 0o600)
		err = empty()
	}
	if remove {
		if err = root.Remove(rel); err != nil { // or its folder
			root.Chmod(filepath.Dir(rel), 0o700)
			err = root.Remove(rel)
		}
	}
	return err == nil
}
