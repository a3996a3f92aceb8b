package floor

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// crowdEvents are the events of inotify(7) after which a file may be open to others.
const crowdEvents = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// crowds are the folders that a list leaves out, because programs fill them with thousands of files:
// node_modules, target, .git and the like. It records which files there were created, or may have got
// other permissions, by the reports of the system alone: what does not change costs nothing. A nil
// one records nothing. Its List guards it.
type crowds struct {
	events int // descriptor of the queue
	limit  int // of watched folders; those beyond it are only looked at when they are new
	tops   map[string]os.FileInfo
	paths  map[int32]string // by the system's number
	reads  int              // folders that were read, for tests
}

// newCrowds returns nil where the system cannot watch.
func newCrowds() *crowds {
	events, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &crowds{events: events, limit: watchLimit(), tops: map[string]os.FileInfo{}, paths: map[int32]string{}}
}

func (c *crowds) close() {
	if c != nil {
		unix.Close(c.events)
	}
}

// update records what has changed since the last update, and everything in folders that are new.
func (c *crowds) update(tops []string, touch func(dir, name string)) {
	if c == nil {
		return
	}
	var buffer [64 << 10]byte
	for {
		n, err := unix.Read(c.events, buffer[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n < unix.SizeofInotifyEvent {
			break
		}
		eachEvent(buffer[:n], func(e *unix.InotifyEvent, name string) { c.handle(e, name, touch) })
	}
	for _, top := range tops {
		info, err := os.Lstat(top)
		if before := c.tops[top]; err != nil || !info.IsDir() || before != nil && os.SameFile(before, info) {
			continue
		}
		c.tops[top] = info
		c.add(top, touch)
	}
}

func (c *crowds) handle(e *unix.InotifyEvent, name string, touch func(dir, name string)) {
	dir := c.paths[e.Wd]
	switch {
	case e.Mask&unix.IN_Q_OVERFLOW != 0:
		clear(c.tops) // everything may have changed
	case e.Mask&unix.IN_IGNORED != 0:
		delete(c.paths, e.Wd)
	case dir == "" || name == "":
	case e.Mask&unix.IN_ISDIR == 0:
		touch(dir, name)
	case e.Mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 || !c.isOpen(filepath.Join(dir, name)):
		c.add(filepath.Join(dir, name), touch)
	}
}

// isOpen reports whether a folder whose permissions have changed was watched before.
func (c *crowds) isOpen(dir string) bool {
	id, err := unix.InotifyAddWatch(c.events, dir, crowdEvents)
	return err != nil || c.paths[int32(id)] == dir
}

// add watches a folder and all below it, and records their files. Folders that have moved are known
// by their new path from then on.
func (c *crowds) add(dir string, touch func(dir, name string)) {
	for queue := []string{dir}; len(queue) > 0; {
		dir, queue = queue[len(queue)-1], queue[:len(queue)-1]
		if id, err := unix.InotifyAddWatch(c.events, dir, crowdEvents); err == nil { // first, so that no later change is missed
			if c.paths[int32(id)] == "" && len(c.paths) >= c.limit {
				unix.InotifyRmWatch(c.events, uint32(id))
			} else {
				c.paths[int32(id)] = dir
			}
		}
		c.reads++
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if e.IsDir() {
				queue = append(queue, filepath.Join(dir, e.Name()))
			} else if e.Type().IsRegular() {
				touch(dir, e.Name())
			}
		}
	}
}
