package floor

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watchedEvents are the events of inotify(7) that change the list of a folder's entries, or who may
// read them.
const watchedEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF |
	unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// reporting are the file systems of which the system sees every change: no program of another
// machine, and no program behind the file system, can change a file.
var reporting = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.MSDOS_SUPER_MAGIC,
	unix.EXFAT_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, 0xca451a4e, /* bcachefs */
}

// watcher learns by inotify which folders have changed. The system adds an event to the queue before
// the call that makes the change returns, so that update knows of everything before it. A nil
// watcher watches nothing. Its List guards it.
type watcher struct {
	events  int // descriptor of the queue
	mounts  int // descriptor of the table of mounts: a new one covers a folder without an event
	limit   int
	folders map[int32][]*folder // by the system's number
	devices map[uint64]bool     // whether they report every change
	state   watchState
	buffer  [64 << 10]byte
}

// watchState counts reports. Losses are reports after which folders may have changed unseen.
type watchState struct{ changes, losses int }

// newWatcher returns nil where the system cannot watch.
func newWatcher() *watcher {
	events, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(events)
		return nil
	}
	return &watcher{events: events, mounts: mounts, limit: watchLimit(), folders: map[int32][]*folder{}, devices: map[uint64]bool{}}
}

// watchLimit is a quarter of what all programs of a person may watch.
func watchLimit() int {
	text, _ := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return min(maxFolders, n/4)
}

func (w *watcher) close() {
	if w != nil {
		unix.Close(w.events)
		unix.Close(w.mounts)
	}
}

func (w *watcher) current() watchState {
	if w == nil {
		return watchState{}
	}
	return w.state
}

// update takes in everything that has happened. It calls touch for new files and those with other
// permissions.
func (w *watcher) update(touch func(dir, name string)) {
	if w == nil {
		return
	}
	poll := []unix.PollFd{{Fd: int32(w.mounts), Events: unix.POLLPRI}}
	if n, err := unix.Poll(poll, 0); n != 0 || err != nil {
		w.lose()
	}
	for {
		n, err := unix.Read(w.events, w.buffer[:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return
		case n < unix.SizeofInotifyEvent:
			w.lose()
			return
		}
		eachEvent(w.buffer[:n], func(e *unix.InotifyEvent, name string) { w.handle(e, name, touch) })
	}
}

// eachEvent calls handle for each event that was read from inotify(7).
func eachEvent(list []byte, handle func(e *unix.InotifyEvent, name string)) {
	for len(list) >= unix.SizeofInotifyEvent {
		e := (*unix.InotifyEvent)(unsafe.Pointer(&list[0]))
		end := unix.SizeofInotifyEvent + int(e.Len)
		name, _, _ := bytes.Cut(list[unix.SizeofInotifyEvent:end], []byte{0})
		handle(e, string(name))
		list = list[end:]
	}
}

func (w *watcher) lose() {
	w.state.changes++
	w.state.losses++
}

func (w *watcher) handle(e *unix.InotifyEvent, name string, touch func(dir, name string)) {
	isDir, isMove := e.Mask&unix.IN_ISDIR != 0, e.Mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0
	if e.Mask&unix.IN_Q_OVERFLOW != 0 || e.Mask&unix.IN_MOVE_SELF != 0 || isDir && isMove {
		w.lose() // what is below a moved folder is at another path, or behind one that another folder had
	}
	for _, f := range w.folders[e.Wd] {
		if name != "" && !isDir && f.level == 0 && e.Mask&(unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ATTRIB) != 0 {
			touch(f.path, name)
		}
		if name != "" && e.Mask&unix.IN_ATTRIB != 0 {
			continue // the folder of an entry reports about itself
		}
		f.isDirty = true
		w.state.changes++
		if e.Mask&unix.IN_IGNORED != 0 {
			f.watchID = 0
		}
	}
	if e.Mask&unix.IN_IGNORED != 0 {
		delete(w.folders, e.Wd)
	}
}

// add watches a folder, if the system reports all its changes and the limit permits it.
func (w *watcher) add(f *folder) {
	if w == nil || !w.isReporting(f) {
		return
	}
	number, err := unix.InotifyAddWatch(w.events, f.path, watchedEvents)
	id := int32(number)
	switch {
	case err != nil:
	case w.folders[id] == nil && len(w.folders) >= w.limit:
		unix.InotifyRmWatch(w.events, uint32(id))
	default:
		f.watchID, w.folders[id] = id, append(w.folders[id], f)
	}
}

func (w *watcher) isReporting(f *folder) bool {
	st, ok := f.info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	known, ok := w.devices[st.Dev]
	if !ok {
		var fs unix.Statfs_t
		known = unix.Statfs(f.path, &fs) == nil && slices.Contains(reporting, int64(fs.Type))
		w.devices[st.Dev] = known
	}
	return known
}

// remove stops watching a folder that is no longer listed, unless another list has it.
func (w *watcher) remove(f *folder) {
	if w == nil || f.watchID == 0 {
		return
	}
	rest := slices.DeleteFunc(w.folders[f.watchID], func(other *folder) bool { return other == f })
	if w.folders[f.watchID] = rest; len(rest) == 0 {
		delete(w.folders, f.watchID)
		unix.InotifyRmWatch(w.events, uint32(f.watchID)) // the system may have removed it
	}
}
