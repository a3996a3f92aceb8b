// Package atomicfile replaces files in one step: after a crash of the program or of the machine, a file
// has its old content or the new one.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the content of a file, and sets its mode. It creates the file's folder, for the user
// only.
func Write(name string, data []byte, perm fs.FileMode) error {
	_, err := Fill(name, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	return err
}

// Fill is [Write] for what fill writes. It returns the size of the file.
func Fill(name string, perm fs.FileMode, fill func(io.Writer) error) (size int64, err error) {
	if size, err = replace(name, perm, fill); err != nil {
		return 0, fmt.Errorf("write %s: %w", name, err)
	}
	return size, nil
}

func replace(name string, perm fs.FileMode, fill func(io.Writer) error) (size int64, err error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(dir, ".fairlead-*.tmp")
	if err != nil {
		return 0, err
	}
	if err = errors.Join(f.Chmod(perm), fill(f)); err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = Finish(f, err); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return size, err
}

// Finish syncs a new file to the disk, unless writing it has failed with err, and closes it.
func Finish(f *os.File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
