// Package baseline remembers the files that decide which programs run later ([floor.List]), and
// puts them back after a command that changed them unasked.
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
// What a rule denies and a command creates all the same is moved to the trash likewise (denied.go).
//
// A program of the person that changes such a file while a command of the agent runs cannot be told
// apart from that command where the machine does not protect the file. So nothing is lost: the
// trash has what was set aside, and a question offers to keep it.
//
// What a command leaves running and nobody tracks is found by the look at the next command.
package baseline

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// Store is the baseline of a node. It is safe for concurrent use.
type Store struct {
	Denials   Denials    // fixed
	Questions *Questions // fixed

	disk    *disk
	ws      *workspace.Root
	folders folders
	log     *slog.Logger
	list    *floor.List

	looking chan struct{}     // holds a token during a look, which is one at a time
	files   states            // of the last look; whoever has the token owns this and open
	open    map[string]string // stamps of files that are open to other users, by path
	// maxBelow is the constant, except in tests; hasMore says that a look has left out new files.
	maxBelow int
	hasMore  bool

	mu        sync.Mutex      // guards the fields below; never held while files are read or written
	edited    map[string]bool // changed by tools since the last look
	editing   map[string]int  // being changed by tools
	running   map[string]*Run
	reverting string // the file that a look is putting back; empty for none
	reverted  *sync.Cond
}

// Command describes a command that is about to run.
type Command struct {
	ID     string          `json:"id"`
	Call   protocol.CallID `json:"call,omitempty"`
	Text   string          `json:"text"`
	Direct bool            `json:"direct,omitempty"` // the person's own
	Lifts  []string        `json:"lifts,omitempty"`  // paths that it may change
	// Denied are patterns of files that it may not write ([floor.List.Expand]). Begin sets the fields
	// below: paths among them that do not exist, and what the patterns with wildcards stand for.
	Denied   []string          `json:"denied,omitempty"`
	Absent   []string          `json:"absent,omitempty"`
	Existing map[string]string `json:"existing,omitempty"`
}

// Run is a command that runs.
type Run struct {
	Command
	store     *Store
	protected []string // paths that the machine keeps it from changing
	found     Findings
}

// Findings are what a look has found.
type Findings struct {
	PutBack []protocol.ProtectedChange // what was reverted, or could not be
	Removed []string                   // temporary files that a rule denies
	Exposed Exposed                    // other files that are open to other users now
}

// Note describes the findings in sentences; empty without any.
func (f Findings) Note() string {
	text := []string{putBack(f.PutBack), removedNote(f.Removed), f.Exposed.String()}
	return strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), " ")
}

func (f *Findings) add(more Findings) {
	f.PutBack = append(f.PutBack, more.PutBack...)
	f.Removed = append(f.Removed, more.Removed...)
	f.Exposed.Add(more.Exposed)
}

// New returns the baseline of a workspace. dir is a folder of the node's own for the contents; it
// is created. ws and list stay open as long as the store is used. report gets what was put back, so
// that the person can be asked; it must not block.
func New(dir string, ws *workspace.Root, list *floor.List, log *slog.Logger, report func(protocol.PutBack)) (*Store, error) {
	s := &Store{
		disk: &disk{dir, log}, ws: ws, list: list, log: log, looking: make(chan struct{}, 1), open: map[string]string{}, maxBelow: maxBelow,
		edited: map[string]bool{}, editing: map[string]int{}, running: map[string]*Run{},
	}
	s.reverted = sync.NewCond(&s.mu)
	if !ws.Config().ReadOnly {
		s.folders = append(s.folders, ws.Dir())
		for _, g := range ws.Config().Grants {
			if !g.ReadOnly {
				s.folders = append(s.folders, g.Dir)
			}
		}
	}
	s.Questions = &Questions{s.disk, ws, s.Edit, report}
	s.Denials = Denials{s.folders, ws.Config().PrivateTemp, list}
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
	runs := s.disk.loadRuns()
	if len(runs) == 0 {
		return nil
	}
	s.looking <- struct{}{}
	s.files = s.disk.load()
	<-s.looking
	var died []*Run
	for _, c := range runs {
		died = append(died, s.track(c))
	}
	s.look()
	var found []protocol.ProtectedChange
	for _, r := range died {
		found = append(found, r.take().PutBack...)
		s.forget(r.ID)
	}
	return dedupe(found)
}

// Prepare makes the first look, which reads the whole workspace, so that the first command need not
// wait for it.
func (s *Store) Prepare() { s.look() }

// Begin looks at the files before a command starts.
func (s *Store) Begin(c Command) *Run {
	if s == nil {
		return nil
	}
	s.look()
	if len(c.Denied) > 0 {
		c.Absent, c.Existing = s.folders.absent(c.Denied), s.Denials.matches(c.Denied)
	}
	s.disk.saveRun(c)
	return s.track(c)
}

func (s *Store) track(c Command) *Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Run{Command: c, store: s}
	s.running[c.ID] = r
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
func (r *Run) Look() Findings {
	if r == nil {
		return Findings{}
	}
	r.store.look()
	return r.take()
}

func (r *Run) take() (found Findings) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	found, r.found = r.found, found
	return found
}

// End is Look for a command that has ended.
func (r *Run) End() Findings {
	found := r.Look()
	if r != nil {
		r.store.forget(r.ID)
		found.add(r.take()) // by a look of another command in between
	}
	return found
}

// Edit says that a tool is about to change a path, which is absolute and without links. The change,
// and what is below the path, is not attributed to a command. The caller calls done after it. Edit
// waits while the path is put back.
func (s *Store) Edit(path string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.reverting != "" && (workspace.InFolder(s.reverting, path) || workspace.InFolder(path, s.reverting)) {
		s.reverted.Wait()
	}
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
	s.mu.Lock()
	delete(s.running, id)
	s.mu.Unlock()
	s.disk.removeRun(id)
}

func dedupe(list []protocol.ProtectedChange) []protocol.ProtectedChange {
	slices.SortFunc(list, func(a, b protocol.ProtectedChange) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(list, func(a, b protocol.ProtectedChange) bool { return a == b })
}

func (s *disk) contentDir() string { return filepath.Join(s.dir, "contents") }
func (s *disk) runDir() string     { return filepath.Join(s.dir, "running") }
func (s *disk) asideDir() string   { return filepath.Join(s.dir, "aside") }
