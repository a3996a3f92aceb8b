// Package baseline remembers the files that decide which programs run later ([floor.List]), and puts
// them back after a command that changed them unasked.
//
// It looks before and after each command. A change between two looks is attributed to the commands
// that ran, and reverted: a new file is moved to the trash, and a changed or removed one gets its
// content back. It stays, and the baseline moves, if
//   - no command ran: the person has changed the file;
//   - a tool or the file browser of the node changed it ([Store.Edit]), or an answer lifted the
//     protection of the path for one of the commands;
//   - the machine kept all of these commands from changing it, so that somebody else has;
//   - one of them is the person's own;
//   - it is harmless: what version control, package managers and virtual environments write
//     themselves (harmless.go).
//
// A program of the person that changes such a file while a command of the agent runs cannot be told
// apart from that command where the machine does not protect the file. So nothing is lost: the trash
// has what was set aside, and a question offers to keep it.
//
// What a command leaves running and nobody tracks is found by the look at the next command.
package baseline

import (
	"cmp"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// Store is the baseline of a node. It is safe for concurrent use.
type Store struct {
	disk    *disk
	ws      *workspace.Root
	folders []string // that commands can change
	log     *slog.Logger
	report  func(protocol.PutBack)
	list    floor.List

	mu      sync.Mutex // guards the fields below; held while files are looked at
	files   map[string]state
	edited  map[string]bool // changed by tools since the last look
	editing map[string]int  // being changed by tools
	running map[string]*Run
}

// Command describes a command that is about to run.
type Command struct {
	ID     string          `json:"id"`
	Call   protocol.CallID `json:"call,omitempty"`
	Text   string          `json:"text"`
	Direct bool            `json:"direct,omitempty"` // the person's own
	Lifts  []string        `json:"lifts,omitempty"`  // paths that it may change
}

// Run is a command that runs.
type Run struct {
	Command
	store     *Store
	protected []string // paths that the machine keeps it from changing
	found     []protocol.ProtectedChange
}

// New returns the baseline of a workspace. dir is a folder of the node's own for the contents; it is
// created. ws stays open as long as the store is used. report gets what was put back, so that the
// person can be asked; it must not block.
func New(dir string, ws *workspace.Root, log *slog.Logger, report func(protocol.PutBack)) (*Store, error) {
	s := &Store{disk: &disk{dir, log}, ws: ws, log: log, report: report, edited: map[string]bool{}, editing: map[string]int{}, running: map[string]*Run{}}
	if !ws.IsReadOnly() {
		s.folders = append(s.folders, ws.Dir())
		for _, g := range ws.Grants() {
			if !g.ReadOnly {
				s.folders = append(s.folders, g.Dir)
			}
		}
	}
	for _, sub := range []string{dir, s.disk.contentDir(), s.disk.runDir(), s.disk.asideDir()} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Recover looks at what the commands did of a node that died while they ran. Call it once, before
// the first command.
func (s *Store) Recover() []protocol.ProtectedChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.disk.loadRuns() {
		s.running[c.ID] = &Run{Command: c, store: s}
	}
	if len(s.running) == 0 {
		return nil
	}
	s.files = s.disk.load()
	s.look()
	var found []protocol.ProtectedChange
	for id, r := range s.running {
		found = append(found, r.found...)
		s.forget(id)
	}
	return dedupe(found)
}

// Begin looks at the files before a command starts.
func (s *Store) Begin(c Command) *Run {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	r := &Run{Command: c, store: s}
	s.running[c.ID] = r
	s.disk.saveRun(c)
	return r
}

// Protect says which paths the machine keeps the command from changing.
func (r *Run) Protect(paths []string) {
	if r != nil {
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		r.protected = paths
	}
}

// Look reverts what the commands have changed so far, and returns what is new since the last call.
func (r *Run) Look() []protocol.ProtectedChange {
	if r == nil {
		return nil
	}
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.store.look()
	found := r.found
	r.found = nil
	return found
}

// End is Look for a command that has ended.
func (r *Run) End() []protocol.ProtectedChange {
	found := r.Look()
	if r != nil {
		r.store.mu.Lock()
		defer r.store.mu.Unlock()
		r.store.forget(r.ID)
	}
	return found
}

// Edit says that a tool is about to change a path, which is absolute and without links. The change,
// and what is below the path, is not attributed to a command. The caller calls done after it.
func (s *Store) Edit(path string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.editing[path]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.edited[path] = true
		if s.editing[path]--; s.editing[path] == 0 {
			delete(s.editing, path)
		}
	}
}

func (s *Store) forget(id string) {
	delete(s.running, id)
	s.disk.removeRun(id)
}

// look compares the files with the baseline, reverts what is attributed to the running commands,
// and makes the result the new baseline.
func (s *Store) look() {
	now := s.scan()
	changed := s.files == nil
	var list []protocol.ProtectedChange
	for _, path := range changes(s.files, now) {
		changed = true
		before, existed := s.files[path]
		after, exists := now[path]
		if s.isAllowed(path) || (&judge{s.disk, s.folders, s.files}).isHarmless(path, before, after, now) {
			continue
		}
		c := protocol.ProtectedChange{Path: workspace.Spell(path), Kind: protocol.ProtectedChanged, Why: floor.Why(path), SHA256: after.Sum}
		switch {
		case !existed:
			c.Kind = protocol.ProtectedCreated
		case !exists:
			c.Kind = protocol.ProtectedRemoved
		}
		var err error
		if c.Trash, err = s.revert(path, before, after); err != nil {
			c.Problem = err.Error()
			s.log.Warn("A protected file could not be put back", "path", path, "err", err)
			list = append(list, c)
			continue
		}
		list = append(list, c)
		delete(now, path)
		if existed {
			restored := s.stateOf(path, state{})
			restored.In, restored.Filled = before.In, before.Filled
			now[path] = restored
		}
	}
	for _, r := range s.running {
		if !r.Direct {
			r.found = append(r.found, list...)
		}
	}
	s.setAside(list)
	clear(s.edited)
	s.files = now
	if changed {
		s.disk.save(now)
	}
}

// changes returns the paths that differ, outer ones first.
func changes(before, after map[string]state) (paths []string) {
	for path, b := range before {
		if a, ok := after[path]; !ok || !a.equals(b) {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// isAllowed reports whether a change of a path is not attributed to a command that may not make it.
func (s *Store) isAllowed(path string) bool {
	if len(s.running) == 0 || s.files == nil {
		return true
	}
	for _, paths := range []iter.Seq[string]{maps.Keys(s.edited), maps.Keys(s.editing)} {
		for at := range paths {
			if workspace.InFolder(path, at) {
				return true
			}
		}
	}
	isKept := true
	for _, r := range s.running {
		if r.Direct || slices.ContainsFunc(r.Lifts, func(l string) bool { return workspace.InFolder(path, l) }) {
			return true
		}
		isKept = isKept && slices.ContainsFunc(r.protected, func(p string) bool { return workspace.InFolder(path, p) })
	}
	return isKept
}

// revert puts a file back. It returns the ID in the trash of what was set aside, if anything was.
func (s *Store) revert(path string, before, after state) (trash string, err error) {
	if before.exists() && !s.disk.hasContent(before) {
		return "", errors.New("its previous content was not saved, because it is too large")
	}
	if !before.exists() || after.exists() {
		at, err := s.ws.At(path)
		if err == nil {
			trash, err = workspace.Entries{Root: s.ws}.Trash(at)
		}
		if err != nil {
			return "", err
		}
	}
	if before.exists() {
		err = s.restore(path, before)
	}
	return trash, err
}

func dedupe(list []protocol.ProtectedChange) []protocol.ProtectedChange {
	slices.SortFunc(list, func(a, b protocol.ProtectedChange) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b protocol.ProtectedChange) bool { return a == b })
}

func (s *disk) contentDir() string { return filepath.Join(s.dir, "contents") }
func (s *disk) runDir() string     { return filepath.Join(s.dir, "running") }
func (s *disk) asideDir() string   { return filepath.Join(s.dir, "aside") }
