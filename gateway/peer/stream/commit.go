package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"fairlead/gateway/peer/format"
)

// complete compares the checksums and gives the file its name.
func (r *Receiver) complete(ctx context.Context, index uint32, sum []byte) error {
	in := r.announced[index]
	if in == nil {
		return nil
	}
	if in != r.current {
		return protocolError("the end of another file")
	}
	delete(r.announced, index)
	r.current = nil
	if in.offset != in.size || !bytes.Equal(in.hasher.h.Sum(nil), sum) {
		in.close(r, true)
		r.result.addFailure(in.name, errors.New("its checksum does not match: it changed on the way"))
		return nil
	}
	if in.isComplete {
		if r.result.Top == in.name {
			r.result.Top = in.found
		}
		r.countExisting(in.found, in.size, sum)
		return nil
	}
	if err := r.commit(ctx, in, sum); err != nil {
		in.close(r, false)
		if isFatal(err) {
			return err
		}
		r.result.addFailure(in.name, err)
	}
	return nil
}

// countExisting counts an existing file that stays. sum is its checksum, or nil if it was not compared.
func (r *Receiver) countExisting(name string, size int64, sum []byte) {
	r.placement.names.add(name)
	r.result.Sum = sum
	r.result.Skipped++
	r.result.Files++
	r.result.Bytes += size
}

// commit gives a complete file its mode, time and name. The rename is atomic: others see either the
// old file or the new one.
func (r *Receiver) commit(ctx context.Context, in *incomingFile, sum []byte) error {
	if in.size <= smallFile && bytes.Equal(r.target.checksum(in.name, in.size), sum) {
		in.close(r, true)
		r.countExisting(in.name, in.size, sum)
		return nil
	}
	err := r.withKeepAlive(ctx, in.closeComplete)
	in.f = nil
	if err != nil {
		r.Root.Remove(in.part)
		return errNotStored(err)
	}
	if err := r.Root.Chtimes(in.part, time.Time{}, time.Unix(0, in.mtime)); err != nil && !isUnsupported(err) {
		return format.WithoutPath(err)
	}
	name, skipped, err := r.placement.name(ctx, in)
	if err != nil {
		return err
	}
	if r.result.Top == in.name {
		r.result.Top = name
	}
	if skipped {
		r.Root.Remove(in.part)
		r.result.Skipped++
	} else {
		r.result.New++
		r.result.Written += in.size
		r.result.Sum = sum
		r.addComplete(in, name)
		r.placement.names.add(name)
	}
	r.result.Files++
	r.result.Bytes += in.size
	return nil
}

// closeComplete sets a file's length and mode and closes it. Large files are synced here.
func (in *incomingFile) closeComplete() (err error) {
	if in.holes {
		err = in.f.Truncate(in.size) // the file may end with a hole
	}
	if err == nil && runtime.GOOS != "windows" {
		if err = in.f.Chmod(in.mode.Perm() &^ forbiddenBits); isUnsupported(err) {
			err = nil // FAT and exFAT have no permissions
		}
	}
	if err == nil && (!hasSyncAll || in.size > 16<<20) {
		err = in.f.Sync()
	}
	return errors.Join(err, in.f.Close())
}

// A disk may refuse data when it is synced: it is full, over its quota, or broken. The system
// reports that once, discards the data, and may show it as long as it is in memory. So files that
// the disk did not accept are removed; otherwise others, including a later attempt, would take them
// for complete.

// errNotStored returns the error of a disk that did not accept data, for people.
func errNotStored(err error) error {
	return fmt.Errorf("the disk could not store it (%w): check the disk, then retry", format.WithoutPath(err))
}

// diskFullText tells the person what to do about a full disk.
func diskFullText(err error) string {
	what := "The disk is full."
	if isQuotaError(err) {
		what = "Your quota on this disk is used up."
	}
	return what + " Free up space and retry: the files that were stored are not sent again."
}

// removeUnsaved removes the files of this transfer that have their names but that the disk did not
// accept. They count as failed. An error ends the transfer.
func (r *Receiver) removeUnsaved() (full error) {
	for _, name := range slices.Sorted(maps.Values(r.placement.names)) {
		f, info := r.target.regular(name)
		if f == nil {
			continue
		}
		err := errors.Join(f.Sync(), f.Close())
		if err == nil {
			continue
		}
		err = errNotStored(err)
		r.Root.Remove(name)
		r.result.addFailure(name, err)
		r.result.Files--
		r.result.Bytes -= info.Size()
		if r.result.New > 0 {
			r.result.New--
			r.result.Written -= info.Size()
		}
		if isDiskFull(err) && full == nil {
			full = err
		}
	}
	if full != nil {
		return full
	}
	if err := syncAll(r.rootDir); err != nil { // of the folders; the system reports an error only once
		return errNotStored(err)
	}
	return nil
}
