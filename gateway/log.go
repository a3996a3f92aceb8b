package gateway

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Rotation of log files: at maxLog bytes a file becomes .1, .1 becomes .2, up to keepLogs.
const (
	maxLog   = 10 << 20
	keepLogs = 5
)

// OpenLog opens a rotating log file in home's log folder. It is safe for use by many goroutines.
func OpenLog(home, name string) (io.WriteCloser, error) {
	dir := LogDir(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the log folder: %w", err)
	}
	l := &logFile{path: filepath.Join(dir, name)}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

type logFile struct {
	path string
	mu   sync.Mutex // guards f and size; a log line is one write
	f    *os.File
	size int64
}

func (l *logFile) open() error {
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

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > maxLog && l.size > 0 {
		l.f.Close()
		for i := keepLogs - 1; i >= 1; i-- {
			os.Rename(l.path+"."+strconv.Itoa(i), l.path+"."+strconv.Itoa(i+1)) // a missing one is fine
		}
		os.Rename(l.path, l.path+".1")
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}
