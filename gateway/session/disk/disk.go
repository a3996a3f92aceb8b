// Package disk writes and lists the files of chats.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file atomically, even if the program or the machine crashes, and returns its size.
func Write(path string, fill func(io.Writer) error) (size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	if err = fill(f); err == nil {
		if size, err = f.Seek(0, io.SeekCurrent); err == nil {
			err = f.Sync()
		}
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return 0, fmt.Errorf("write %s: %w", path, err)
	}
	return size, nil
}

// WriteBytes is [Write] for data in memory.
func WriteBytes(path string, data []byte) error {
	_, err := Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
	return err
}

// Names returns the names of the regular files in a folder; none if the folder does not exist.
func Names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			list = append(list, e.Name())
		}
	}
	return list, err
}
