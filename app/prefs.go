package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"fairlead/app/files"
	"fairlead/app/native"
	"fairlead/app/settings"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// preferences are the preferences of this computer's windows. They are stored in the data folder,
// not in Fyne's preferences, so that a second data folder has its own.
type preferences struct {
	Width        float32             `json:"width,omitempty"`
	Height       float32             `json:"height,omitempty"`
	Place        native.Place        `json:"place,omitzero"`         // of the main window
	SettingsPage string              `json:"settingsPage,omitempty"` // title of the page shown last
	ChatWidth    float32             `json:"tornWidth,omitempty"`    // of chat windows
	ChatHeight   float32             `json:"tornHeight,omitempty"`
	Chat         protocol.SessionKey `json:"chat,omitempty"`
	// Theme and TextSize copy the configuration, for the first frame.
	Theme        string  `json:"theme,omitempty"`
	TextSize     float32 `json:"textSize,omitempty"`
	FirstRunDone bool    `json:"begun,omitempty"`      // the first-run page is done
	WrapOutput   bool    `json:"wrapOutput,omitempty"` // outputs of commands wrap their lines
	// Seen has, per chat, the time of the last activity that the person has seen.
	Seen map[protocol.SessionKey]int64 `json:"seen,omitempty"`
	// Drafts are the unsent texts by chat. Never changed in place.
	Drafts map[protocol.SessionKey]string `json:"drafts,omitempty"`

	Version   string               `json:"version,omitempty"`   // of the last start with a window
	Workspace string               `json:"workspace,omitempty"` // the agent's folder on this computer
	Confine   settings.Confinement `json:"confine,omitzero"`
	Listen    string               `json:"listen,omitempty"`
	Hidden    bool                 `json:"startHidden,omitempty"`

	Files      files.Sort      `json:"files,omitzero"` // sort order of file lists
	FilesTwo   bool            `json:"filesTwo,omitempty"`
	FilesRight protocol.NodeID `json:"filesRight,omitempty"` // machine in the second file list
	// FilesPlace is the machine whose files were shown last; empty for the agent's own, nil for none.
	FilesPlace *protocol.NodeID `json:"filesPlace,omitempty"`
	// FilesDirs are the folders shown last, by machine. Never changed in place.
	FilesDirs   map[protocol.NodeID]string `json:"filesDirs,omitempty"`
	FilesHidden bool                       `json:"filesHidden,omitempty"` // hidden files are shown
	// RecentFolders are those that were chosen in file dialogs, newest first. Never changed in place.
	RecentFolders []string `json:"recentFolders,omitempty"`
}

// windowDir returns the folder of a window's data: a subfolder of home for a remote gateway.
func windowDir(home, join string) string {
	if join == "" {
		return home
	}
	sum := sha256.Sum256([]byte(join))
	return filepath.Join(home, "gateways", hex.EncodeToString(sum[:8]))
}

// prefs writes the preferences, and files beside them, in the background. It is safe for concurrent
// use.
type prefs struct {
	path string
	log  *slog.Logger
	wake chan struct{} // holds a token when there are unsaved changes; closed by close
	done chan struct{}

	mu     sync.Mutex // guards the fields below
	value  preferences
	files  map[string]any // unsaved files by path; nil for one to delete
	closed bool
}

// openPrefs reads the file. An unreadable file counts as empty.
func openPrefs(home string, log *slog.Logger) *prefs {
	p := &prefs{path: filepath.Join(home, "windows.json"), log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	data, err := os.ReadFile(p.path)
	if err == nil {
		err = json.Unmarshal(data, &p.value)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("Reading the window settings failed", "err", err)
		p.value = preferences{}
	}
	crash.Go(func() { p.run() })
	return p
}

func (p *prefs) get() preferences {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value
}

// update changes the preferences. It does not wait for the disk.
func (p *prefs) update(f func(*preferences)) {
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
func (p *prefs) saveFile(name string, v any) {
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
func readFiles[T any](p *prefs, folder string) iter.Seq[T] {
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
func (p *prefs) notify() {
	if p.closed {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// close writes pending changes and stops the background goroutine.
func (p *prefs) close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.wake)
	}
	p.mu.Unlock()
	<-p.done
}

func (p *prefs) run() {
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
		if err := writeJSON(p.path, p.get()); err != nil {
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
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return writeJSON(path, v)
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return nil
}
