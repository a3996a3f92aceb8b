package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Item is a file or folder to send: held by the handle of the folder that it is in, or of itself when At is ".".
type Item struct {
	Root *os.Root
	At   string // in Root, with slashes
	Name string // what it is called at the destination
	Abs  string // for people
	Text string // its MIME type if it turns out to be text; may be empty
}

// walker gives what there is to send, folders before what is in them, each folder in the order of its names.
type walker struct {
	items []Item
	links string
	note  func(kind byte, name, why string) error
	stack []place // what is to be looked at, the next one last
}

// place is something to look at.
type place struct {
	root     *os.Root
	at, name string
	top      bool // an item itself
	depth    int
}

// found is what the walker gives.
type found struct {
	entry
	root   *os.Root
	at     string
	sparse bool // it has holes
}

func newWalker(items []Item, links string, note func(kind byte, name, why string) error) *walker {
	w := &walker{items: items, links: links, note: note}
	for _, i := range slices.Backward(items) {
		w.stack = append(w.stack, place{root: i.Root, at: i.At, name: i.Name, top: true})
	}
	return w
}

// next gives the next thing; ok is false at the end. An error is that of an item itself, or of note.
func (w *walker) next() (f found, ok bool, err error) {
	for len(w.stack) > 0 {
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		info, err := w.look(p)
		if err != nil {
			if p.top {
				return found{}, false, fmt.Errorf("Failed to read file %s: %w", w.abs(p), reason(err)) //lint:ignore ST1005 the original's text
			}
			if err := w.note(recLost, p.name, reason(err).Error()); err != nil {
				return found{}, false, err
			}
			continue
		}
		e, left := entry{mode: info.Mode() & (fs.ModeType | fs.ModePerm), size: info.Size(), mtime: info.ModTime().UnixNano(), name: p.name}, byte(recLost)
		switch {
		case info.Mode().IsRegular():
		case info.IsDir():
			e.size = 0
			err = w.push(p)
		case info.Mode()&fs.ModeSymlink != 0:
			e.size = 0
			if w.links == protocol.LinksSkip {
				continue
			}
			if e.link, err = p.root.Readlink(p.at); err == nil {
				left = recNote
				err = CheckLink("", p.name, e.link)
			}
			if err == nil && p.top {
				err = errors.New("it is a symbolic link") // what it leads to is not sent with it
			}
		default:
			left, err = recNote, errors.New(kind(info.Mode()))
		}
		if p.top { // it was asked for
			left = recLost
		}
		if err != nil {
			if err := w.note(left, p.name, reason(err).Error()); err != nil {
				return found{}, false, err
			}
			continue
		}
		return found{entry: e, root: p.root, at: p.at, sparse: info.Mode().IsRegular() && sparse(info)}, true, nil
	}
	return found{}, false, nil
}

func (w *walker) look(p place) (os.FileInfo, error) {
	info, err := p.root.Lstat(p.at)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && w.links == protocol.LinksFollow {
		return p.root.Stat(p.at) // as far as the handle lets it
	}
	return info, err
}

// push puts what is in a folder on the stack.
func (w *walker) push(p place) error {
	if p.depth >= maxDepth {
		return fmt.Errorf("it lies more than %d folders deep", maxDepth)
	}
	dir, err := p.root.Open(p.at)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, n := range slices.Backward(names) {
		if strings.HasPrefix(n, partPrefix) && (strings.HasSuffix(n, partSuffix) || strings.HasSuffix(n, ".tmp") || n == trashName) {
			continue
		}
		w.stack = append(w.stack, place{root: p.root, at: path.Join(p.at, n), name: p.name + "/" + n, depth: p.depth + 1})
	}
	return nil
}

func (w *walker) abs(p place) string {
	for _, i := range w.items {
		if i.Root == p.root && i.At == p.at {
			return i.Abs
		}
	}
	return p.name
}

// Load is how much there is to send.
type Load struct {
	Files int
	Bytes int64
	Holes int64 // bytes of Bytes that are holes of sparse files
}

// Count looks at everything that would be sent, until ctx ends. An item that cannot be read is an error in the original's words.
func Count(ctx context.Context, items []Item, links string) (l Load, err error) {
	w := newWalker(items, links, func(byte, string, string) error { return nil })
	for {
		f, ok, err := w.next()
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil || !ok {
			return l, err
		}
		if f.mode.IsRegular() {
			l.Files++
			l.Bytes += f.size
			if f.sparse {
				l.Holes += holes(f)
			}
		}
	}
}

// reason strips the operation and path that os puts before an error.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

// writeError says that something could not be written, in the original's words.
func writeError(err error) error { return fmt.Errorf("%s: %w", "Write error", err) }
