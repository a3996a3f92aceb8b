package preferences

import (
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/crash"
)

// Store writes the preferences, and files beside them, in the background. It is safe for concurrent
// use. A zero Store forgets everything at the end of the program; it is not closed.
type Store struct {
	path string
	log  *slog.Logger
	wake chan struct{} // holds a token when there are unsaved changes; closed by Close
	done chan struct{}

	mu     sync.Mutex // guards the fields below
	value  Preferences
	files  map[string]any // unsaved files by path; nil for one to delete
	closed bool
}

// Open reads the file. An unreadable file counts as empty.
func Open(home string, log *slog.Logger) *Store {
	p := &Store{path: filepath.Join(home, "windows.json"), log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	data, err := os.ReadFile(p.path)
	if err == nil {
		err = json.Unmarshal(data, &p.value)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("Reading the window settings failed", "err", err)
		p.value = Preferences{}
	}
	crash.Go(func() { p.run() })
	return p
}

func (p *Store) Get() Preferences {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value
}

// Update changes the preferences. It does not wait for the disk.
func (p *Store) Update(f func(*Preferences)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.value
	f(&p.value)
	if !reflect.DeepEqual(p.value, before) {
		p.notify()
	}
}

// saveFile writes a value as JSON to a file in the folder of the preferences; nil deletes the file.
// It does not wait for the disk. The value must not be changed later.
func (p *Store) saveFile(name string, v any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files == nil {
		p.files = make(map[string]any)
	}
	p.files[filepath.Join(filepath.Dir(p.path), name)] = v
	p.notify()
}

// readFiles returns the values of the files of a folder that saveFile has written. It waits for the
// disk.
func readFiles[T any](p *Store, folder string) iter.Seq[T] {
	return func(yield func(T) bool) {
		names, _ := filepath.Glob(filepath.Join(filepath.Dir(p.path), folder, "*.json")) // the pattern is valid
		for _, name := range names {
			var v T
			data, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(data, &v)
			}
			if err != nil {
				p.log.Warn("Reading a file of the windows failed", "file", name, "err", err)
			} else if !yield(v) {
				return
			}
		}
	}
}

// notify wakes the goroutine that writes. The caller holds p.mu.
func (p *Store) notify() {
	if p.closed {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close writes pending changes and stops the background goroutine.
func (p *Store) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.wake)
	}
	p.mu.Unlock()
	<-p.done
}

func (p *Store) run() {
	defer close(p.done)
	for range p.wake {
		p.mu.Lock()
		files := p.files
		p.files = nil
		p.mu.Unlock()
		for path, v := range files {
			if err := writeOrRemove(path, v); err != nil {
				p.log.Warn("Writing a file of the windows failed", "file", path, "err", err)
			}
		}
		if err := writeJSON(p.path, p.Get()); err != nil {
			p.log.Warn("Writing the window settings failed", "err", err)
		}
	}
}

func writeOrRemove(path string, v any) error {
	if v == nil {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return writeJSON(path, v)
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(data, '\n'), 0o600)
}
