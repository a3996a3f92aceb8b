package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// The log rotates: at maxLog bytes node.log becomes node.log.1 and so on, keepLogs files in all.
const (
	maxLog   = 10 << 20
	keepLogs = 5
	logName  = "node.log"
)

// logFile is a rotating file of JSON lines. It is safe for use by many goroutines; each Write is one line.
type logFile struct {
	path string
	max  int64

	mu   sync.Mutex // guards what follows
	f    *os.File
	size int64
}

func openLog(dir string) (*logFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the log folder: %w", err)
	}
	l := &logFile{path: filepath.Join(dir, logName), max: maxLog}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
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

// old is the name of the n-th last file, 0 being the current one.
func (l *logFile) old(n int) string {
	if n == 0 {
		return l.path
	}
	return l.path + "." + strconv.Itoa(n)
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.max {
		l.f.Close()
		for n := keepLogs - 1; n > 0; n-- {
			os.Rename(l.old(n-1), l.old(n)) // a missing one is fine
		}
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

// last gives the last n lines, oldest first; truncated says that there are older ones.
func (l *logFile) last(n int) (lines []string, truncated bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range keepLogs {
		data, err := os.ReadFile(l.old(i))
		if os.IsNotExist(err) {
			break
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
