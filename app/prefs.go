package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"sync"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// remembered is what this computer's windows keep for the next start. It lies in the data folder, not in the toolkit's own preferences,
// so that a second data folder has its own.
type remembered struct {
	Width          float32             `json:"width,omitempty"`
	Height         float32             `json:"height,omitempty"`
	SettingsWidth  float32             `json:"settingsWidth,omitempty"`
	SettingsHeight float32             `json:"settingsHeight,omitempty"`
	TornWidth      float32             `json:"tornWidth,omitempty"` // of the windows of chats of their own
	TornHeight     float32             `json:"tornHeight,omitempty"`
	Chat           protocol.SessionKey `json:"chat,omitempty"`
	// Theme and TextSize repeat the configuration: the first frame is drawn before the gateway answers.
	Theme    string  `json:"theme,omitempty"`
	TextSize float32 `json:"textSize,omitempty"`
	Begun    bool    `json:"begun,omitempty"` // the first page was seen
	// Seen is when each chat was last active as the person saw it.
	Seen map[protocol.SessionKey]int64 `json:"seen,omitempty"`
	// Drafts are what was typed into chats and not sent. Never changed in place.
	Drafts map[protocol.SessionKey]string `json:"drafts,omitempty"`

	Workspace string   `json:"workspace,omitempty"` // folder the agent works in on this computer
	Confine   confined `json:"confine,omitzero"`
	Listen    string   `json:"listen,omitempty"`
	Hidden    bool     `json:"startHidden,omitempty"`

	Files      state.FileSort  `json:"files,omitzero"` // the order of lists of files
	FilesTwo   bool            `json:"filesTwo,omitempty"`
	FilesRight protocol.NodeID `json:"filesRight,omitempty"` // what the second list shows
}

// confined is how far the agent reaches on this computer; what is empty is as a node has it by itself.
type confined struct {
	Disk    bool     `json:"wholeDisk,omitempty"` // for the file tools
	Mode    string   `json:"sandbox,omitempty"`
	Network string   `json:"network,omitempty"`
	Grants  []string `json:"grants,omitempty"` // DIR or DIR:ro; never changed in place
}

// prefs holds what is remembered and writes it to a file in the background. It is safe for use by many goroutines.
type prefs struct {
	path string
	log  *slog.Logger
	wake chan struct{} // holds a token when there is something to write; closed by close
	done chan struct{}

	mu     sync.Mutex // guards what follows
	v      remembered
	closed bool
}

// openPrefs reads the file. One that cannot be read counts as empty: it holds nothing that could not be done again.
func openPrefs(home string, log *slog.Logger) *prefs {
	p := &prefs{path: filepath.Join(home, "windows.json"), log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	data, err := os.ReadFile(p.path)
	if err == nil {
		err = json.Unmarshal(data, &p.v)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("What the windows remembered cannot be read", "err", err)
		p.v = remembered{}
	}
	go p.run()
	return p
}

func (p *prefs) get() remembered {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.v
}

// update changes what is remembered. It does not wait for the disk.
func (p *prefs) update(f func(*remembered)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.v
	f(&p.v)
	if p.closed || reflect.DeepEqual(p.v, before) {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// close writes what is left and ends.
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
		if err := p.write(p.get()); err != nil {
			p.log.Warn("What the windows remember cannot be written", "err", err)
		}
	}
}

func (p *prefs) write(v remembered) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.path+".new", append(data, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(p.path+".new", p.path); err != nil {
		return fmt.Errorf("replace %s: %w", p.path, err)
	}
	return nil
}
