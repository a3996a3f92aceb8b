package watch

import (
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/windows"

	"fairlead/gateway/peer/crash"
)

// watchesByTree: one handle reports all changes below a folder. With a handle for each folder, as
// on Linux, no folder with subfolders could be renamed.
const watchesByTree = true

const (
	// treeBuffer is the number of bytes of changes that the system stores between two reads.
	// Network shares permit no more.
	treeBuffer = 64 << 10
	treeFilter = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE
)

// treeHandle reads the system's reports about a folder and its tree. Its goroutine owns the
// handles; Close stops it.
type treeHandle struct {
	// dir is the folder; ready and quit are events: data is ready, and Close was called.
	dir, ready, quit windows.Handle
	stop, done       chan struct{}
}

// openTree starts watching the tree below a folder. Changes from then on are sent to w.treeReports.
func (w *Watcher) openTree(abs string) (_ io.Closer, err error) {
	name, err := windows.UTF16PtrFromString(abs)
	if err != nil {
		return nil, err
	}
	t := &treeHandle{stop: make(chan struct{}), done: make(chan struct{})}
	defer func() {
		if err != nil {
			t.free()
		}
	}()
	// Other programs may rename and remove the folder meanwhile.
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
	crash.Go(func() { t.run(w.treeReports, abs, begun) })
	if err = <-begun; err != nil {
		<-t.done
		return nil, err
	}
	return t, nil
}

// Close stops reading and waits for that.
func (t *treeHandle) Close() error {
	close(t.stop)
	err := windows.SetEvent(t.quit)
	<-t.done
	t.free()
	return err
}

func (t *treeHandle) free() {
	for _, h := range []windows.Handle{t.dir, t.ready, t.quit} {
		if h != 0 {
			windows.CloseHandle(h)
		}
	}
}

func (t *treeHandle) run(news chan<- treeReport, top string, begun chan<- error) {
	runtime.LockOSThread() // a read is cancelled when the thread that started it ends
	defer runtime.UnlockOSThread()
	defer close(t.done)
	buf := make([]byte, treeBuffer)
	ov := windows.Overlapped{HEvent: t.ready}
	read := func() error {
		return windows.ReadDirectoryChanges(t.dir, &buf[0], uint32(len(buf)), true, treeFilter, nil, &ov, 0)
	}
	err := read()
	begun <- err
	for err == nil {
		which, waitErr := windows.WaitForMultipleObjects([]windows.Handle{t.quit, t.ready}, false, windows.INFINITE)
		if waitErr != nil || which == windows.WAIT_OBJECT_0 {
			windows.CancelIoEx(t.dir, &ov)
			// Until then the system may write to buf.
			windows.GetOverlappedResult(t.dir, &ov, new(uint32), true)
			runtime.KeepAlive(buf)
			return
		}
		var n uint32
		err = windows.GetOverlappedResult(t.dir, &ov, &n, false)
		full := errors.Is(err, windows.ERROR_NOTIFY_ENUM_DIR)
		if full {
			n, err = 0, nil
		}
		heard := treeReport{top: top, err: err, lost: err == nil && n == 0, events: parseNotifications(buf[:n], top)}
		if err == nil {
			err = read() // read again before reporting, which may take long
			heard.err = err
		}
		select {
		case news <- heard:
		case <-t.stop:
		}
	}
}

// parseNotifications parses FILE_NOTIFY_INFORMATION: the offset of the next record, 4 bytes; the
// action, 4; the length of the name in bytes, 4; the name.
func parseNotifications(list []byte, top string) (events []fsnotify.Event) {
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
