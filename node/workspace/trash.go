package workspace

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/format"
)

// The trash is a folder at the top of the workspace and of each granted folder, not the system's
// trash: its content stays below the same handle and, as a rule, on the same disk, so that deleting
// and restoring are one rename each, on every system and without a race. A *.gitignore* in it
// excludes it from repositories and searches.
const trashName = ".fairlead-trash"

// TrashAge is how long entries stay in the trash.
const TrashAge = 30 * 24 * time.Hour

// IsInternal reports whether a name is one of ours: a temporary file or the trash.
func IsInternal(name string) bool {
	return name == trashName || strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

type origin struct {
	Path string `json:"path"` // relative to the folder that the trash belongs to
}

// Trash moves an entry into the trash and returns the ID for restoring it.
func (e Entries) Trash(p Path) (id string, err error) {
	s, err := e.openParent(p)
	if err != nil {
		return "", err
	}
	defer s.dir.Close()
	a, rel, ok := e.paths.areas.find(s.abs)
	if !ok {
		return "", fmt.Errorf("'%s' is outside the workspace and the granted folders, which have no trash; delete it with a command", p)
	}
	if _, err := s.dir.Info(s.name); err != nil {
		return "", err
	}
	root, err := a.openTrash()
	if err != nil {
		return "", fmt.Errorf("creating the trash: %w", format.WithoutPath(err))
	}
	defer root.Close()
	id = strconv.FormatInt(time.Now().UnixMilli(), 10) + "-" + strings.ToLower(rand.Text())
	if err := root.Mkdir(id, 0o700); err != nil {
		return "", format.WithoutPath(err)
	}
	raw, err := json.Marshal(origin{Path: Spell(filepath.ToSlash(rel))})
	if err == nil {
		// Write the note before the move, so that after a crash the entry is in its place or can be
		// restored.
		err = writeNew(root, id+".json", raw)
	}
	var into *Dir
	if err == nil {
		into, err = openDir(below{root}, id, filepath.Join(a.dir, trashName, id))
	}
	if err == nil {
		err = e.move(s, location{dir: into, name: s.name, abs: filepath.Join(into.Abs, s.name)})
		into.Close()
	}
	if err != nil {
		root.Remove(id)
		root.Remove(id + ".json")
		if errors.Is(err, syscall.EXDEV) {
			return "", errors.New("it is on another disk than the trash; delete it with a command")
		}
		return "", format.WithoutPath(err)
	}
	return id, nil
}

// Trashed returns where the trash has an entry that was at a path.
func (e Entries) Trashed(p Path, id string) string {
	a, _, ok := e.paths.areas.find(p.Abs)
	if !ok || !trashID(id) {
		return ""
	}
	return filepath.Join(a.dir, trashName, id, filepath.Base(p.Abs))
}

// Restore moves an entry back to its original path and returns that path. It replaces nothing:
// [ErrExists].
func (e Entries) Restore(id string) (Path, error) {
	if !trashID(id) {
		return Path{}, fmt.Errorf("%.60q is not in the trash", id)
	}
	if e.paths.config.ReadOnly {
		return Path{}, &ReadOnlyError{Path: filepath.Join(e.paths.config.Dir, trashName, id)}
	}
	for _, a := range e.paths.areas {
		if a.readOnly || a.checkUnchanged() != nil {
			continue
		}
		root, err := a.root.OpenRoot(trashName)
		if err != nil {
			continue
		}
		back, err := e.restore(a, root, id)
		root.Close()
		if !errors.Is(err, errNoTrash) {
			return back, err
		}
	}
	return Path{}, errors.New("it is no longer in the trash")
}

var errNoTrash = errors.New("not in this trash")

func (e Entries) restore(a *area, root *os.Root, id string) (Path, error) {
	f, err := root.Open(id + ".json")
	if err != nil {
		return Path{}, errNoTrash
	}
	raw, err := io.ReadAll(io.LimitReader(f, 64<<10))
	f.Close()
	var from origin
	if err == nil {
		err = json.Unmarshal(raw, &from)
	}
	from.Path = Unspell(from.Path)
	if rel := filepath.FromSlash(from.Path); err != nil || !filepath.IsLocal(rel) || rel == "." {
		return Path{}, errors.New("its original location is unknown; it is in the folder " + filepath.Join(a.dir, trashName, id))
	}
	abs := filepath.Join(a.dir, filepath.FromSlash(from.Path))
	if err := a.root.MkdirAll(filepath.Dir(filepath.FromSlash(from.Path)), 0o777); err != nil {
		return Path{}, format.WithoutPath(err)
	}
	fresh, err := e.openParent(Path{Abs: abs})
	if err != nil {
		return Path{}, err
	}
	defer fresh.dir.Close()
	trashed, err := openDir(below{root}, id, filepath.Join(a.dir, trashName, id))
	if err != nil {
		return Path{}, errNoTrash
	}
	defer trashed.Close()
	if err := e.move(location{dir: trashed, name: fresh.name, abs: filepath.Join(trashed.Abs, fresh.name)}, fresh); err != nil {
		return Path{}, moveError(err)
	}
	root.Remove(id)
	root.Remove(id + ".json")
	return Path{Abs: fresh.abs}, nil
}

// SweepTrash permanently removes entries that have been in the trash for [TrashAge] at the time
// now.
func (e Entries) SweepTrash(now time.Time) error {
	var errs []error
	for _, a := range e.paths.areas {
		if a.readOnly {
			continue
		}
		root, err := a.root.OpenRoot(trashName)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, format.WithoutPath(err))
			continue
		}
		errs = append(errs, sweepTrash(root, now))
		root.Close()
	}
	return errors.Join(errs...)
}

func sweepTrash(root *os.Root, now time.Time) error {
	d, err := root.Open(".")
	if err != nil {
		return format.WithoutPath(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return format.WithoutPath(err)
	}
	slices.Sort(names) // a folder before its note
	var errs []error
	for _, name := range names {
		id := strings.TrimSuffix(name, ".json")
		millis, _, _ := strings.Cut(id, "-")
		at, err := strconv.ParseInt(millis, 10, 64)
		if err != nil || !trashID(id) || now.Sub(time.UnixMilli(at)) < TrashAge {
			continue
		}
		if err := root.RemoveAll(name); err != nil {
			errs = append(errs, format.WithoutPath(err))
		}
	}
	return errors.Join(errs...)
}

func trashID(id string) bool {
	return len(id) > 0 && len(id) < 64 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
}

// openTrash opens the trash of an area, which it creates.
func (a *area) openTrash() (*os.Root, error) {
	root, err := a.root.OpenRoot(trashName)
	if !errors.Is(err, fs.ErrNotExist) {
		return root, err
	}
	if err := a.root.Mkdir(trashName, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if root, err = a.root.OpenRoot(trashName); err != nil {
		return nil, err
	}
	writeNew(root, ".gitignore", []byte("*\n"))
	return root, nil
}

func writeNew(root *os.Root, name string, data []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return atomicfile.Finish(f, err)
}
