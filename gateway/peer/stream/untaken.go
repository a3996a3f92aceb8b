package stream

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// A disk may refuse what was written when it is synced: it is full, over its quota, or broken. The system says so once, drops what it could not write,
// and may show it for as long as it has it in memory. So what the disk has not taken is removed: whoever looks at it, a later attempt too, would take it
// for whole.

// untaken words an error of a disk that has not taken what was written.
func untaken(err error) error {
	return fmt.Errorf("the disk did not take it (%w): see to the disk, then retry", reason(err))
}

// fullText tells the person what to do about a disk without room.
func fullText(err error) string {
	what := "The disk is full."
	if quotaUsed(err) {
		what = "What you may have on that disk (its quota) is used up."
	}
	return what + " Make room there and retry: the transfer goes on where it is."
}

// doubted cuts an unfinished file, which is closed, back to what the disk has taken for sure, or removes it.
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

// named remembers a name that was made or found with the same content.
func (r *Receiver) named(name string) {
	r.names[fold(name)] = exact(name)
	top, _, _ := strings.Cut(name, "/")
	r.tops[top] = true
}

// untakenFiles removes the files of this transfer that are at their places and that the disk has not taken. They count as failed; an error is one that
// ends the transfer.
func (r *Receiver) untakenFiles() error {
	r.unsettled = nil
	var full error
	for top := range r.tops {
		r.untakenBelow(top, &full)
	}
	if full != nil {
		return full
	}
	if err := syncAll(r.disk); err != nil { // of the folders; what the system has said it does not say again
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
