package workspace

import (
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"
)

// wholeTrees: one handle tells of all below a folder. With a handle for each folder, as on Linux, no folder could be renamed that has one below it.
const wholeTrees = true

const (
	// treeBuffer is how many bytes of changes the system keeps from one read to the next. Shares of other machines have no more.
	treeBuffer = 64 << 10
	treeWanted = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE
)

// wholeTree reads what the system tells of a folder and all below it. Its goroutine owns the reading, Close ends it.
type wholeTree struct {
	dir, ready, quit windows.Handle // the folder, and events: there is something to read, and nobody wants it any more
	stop, done       chan struct{}
}

// openTree begins to watch all below a folder. What happens from here on comes through w.trees.
func (w *Watcher) openTree(abs string) (_ io.Closer, err error) {
	name, err := windows.UTF16PtrFromString(abs)
	if err != nil {
		return nil, err
	}
	t := &wholeTree{stop: make(chan struct{}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			t.free()
		}
	}()
	// Others may rename and remove the folder meanwhile.
	t.dir, err = windows.CreateFile(name, windows.FILE_LIST_DIRECTORY, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		t.dir = 0
		return nil, err
	}
	if t.ready, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, err
	}
	if t.quit, err = windows.CreateEvent(nil, 1, 0, nil); err != nil {
		return nil, err
	}
	begun := make(chan error)
	go t.run(w.trees, abs, begun)
	if err = <-begun; err != nil {
		<-t.done
		return nil, err
	}
	return t, nil
}

// Close ends the reading and waits for that.
func (t *wholeTree) Close() error {
	close(t.stop)
	err := windows.SetEvent(t.quit)
	<-t.done
	t.free()
	return err
}

func (t *wholeTree) free() {
	for _, h := range []windows.Handle{t.dir, t.ready, t.quit} {
		if h != 0 {
			windows.CloseHandle(h)
		}
	}
}

func (t *wholeTree) run(news chan<- treeNews, top string, begun chan<- error) {
	runtime.LockOSThread() // a read is called off when the thread ends that asked for it
	defer runtime.UnlockOSThread()
	defer close(t.done)
	buf := make([]byte, treeBuffer)
	ov := windows.Overlapped{HEvent: t.ready}
	read := func() error {
		return windows.ReadDirectoryChanges(t.dir, &buf[0], uint32(len(buf)), true, treeWanted, nil, &ov, 0)
	}
	err := read()
	begun <- err
	for err == nil {
		which, waitErr := windows.WaitForMultipleObjects([]windows.Handle{t.quit, t.ready}, false, windows.INFINITE)
		if waitErr != nil || which == windows.WAIT_OBJECT_0 {
			windows.CancelIoEx(t.dir, &ov)
			windows.GetOverlappedResult(t.dir, &ov, new(uint32), true) // until then the system may write to buf
			runtime.KeepAlive(buf)
			return
		}
		var n uint32
		err = windows.GetOverlappedResult(t.dir, &ov, &n, false)
		full := errors.Is(err, windows.ERROR_NOTIFY_ENUM_DIR)
		if full {
			n, err = 0, nil
		}
		heard := treeNews{top: top, err: err, lost: err == nil && n == 0, events: notices(buf[:n], top)}
		if err == nil {
			err = read() // before anyone hears of it: that may take its time
			heard.err = err
		}
		select {
		case news <- heard:
		case <-t.stop:
		}
	}
}

// notices takes FILE_NOTIFY_INFORMATION apart: the offset of the next one, 4 bytes; what was done, 4; the length of the name in bytes, 4; the name.
func notices(list []byte, top string) (events []fsnotify.Event) {
	for len(list) > 0 {
		raw := (*windows.FileNotifyInformation)(unsafe.Pointer(&list[0]))
		name := windows.UTF16ToString(unsafe.Slice(&raw.FileName, raw.FileNameLength/2))
		e := fsnotify.Event{Name: filepath.Join(top, name), Op: fsnotify.Write}
		switch raw.Action {
		case windows.FILE_ACTION_ADDED, windows.FILE_ACTION_RENAMED_NEW_NAME:
			e.Op = fsnotify.Create
		case windows.FILE_ACTION_REMOVED:
			e.Op = fsnotify.Remove
		case windows.FILE_ACTION_RENAMED_OLD_NAME:
			e.Op = fsnotify.Rename
		}
		events = append(events, e)
		if raw.NextEntryOffset == 0 {
			break
		}
		list = list[raw.NextEntryOffset:]
	}
	return events
}
