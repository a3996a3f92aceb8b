// Package logfile provides the rotating log of the gateway and of nodes, which can also be read.
// The lumberjack library cannot read its logs, and its cleanup goroutine outlives Close.
package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Rotation: at maxSize bytes, NAME is renamed to NAME.1, NAME.1 to NAME.2 and so on; there are at
// most keep files.
const (
	maxSize = 10 << 20
	keep    = 5
)

// File is a rotating log. It is safe for concurrent use. Each Write is one line.
type File struct {
	path string
	max  int64

	mu   sync.Mutex // guards the fields below
	f    *os.File   // nil after a rotation until the next file is open
	size int64
}

// Open opens the log with that name in a folder, creates the folder if it is missing, and appends
// to an existing log.
func Open(dir, name string) (*File, error) {
	l := &File{path: filepath.Join(dir, name), max: maxSize}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *File) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("create the log folder: %w", err)
	}
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open log: %w", err)
	}
	l.f, l.size = f, info.Size()
	return nil
}

// old returns the path of the n-th previous file; 0 is the current one.
func (l *File) old(n int) string {
	if n == 0 {
		return l.path
	}
	return l.path + "." + strconv.Itoa(n)
}

// rotate renames the current file, so that the next line opens a new one. Files move up only to the
// first free number: if a file could not be moved, no older one is overwritten.
func (l *File) rotate() {
	l.f.Close()
	l.f = nil
	free := 1
	for free < keep-1 {
		if _, err := os.Lstat(l.old(free)); err != nil {
			break
		}
		free++
	}
	for n := free; n > 0; n-- {
		os.Rename(l.old(n-1), l.old(n)) // on an error, the log continues in the current file
	}
}

// Write implements io.Writer. While the next file cannot be opened, lines are lost; each Write
// tries again.
func (l *File) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f != nil && l.size > 0 && l.size+int64(len(p)) > l.max {
		l.rotate()
	}
	if l.f == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

// Close implements io.Closer.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

// Last returns the last n lines, oldest first; truncated reports that there are older ones.
func (l *File) Last(n int) (lines []string, truncated bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range keep {
		data, err := os.ReadFile(l.old(i))
		if os.IsNotExist(err) {
			continue // missing because it could not be opened or moved
		}
		if err != nil {
			return nil, false, fmt.Errorf("read log: %w", err)
		}
		older := strings.Split(string(bytes.TrimSuffix(data, []byte("\n"))), "\n")
		if len(data) == 0 {
			older = nil
		}
		lines = append(older, lines...)
		if len(lines) > n {
			return lines[len(lines)-n:], true, nil
		}
	}
	return lines, false, nil
}
