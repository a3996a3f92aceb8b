package baseline

import (
	"errors"
	"iter"
	"maps"
	"os"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// look compares the files with the baseline, reverts what is attributed to the running commands,
// and makes the result the new baseline.
func (s *Store) look() {
	s.looking <- struct{}{}
	defer func() { <-s.looking }()
	s.mu.Lock()
	edited := s.edited
	s.edited = map[string]bool{}
	var commands []string
	for _, r := range s.running {
		commands = append(commands, r.Text)
	}
	s.mu.Unlock()
	for s.hasMore = true; s.hasMore; {
		s.hasMore = false
		now := s.scanOpen(edited)
		changed := changes(s.files, now)
		var found Findings
		j := &judge{disk: s.disk, folders: s.folders, files: s.files, templates: map[string][]byte{}, commands: commands}
		for _, path := range changed {
			if s.files == nil || s.files.wasClosed(path) || now[path].Mode.IsDir() || s.files[path].Mode.IsDir() || !s.claim(path, edited) {
				continue
			}
			if s.files.isNewTarget(path, now[path]) {
				delete(now, path)
			} else if c, ok := s.undo(path, now, j); ok {
				found.PutBack = append(found.PutBack, c)
			}
			s.release()
		}
		found.add(s.undoDenied(edited))
		found.Exposed = s.exposed(s.list.Touched(), edited)
		s.distribute(found)
		isFirst := s.files == nil
		s.files = now
		if isFirst || len(changed) > 0 {
			s.disk.save(now)
		}
	}
}

// isNewTarget reports whether a file is in the list only because a link has been made that leads to
// it. The link is reverted; the file may be anyone's.
func (s states) isNewTarget(path string, after state) bool {
	if _, existed := s[path]; existed || !after.Linked {
		return false
	}
	for _, st := range s {
		if st.In == after.In {
			return false
		}
	}
	return true
}

// undo reverts the change of a file, unless it is harmless.
func (s *Store) undo(path string, now map[string]state, j *judge) (c protocol.ProtectedChange, ok bool) {
	before, existed := s.files[path]
	after, exists := now[path]
	_, statErr := os.Lstat(path)
	isThere := statErr == nil
	switch {
	case !existed && !isThere: // it went with a folder that was put back
		return c, false
	case !exists && isThere && s.disk.stateOf(path, state{}).equals(before): // no link leads to it any longer
		return c, false
	case j.isHarmless(path, before, after, now):
		return c, false
	}
	c = protocol.ProtectedChange{Path: workspace.Spell(path), Kind: protocol.ProtectedChanged, Why: floor.Why(path), SHA256: after.Sum}
	switch {
	case !existed:
		c.Kind = protocol.ProtectedCreated
	case !exists && !isThere:
		c.Kind = protocol.ProtectedRemoved
	}
	var err error
	if c.Trash, err = s.revert(path, before, isThere); err != nil {
		c.Problem = err.Error()
		s.log.Warn("A protected file could not be put back", "path", path, "err", err)
		return c, true
	}
	delete(now, path)
	if existed {
		restored := s.disk.stateOf(path, state{})
		restored.In, restored.Filled = before.In, before.Filled
		now[path] = restored
	}
	return c, true
}

// distribute gives the findings of a look to the commands that run, and asks about what was put
// back.
func (s *Store) distribute(found Findings) {
	p := protocol.PutBack{ID: protocol.NewID()}
	s.mu.Lock()
	for _, r := range s.running {
		if r.Direct {
			continue
		}
		r.found.add(found)
		if p.CallID == "" || r.Call > p.CallID {
			p.CallID, p.Command = r.Call, r.Text
		}
	}
	s.mu.Unlock()
	for _, c := range found.PutBack {
		if c.Problem == "" {
			p.Changes = append(p.Changes, c)
		}
	}
	if len(p.Changes) > 0 {
		s.Questions.add(p)
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

// claim reports whether a change of a path is attributed to a command that may not make it. If so,
// tools cannot change the path until release. edited are paths that tools changed before the look.
func (s *Store) claim(path string, edited map[string]bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running) == 0 || s.isEdited(path, edited) {
		return false
	}
	isKept := true
	for _, r := range s.running {
		if r.Direct || slices.ContainsFunc(r.Lifts, func(l string) bool { return workspace.InFolder(path, l) }) {
			return false
		}
		isKept = isKept && slices.ContainsFunc(r.protected, func(p string) bool { return workspace.InFolder(path, p) })
	}
	if !isKept {
		s.reverting = path
	}
	return !isKept
}

func (s *Store) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reverting = ""
	s.reverted.Broadcast()
}

// isEdited reports whether a tool has changed a path: before the look, as in edited, or since. The
// caller holds the lock.
func (s *Store) isEdited(path string, edited map[string]bool) bool {
	for _, paths := range []iter.Seq[string]{maps.Keys(edited), maps.Keys(s.edited), maps.Keys(s.editing)} {
		for at := range paths {
			if workspace.InFolder(path, at) {
				return true
			}
		}
	}
	return false
}

// revert puts a file back, or removes it if it did not exist before. What is there now, a file or a
// folder, is set aside; revert returns its ID in the trash.
func (s *Store) revert(path string, before state, isThere bool) (trash string, err error) {
	if before.exists() && !s.disk.hasContent(before) {
		return "", errors.New("its previous content was not saved, because it is too large")
	}
	if isThere {
		at, err := s.ws.At(path)
		if err == nil {
			trash, err = s.ws.Entries().Trash(at)
		}
		if err != nil {
			return "", err
		}
	}
	if before.exists() {
		err = s.folders.restore(path, before, s.disk.contentDir())
	}
	return trash, err
}
