package baseline

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// judge tells harmless changes from others.
type judge struct {
	disk      *disk
	folders   []string          // that commands can change
	files     map[string]state  // before
	templates map[string][]byte // of scripts, by their path
	commands  []string          // that run
}

// isHarmless reports whether a change is one that version control or a package manager makes itself
// and that starts nothing: daily work needs no question.
func (s judge) isHarmless(path string, before, after state, now map[string]state) bool {
	switch name, dir := filepath.Base(path), filepath.Dir(path); {
	case !after.exists():
		return before.Filled || s.isHarmlessRemoval(path, before, now)
	case after.Filled && floor.IsLoader(name):
		return before.exists() && before.mode() == after.mode() && hasSameCode(s.disk.content(before), s.disk.content(after))
	case after.Filled && floor.IsTodo(path):
		return !hasNewCommands(s.disk.content(before), s.disk.content(after), s.commands)
	case after.Filled:
		return s.isHarmlessProgram(path, before, after)
	case !after.Mode.IsRegular() || after.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return false
	case s.isOrdinary(path, before, after):
		return true
	case filepath.Base(dir) == "hooks" && strings.HasSuffix(name, ".sample"):
		return true // Git runs no hook with this name
	case name == "config" || name == "config.worktree":
		isOpened := after.Mode&^before.Mode&0o002 != 0 // everyone can write it now
		return !isOpened && hasSameEffect(s.disk.content(before), s.disk.content(after))
	case name == "commondir":
		return workspace.InFolder(path, resolve(dir, string(s.disk.content(after))))
	case name == ".git" && !before.exists():
		return s.isOwnRepository(s.repositoryOf(path, after))
	}
	return !before.exists() && s.isCheckedOut(path, now)
}

// isHarmlessRemoval reports whether a file was removed that started nothing, or that was removed with
// its project. Folders that exist only for such files, such as .vscode and .git, are not projects.
func (s judge) isHarmlessRemoval(path string, before state, now map[string]state) bool {
	name, dir := filepath.Base(path), filepath.Dir(before.In)
	switch {
	case filepath.Base(filepath.Dir(path)) == "hooks" && strings.HasSuffix(name, ".sample"):
		return true
	case name == ".git": // of a work tree: without it, the folder belongs to the repository around it
		return true
	case s.isOfRemovedWorkTree(path, now):
		return true
	case isFolder(dir):
		return false
	case name == "config" && len(harmfulSettings(s.disk.content(before))) == 0:
		return true
	}
	for !isFolder(filepath.Dir(dir)) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	return !floor.IsParent(dir)
}

// isOfRemovedWorkTree reports whether a file was removed with the work tree or submodule that it is in.
func (s judge) isOfRemovedWorkTree(path string, now map[string]state) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		link := filepath.Join(dir, ".git")
		if _, had := s.files[link]; had {
			_, has := now[link]
			return !has
		}
	}
	return false
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// content returns the saved content of a file; nil without one.
func (s *disk) content(st state) []byte {
	if !st.Mode.IsRegular() || st.Sum == "" {
		return nil
	}
	data, _ := os.ReadFile(filepath.Join(s.contentDir(), st.Sum))
	return data
}

// resolve makes the text of a file that names a path absolute.
func resolve(dir, text string) string {
	text = filepath.FromSlash(strings.TrimSpace(text))
	if !filepath.IsAbs(text) {
		text = filepath.Join(dir, text)
	}
	return filepath.Clean(text)
}

// repositoryOf returns the folder to which the file .git of a work tree leads; empty for any other file.
func (s judge) repositoryOf(path string, st state) string {
	text, ok := strings.CutPrefix(string(s.disk.content(st)), "gitdir:")
	if !ok {
		return ""
	}
	return resolve(filepath.Dir(path), text)
}

// isOwnRepository reports whether a folder is a place of work trees or submodules in a repository
// that commands can change, so that its settings and hooks are looked at, too.
func (s judge) isOwnRepository(dir string) bool {
	slash := filepath.ToSlash(dir)
	inside := slices.ContainsFunc(s.folders, func(f string) bool { return workspace.InFolder(dir, f) })
	return inside && (strings.Contains(slash, ".git/modules/") || strings.Contains(slash, ".git/worktrees/"))
}

// isCheckedOut reports whether a file was created with the clone or work tree that tracks it. Such a
// folder is new for every program: they ask before they trust it.
func (s judge) isCheckedOut(path string, now map[string]state) bool {
	for dir := filepath.Dir(path); slices.ContainsFunc(s.folders, func(f string) bool { return dir != f && workspace.InFolder(dir, f) }); dir = filepath.Dir(dir) {
		at, link := filepath.Join(dir, ".git"), state{}
		if _, ok := now[filepath.Join(at, "config")]; !ok {
			if link, ok = now[at]; !ok {
				continue
			}
		}
		_, hadFolder := s.files[filepath.Join(at, "config")]
		_, hadFile := s.files[at]
		if hadFolder || hadFile {
			return false
		}
		if link.exists() {
			at = s.repositoryOf(at, link)
		}
		rel, err := filepath.Rel(dir, path)
		index, readErr := os.ReadFile(filepath.Join(at, "index"))
		return err == nil && readErr == nil && bytes.Contains(index, []byte(filepath.ToSlash(rel)+"\x00"))
	}
	return false
}
