package stream

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// entry handles an announced entry.
func (r *Receiver) entry(ctx context.Context, e entry) error {
	err := r.place(&e)
	switch {
	case err != nil:
	case e.mode.IsDir():
		if err = r.target.parents(e.name); err == nil {
			r.dirs = append(r.dirs, e)
		}
	case e.mode&fs.ModeSymlink != 0 && !strings.Contains(e.name, "/"):
		err = errors.New("it is a symbolic link") // a link is no file that a person can request
	case e.mode&fs.ModeSymlink != 0:
		err = r.link(&e)
	case !e.mode.IsRegular():
		err = errors.New(describeKind(e.mode))
	case r.Conflict == protocol.ConflictSkip && exists(r.Root, e.name) && !r.placement.names.clashes(e.name, r.Root):
		delete(r.announced, e.index)
		r.countExisting(e.name, e.size, nil)
	default:
		return r.announce(ctx, e)
	}
	switch {
	case isFatal(err):
		return err
	case errors.Is(err, errIcon), errors.Is(err, errNoLinks):
		r.result.addProblem(e.name, err.Error())
	case err != nil:
		r.result.addFailure(e.name, err)
	}
	if e.isLarge() {
		return sendRecord(ctx, r.ID, r.Out, recVerdict, verdict{index: e.index, have: -1}.encode())
	}
	return nil
}

// announce adds a wanted file, and tells the sender how much of a large one exists.
func (r *Receiver) announce(ctx context.Context, e entry) error {
	if known := r.announced[e.index]; known != nil {
		known.entry = e // changed at the source; it is sent again
		return nil
	}
	x := &incomingFile{entry: e}
	r.announced[e.index] = x
	if len(r.announced) > 8*maxAnnounced {
		return protocolError("too many files are announced")
	}
	if e.isLarge() {
		return r.decide(ctx, x)
	}
	return nil
}

// place checks an entry's name and determines its path below the folder.
func (r *Receiver) place(e *entry) error {
	if err := r.Requested.check(e.name); err != nil {
		return err
	}
	top, rest, nested := strings.Cut(e.name, "/")
	if r.Rename != "" {
		top = r.Rename
	}
	at, note, err := r.Startup.check(e.name)
	switch {
	case err != nil:
		return err
	case note != "":
		r.result.addProblem(at, note)
	}
	if path.Base(e.name) == iconFile {
		return errIcon
	}
	e.name = top
	if nested {
		e.name += "/" + rest
	}
	requested := e.name
	if e.name, note = r.fitted.fit(requested, r.placement.names.has); note != "" {
		r.result.addProblem(requested, note)
	}
	if err := CheckName(runtime.GOOS, e.name); err != nil {
		return err
	}
	if top, _, _ = strings.Cut(e.name, "/"); e.mode.IsRegular() && e.size >= fatLimit && isFAT(r.rootDir) {
		return errors.New(tooLargeText)
	}
	if r.result.Top == "" {
		r.result.Top = top
	}
	return r.target.parents(path.Dir(e.name))
}

// link creates a symbolic link that stays inside the folder.
func (r *Receiver) link(e *entry) error {
	if err := CheckLink(runtime.GOOS, e.name, e.link); err != nil {
		return err
	}
	if old, err := r.Root.Readlink(e.name); err == nil && old == e.link {
		return nil
	}
	err := r.Root.Symlink(e.link, e.name)
	if errors.Is(err, fs.ErrExist) {
		switch r.Conflict {
		case protocol.ConflictSkip:
			return nil
		case protocol.ConflictOverwrite:
			if info, err := r.Root.Lstat(e.name); err == nil && info.IsDir() {
				return errors.New("a folder already has this name")
			}
			back := r.placement.retainReplaced(replacedFile{Name: e.name, Link: e.link})
			if err := r.Root.Remove(e.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return format.WithoutPath(err)
			}
			if err = r.Root.Symlink(e.link, e.name); err != nil {
				back()
			}
		default:
			name := e.name
			for n := 2; errors.Is(err, fs.ErrExist) && n < 1000; n++ {
				e.name = path.Join(path.Dir(name), NumberedName(path.Base(name), n))
				err = r.Root.Symlink(e.link, e.name)
			}
		}
	}
	if isUnsupported(err) {
		return errNoLinks
	}
	return format.WithoutPath(err)
}

// iconFile is the file in which macOS stores the icon of a folder. Its content is in a part of the
// file that is not sent.
const iconFile = "Icon\r"

// Entries that are left out without being a failure.
var (
	errIcon    = errors.New("the folder's icon of macOS is left out")
	errNoLinks = errors.New("left out: the disk has no symbolic links, or nobody may create them")
)

// forbiddenBits are the permission bits that a remote machine may not set: writing by group and
// others.
const forbiddenBits = 0o022
