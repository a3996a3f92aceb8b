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

// untaken returns the error of a disk that did not accept data, for people.
func untaken(err error) error {
	return fmt.Errorf("the disk did not take it (%w): see to the disk, then retry", reason(err))
}

// fullText tells the person what to do about a full disk.
func fullText(err error) string {
	what := "The disk is full."
	if quotaUsed(err) {
		what = "What you may have on that disk (its quota) is used up."
	}
	return what + " Make room there and retry: the transfer goes on where it is."
}

// doubted truncates an unfinished, closed file to the last checkpoint, which the disk certainly
// has, or removes it.
func (r *Receiver) doubted(in *incoming) {
	f, err := r.openFile(in.part, os.O_WRONLY|nonblock, 0)
	if err == nil {
		known := r.trail.marks(keyOf(ofPart, in.announced), identity(f).file, in.size)
		if len(known) > 0 && f.Truncate(known[len(known)-1].n) == nil {
			f.Close()
			return
		}
		f.Close()
	}
	r.remove(in.part)
}

// named remembers a name that was created, or found with the same content.
func (r *Receiver) named(name string) {
	r.names[fold(name)] = exact(name)
	top, _, _ := strings.Cut(name, "/")
	r.tops[top] = true
}

// untakenFiles removes the files of this transfer that have their names but that the disk did not
// accept. They count as failed. An error ends the transfer.
func (r *Receiver) untakenFiles() error {
	r.unsettled = nil
	var full error
	for top := range r.tops {
		r.untakenBelow(top, &full)
	}
	if full != nil {
		return full
	}
	if err := syncAll(r.disk); err != nil { // of the folders; the system reports an error only once
		return untaken(err)
	}
	return nil
}

func (r *Receiver) untakenBelow(name string, full *error) {
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
				r.untakenBelow(path.Join(name, n), full)
			}
			if len(names) == 0 || err != nil {
				return
			}
		}
	case info.Mode().IsRegular() && r.names[fold(name)] == exact(name):
		f, err := r.openFile(name, os.O_RDONLY|nonblock, 0)
		if err != nil {
			return
		}
		err = errors.Join(f.Sync(), f.Close())
		if err == nil {
			return
		}
		err = untaken(err)
		r.remove(name)
		delete(r.names, fold(name))
		r.fail(&entry{name: name}, err)
		r.res.Files--
		r.res.Bytes -= info.Size()
		if r.res.New > 0 {
			r.res.New--
			r.res.Written -= info.Size()
		}
		if diskFull(err) && *full == nil {
			*full = err
		}
	}
}
