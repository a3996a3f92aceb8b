package stream

import (
	"fmt"
	"os"
	"path/filepath"
)

// Disk gives access to all files of the user, for a window or command line. Relative paths are
// relative to Dir.
type Disk struct{ Dir string }

func (d Disk) absolute(name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(d.Dir, name)
	}
	return filepath.Abs(name)
}

// Source implements [Files].
func (d Disk) Source(name string) (Item, func(), error) {
	fail := func(abs string, err error) (Item, func(), error) {
		return Item{}, nil, fmt.Errorf("Failed to read file %s: %w", abs, withoutPath(err)) //lint:ignore ST1005 the original's text
	}
	abs, err := d.absolute(name)
	if err != nil {
		return fail(name, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return fail(abs, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return fail(abs, err)
	}
	dir, at := real, "."
	if !info.IsDir() {
		dir, at = filepath.Dir(real), filepath.Base(real)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail(abs, err)
	}
	return Item{Root: root, At: at, Name: filepath.Base(abs), Abs: abs}, func() { root.Close() }, nil
}

// Target implements [Files].
func (d Disk) Target(name string, into, make bool) (Target, error) {
	abs, err := d.absolute(name)
	if err != nil {
		return Target{}, err
	}
	t := Target{Abs: abs}
	if !into {
		t.Abs, t.Name = filepath.Dir(abs), filepath.Base(abs)
	}
	if make {
		if err := os.MkdirAll(t.Abs, 0o777); err != nil {
			return t, fmt.Errorf("Failed to create directory %s: %w", t.Abs, withoutPath(err)) //lint:ignore ST1005 the original's text
		}
	}
	if t.Root, err = os.OpenRoot(t.Abs); err != nil {
		return t, fmt.Errorf("Failed to create file %s: %w", abs, withoutPath(err)) //lint:ignore ST1005 the original's text
	}
	return t, nil
}
