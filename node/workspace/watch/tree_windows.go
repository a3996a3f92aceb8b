package watch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"fairlead/node/workspace"

	"golang.org/x/sys/windows"
)

const (
	// treeBuffer is the number of bytes of changes that the system stores between two reads.
	// Network shares permit no more.
	treeBuffer = 64 << 10
	treeFilter = windows.FILE_NOTIFY_CHANGE_FILE_NAME | windows.FILE_NOTIFY_CHANGE_DIR_NAME | windows.FILE_NOTIFY_CHANGE_SIZE | windows.FILE_NOTIFY_CHANGE_LAST_WRITE
)

// treeHandle reads the system's reports about a folder and its tree. With a handle for each folder,
// no folder with subfolders could be renamed. Its goroutine owns the handles; Close stops it.
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
	go t.run(w.treeReports, abs, begun)
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
		heard := treeReport{top: top, err: err, lost: err == nil && n == 0, folders: changedFolders(buf[:n], top)}
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

// changedFolders returns the folders of changed entries, and new folders, of a list of
// FILE_NOTIFY_INFORMATION: the offset of the next record, 4 bytes; the action, 4; the length of the
// name in bytes, 4; the name.
func changedFolders(list []byte, top string) (folders []string) {
	for len(list) > 0 {
		raw := (*windows.FileNotifyInformation)(unsafe.Pointer(&list[0]))
		path := filepath.Join(top, windows.UTF16ToString(unsafe.Slice(&raw.FileName, raw.FileNameLength/2)))
		if !workspace.IsInternal(filepath.Base(path)) {
			folders = append(folders, filepath.Dir(path))
			isNew := raw.Action == windows.FILE_ACTION_ADDED || raw.Action == windows.FILE_ACTION_RENAMED_NEW_NAME
			if info, err := os.Lstat(path); isNew && err == nil && info.IsDir() {
				folders = append(folders, path)
			}
		}
		if raw.NextEntryOffset == 0 {
			break
		}
		list = list[raw.NextEntryOffset:]
	}
	return folders
}
