package baseline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/node/floor"
	"fairlead/node/workspace"
)

const (
	// maxContent is the size in bytes up to which the content of a file is saved. Larger ones, such as
	// programs in a virtual environment, are only compared.
	maxContent = 1 << 20
	// maxLoader is the same for Yarn's loader, which lists all packages of a project.
	maxLoader = 32 << 20
	// maxBelow is the number of new files in one protected folder that a look finds. Of a folder that
	// has more when it is first looked at, the others are ignored from then on.
	maxBelow = 4000
)

// state describes a file or a symbolic link. The zero value is that of a missing one.
type state struct {
	Mode fs.FileMode `json:"mode"`
	// Sum is the SHA-256 of the content of a file, the target of a link, and empty for others.
	Sum string `json:"sum,omitempty"`
	// Size and Stamp change with the content; Stamp is empty where the system has nothing that a
	// program cannot set.
	Size  int64  `json:"size,omitempty"`
	Stamp string `json:"stamp,omitempty"`
	// In is the path in the list of protected files, which may be a folder.
	In string `json:"in,omitempty"`
	// Filled says that package managers write it.
	Filled bool `json:"filled,omitempty"`
	// Linked says that only a link leads to it.
	Linked bool `json:"linked,omitempty"`
	// Parent are the permissions of its folder when the content was read.
	Parent fs.FileMode `json:"parent,omitempty"`
}

func (s state) exists() bool { return s != state{} }

// mode returns what matters of the mode: the type, and who may run or change the file.
func (s state) mode() fs.FileMode { return s.Mode &^ 0o444 }

func (s state) equals(other state) bool { return s.mode() == other.mode() && s.Sum == other.Sum }

// states are files by their paths.
type states map[string]state

// disk is the folder of the node with what outlives it: contents, the baseline, commands that run, and
// what was put back.
type disk struct {
	dir string
	log *slog.Logger
}

// scan returns the state of every protected file that exists now.
func (s *Store) scan() map[string]state {
	now := make(map[string]state, len(s.files))
	for _, dir := range s.folders {
		files, filled, linked := s.list.All(dir)
		for _, path := range filled {
			s.add(now, state{In: path, Filled: true})
		}
		for _, path := range s.files.filledIn(dir) { // also without the file by which it was recognized
			if _, isListed := now[path]; !isListed {
				s.add(now, state{In: path, Filled: true})
			}
		}
		for _, path := range files {
			s.add(now, state{In: path})
		}
		for _, path := range linked {
			if _, isListed := now[path]; !isListed {
				s.add(now, state{In: path, Linked: true})
			}
		}
	}
	return now
}

// filledIn returns the places in a folder that package managers filled at the last look.
func (s states) filledIn(dir string) (paths []string) {
	for _, st := range s {
		if st.Filled && workspace.InFolder(st.In, dir) {
			paths = append(paths, st.In)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// add adds the file or the files in the folder of where.In, and what where says about them.
func (s *Store) add(now map[string]state, where state) {
	path := where.In
	put := func(p string, st state) {
		if st.exists() {
			st.In, st.Filled, st.Linked = path, where.Filled, where.Linked
			now[p] = st
		}
	}
	st := s.disk.stateOf(path, s.files[path])
	if !st.Mode.IsDir() {
		put(path, st)
		return
	}
	found, isPartial := 0, s.files[path].Sum == partial
	filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if st, isClosed := closedFolder(p); isClosed {
				put(p, st)
				return fs.SkipDir
			}
		}
		if err != nil || d.IsDir() {
			return nil
		}
		before, isKnown := s.files[p]
		if !isKnown {
			if found++; found > s.maxBelow || isPartial {
				return nil
			}
		}
		put(p, s.disk.stateOf(p, before))
		return nil
	})
	switch {
	case isPartial || s.files == nil && found > s.maxBelow:
		put(path, state{Mode: st.Mode, Sum: partial})
	case found > s.maxBelow:
		s.hasMore = true
	}
}

// stateOf describes a path as it is now. before is its last known state.
func (s *disk) stateOf(path string, before state) state {
	info, err := os.Lstat(path)
	if err != nil {
		return state{}
	}
	st := state{Mode: info.Mode(), Size: info.Size(), Stamp: stamp(info)}
	switch {
	case st.Mode&fs.ModeSymlink != 0:
		st.Sum, _ = os.Readlink(path)
	case !st.Mode.IsRegular():
	case st.Stamp != "" && st.Mode == before.Mode && st.Size == before.Size && st.Stamp == before.Stamp && isSettled(info):
		return before
	default:
		st.Sum = s.saveContent(path, st.Size)
		if parent, err := os.Stat(filepath.Dir(path)); err == nil {
			st.Parent = parent.Mode().Perm()
		}
	}
	return st
}

// isSettled reports whether a change now would get another time of change.
func isSettled(info fs.FileInfo) bool {
	at, ok := floor.ChangeTime(info)
	return ok && time.Since(at) > time.Second
}

const (
	// unreadable is the checksum of a file or folder that cannot be read.
	unreadable = "unreadable"
	// partial is that of a folder in which only some files are looked at.
	partial = "partial"
)

// saveContent saves the content of a file, unless it is too large, and returns its checksum.
func (s *disk) saveContent(path string, size int64) (sum string) {
	f, err := openFile(path)
	if err != nil {
		return unreadable
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return unreadable
	}
	limit := int64(maxContent)
	if floor.IsLoader(filepath.Base(path)) {
		limit = maxLoader
	}
	if size > limit {
		h := sha256.New()
		io.Copy(h, f)
		return hex.EncodeToString(h.Sum(nil))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return unreadable
	}
	raw := sha256.Sum256(data)
	sum = hex.EncodeToString(raw[:])
	name := filepath.Join(s.contentDir(), sum)
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return sum
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.log.Warn("The content of a protected file could not be saved", "path", path, "err", err)
	}
	return sum
}

func (s *disk) hasContent(st state) bool {
	if !st.Mode.IsRegular() {
		return st.Mode&fs.ModeSymlink != 0
	}
	_, err := os.Stat(filepath.Join(s.contentDir(), st.Sum))
	return err == nil
}

// save stores the baseline for the next start, and removes contents that it does not need.
func (s *disk) save(files map[string]state) {
	data, err := json.Marshal(files)
	if err == nil {
		err = replaceFile(s.filesName(), data)
	}
	if err != nil {
		s.log.Warn("The state of protected files could not be stored", "err", err)
	}
	used := make(map[string]bool, len(files))
	for _, st := range files {
		used[st.Sum] = true
	}
	entries, _ := os.ReadDir(s.contentDir())
	for _, e := range entries {
		if !used[e.Name()] {
			os.Remove(filepath.Join(s.contentDir(), e.Name()))
		}
	}
}

// load returns the stored baseline; nil if it is missing or cannot be read.
func (s *disk) load() (files map[string]state) {
	data, err := os.ReadFile(s.filesName())
	if err != nil || json.Unmarshal(data, &files) != nil {
		return nil
	}
	return files
}

func (s *disk) filesName() string { return filepath.Join(s.dir, "files.json") }

const runSuffix = ".json"

// saveRun records that a command runs, for [Store.Recover].
func (s *disk) saveRun(c Command) {
	data, err := json.Marshal(c)
	if err == nil {
		err = replaceFile(filepath.Join(s.runDir(), c.ID+runSuffix), data)
	}
	if err != nil {
		s.log.Warn("A running command could not be recorded", "err", err)
	}
}

func (s *disk) removeRun(id string) { os.Remove(filepath.Join(s.runDir(), id+runSuffix)) }

// loadRuns returns the commands that ran when the last node died.
func (s *disk) loadRuns() (list []Command) {
	entries, _ := os.ReadDir(s.runDir())
	for _, e := range entries {
		var c Command
		name := filepath.Join(s.runDir(), e.Name())
		if data, err := os.ReadFile(name); err != nil || json.Unmarshal(data, &c) != nil || c.ID+runSuffix != e.Name() {
			os.Remove(name)
			continue
		}
		if strings.TrimSpace(c.ID) != "" {
			list = append(list, c)
		}
	}
	return list
}

func replaceFile(name string, data []byte) error {
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
