package keychain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"

	"fairlead/gateway/peer/atomicfile"
)

// file stores secrets as JSON in a file with mode 0600. Every change replaces the whole file.
type file struct {
	path string
	mu   sync.Mutex // guards against other goroutines; other processes see either the old or the new file
}

func (f *file) read() (map[string]string, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		slog.Warn("Other users could read the secrets file, its permissions were corrected", "path", f.path)
		if err := os.Chmod(f.path, 0o600); err != nil {
			return nil, fmt.Errorf("protect secrets: %w", err)
		}
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	all := map[string]string{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("the secrets file %s is damaged: move it to another folder and enter the keys again: %w", f.path, err)
	}
	return all, nil
}

func (f *file) write(all map[string]string) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write secrets: %w", err)
	}
	return atomicfile.Write(f.path, data, 0o600)
}

func (f *file) Get(name string) (Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return "", err
	}
	v, ok := all[name]
	if !ok {
		return "", ErrNotFound
	}
	return Secret(v), nil
}

func (f *file) Set(name string, value Secret) error {
	return f.change(func(all map[string]string) bool {
		all[name] = value.Reveal()
		return true
	})
}

func (f *file) Delete(name string) error {
	return f.change(func(all map[string]string) bool {
		_, had := all[name]
		delete(all, name)
		return had
	})
}

// change edits the file, unless edit returns false because nothing changes.
func (f *file) change(edit func(map[string]string) bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.read()
	if err != nil {
		return err
	}
	if !edit(all) {
		return nil
	}
	return f.write(all)
}

func (f *file) Where() string { return f.path }
