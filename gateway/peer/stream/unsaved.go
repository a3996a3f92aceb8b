package stream

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// A disk may refuse data when it is synced: it is full, over its quota, or broken. The system
// reports that once, discards the data, and may show it as long as it is in memory. So files that
// the disk did not accept are removed; otherwise others, including a later attempt, would take them
// for complete.

// errNotSaved returns the error of a disk that did not accept data, for people.
func errNotSaved(err error) error {
	return fmt.Errorf("the disk could not store it (%w): check the disk, then retry", withoutPath(err))
}

// diskFullText tells the person what to do about a full disk.
func diskFullText(err error) string {
	what := "The disk is full."
	if isQuotaError(err) {
		what = "Your quota on this disk is used up."
	}
	return what + " Free up space and retry: the transfer continues where it stopped."
}

// truncateUnsynced truncates an unfinished, closed file to the last checkpoint, which the disk
// certainly has, or removes it.
func (r *Receiver) truncateUnsynced(in *receivingFile) {
	f, err := r.openFile(in.part, os.O_WRONLY|nonblock, 0)
	if err == nil {
		known := r.checkpoints.checkpoints(recordKeyOf(partFileRecord, in.announced), identity(f).file, in.size)
		if len(known) > 0 && f.Truncate(known[len(known)-1].n) == nil {
			f.Close()
			return
		}
		f.Close()
	}
	r.remove(in.part)
}

// recordName remembers a name that was created, or found with the same content.
func (r *Receiver) recordName(name string) {
	r.names[foldedHash(name)] = nameHash(name)
	top, _, _ := strings.Cut(name, "/")
	r.topNames[top] = true
}

// removeUnsaved removes the files of this transfer that have their names but that the disk did not
// accept. They count as failed. An error ends the transfer.
func (r *Receiver) removeUnsaved() error {
	r.unsynced = nil
	var full error
	for top := range r.topNames {
		r.removeUnsavedBelow(top, &full)
	}
	if full != nil {
		return full
	}
	if err := syncAll(r.rootDir); err != nil { // of the folders; the system reports an error only once
		return errNotSaved(err)
	}
	return nil
}

func (r *Receiver) removeUnsavedBelow(name string, full *error) {
	info, err := r.Root.Lstat(name)
	switch {
	case err != nil:
	case info.IsDir():
		dir, err := r.Root.Open(name)
		if err != nil {
			return
		}
		defer dir.Close()
		for {
			names, err := dir.Readdirnames(1000)
			for _, n := range names {
				r.removeUnsavedBelow(path.Join(name, n), full)
			}
			if len(names) == 0 || err != nil {
				return
			}
		}
	case info.Mode().IsRegular() && r.names[foldedHash(name)] == nameHash(name):
		f, err := r.openFile(name, os.O_RDONLY|nonblock, 0)
		if err != nil {
			return
		}
		err = errors.Join(f.Sync(), f.Close())
		if err == nil {
			return
		}
		err = errNotSaved(err)
		r.remove(name)
		delete(r.names, foldedHash(name))
		r.failEntry(&entry{name: name}, err)
		r.result.Files--
		r.result.Bytes -= info.Size()
		if r.result.New > 0 {
			r.result.New--
			r.result.Written -= info.Size()
		}
		if isDiskFull(err) && *full == nil {
			*full = err
		}
	}
}
