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

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Item is a file or folder to send, with the handle of its parent folder, or of itself if At is
// ".". Its holder closes Root.
type Item struct {
	Root *os.Root
	At   string // below Root, with slashes
	Name string // its name at the destination
	Abs  string // path for messages
	Text string // its MIME type if it is text; may be empty
}

// walker walks everything to send: a folder comes before its contents, and the entries of a folder
// are sorted by name.
type walker struct {
	links  string
	report func(kind byte, name, why string) error
	stack  []place // entries to visit, the next one last
}

// place is an entry to visit.
type place struct {
	root     *os.Root
	at, name string
	item     *Item // nil for an entry below an item
	depth    int
}

// sourceFile is an entry that the walker returns.
type sourceFile struct {
	entry
	root     *os.Root
	at       string
	isSparse bool // it has holes
}

func newWalker(items []Item, links string, report func(kind byte, name, why string) error) *walker {
	w := &walker{links: links, report: report}
	for _, i := range slices.Backward(items) {
		w.stack = append(w.stack, place{root: i.Root, at: i.At, name: i.Name, item: &i})
	}
	return w
}

// next returns the next entry; ok is false at the end. An error comes from an item itself, or from
// report.
func (w *walker) next() (f sourceFile, ok bool, err error) {
	for len(w.stack) > 0 {
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		info, err := w.stat(p)
		if err != nil {
			if p.item != nil {
				return sourceFile{}, false, fmt.Errorf("Failed to read file %s: %w", p.item.Abs, format.WithoutPath(err))
			}
			if err := w.report(recUnreadable, p.name, format.WithoutPath(err).Error()); err != nil {
				return sourceFile{}, false, err
			}
			continue
		}
		e, left := entry{mode: info.Mode() & (fs.ModeType | fs.ModePerm), size: info.Size(), mtime: info.ModTime().UnixNano(), name: p.name}, byte(recUnreadable)
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
				left = recSkipped
				err = CheckLink("", p.name, e.link)
			}
			if err == nil && p.item != nil {
				err = errors.New("it is a symbolic link") // its target is not part of the transfer
			}
		default:
			left, err = recSkipped, errors.New(describeKind(info.Mode()))
		}
		if p.item != nil { // the person asked for it
			left = recUnreadable
		}
		if err != nil {
			if err := w.report(left, p.name, format.WithoutPath(err).Error()); err != nil {
				return sourceFile{}, false, err
			}
			continue
		}
		return sourceFile{entry: e, root: p.root, at: p.at, isSparse: info.Mode().IsRegular() && isSparse(info)}, true, nil
	}
	return sourceFile{}, false, nil
}

func (w *walker) stat(p place) (os.FileInfo, error) {
	info, err := p.root.Lstat(p.at)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && w.links == protocol.LinksFollow {
		return p.root.Stat(p.at) // as far as the handle allows it
	}
	return info, err
}

// push puts the entries of a folder on the stack.
func (w *walker) push(p place) error {
	if p.depth >= maxDepth {
		return fmt.Errorf("it is more than %d folders deep", maxDepth)
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

// Totals is the amount of data to send.
type Totals struct {
	Files int
	Bytes int64
	Holes int64 // number of Bytes that are holes of sparse files
	// Startup are the first start-up files and folders below the items, by their names at the
	// destination.
	Startup []string
}

// Count examines everything that would be sent, until ctx ends. An unreadable item is an error with
// GSV's text.
func Count(ctx context.Context, items []Item, links string) (l Totals, err error) {
	w := newWalker(items, links, func(byte, string, string) error { return nil })
	for {
		f, ok, err := w.next()
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil || !ok {
			return l, err
		}
		if at, _ := startupPath(f.name); at != "" && len(l.Startup) < maxStartup && !slices.Contains(l.Startup, at) {
			l.Startup = append(l.Startup, at)
		}
		if f.mode.IsRegular() {
			l.Files++
			l.Bytes += f.size
			if f.isSparse {
				l.Holes += holes(f)
			}
		}
	}
}

// writeError returns a write error with GSV's text.
func writeError(err error) error { return fmt.Errorf("%s: %w", "Write error", err) }
