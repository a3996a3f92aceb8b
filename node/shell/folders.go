package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

const maxFolders = 8

// readOnlyPrograms are programs that do not write to their arguments; redirections may still write.
var readOnlyPrograms = map[string]bool{
	"cat": true, "ls": true, "head": true, "tail": true, "grep": true, "rg": true, "wc": true, "file": true, "stat": true, "du": true, "df": true,
	"diff": true, "cmp": true, "md5sum": true, "sha256sum": true, "less": true, "more": true, "tree": true, "readlink": true, "realpath": true,
	"test": true, "[": true, "echo": true, "printf": true, "cd": true, "which": true, "jq": true, "sort": true, "uniq": true, "cut": true, "nl": true,
	"strings": true, "hexdump": true, "xxd": true, "basename": true, "dirname": true,
}

// copyPrograms are programs that write to their last path and read the others.
var copyPrograms = map[string]bool{"cp": true, "install": true, "ln": true, "rsync": true, "scp": true}

// neededFolders lists the folders that a command may not use but that its words and redirections
// certainly name (see [usedPaths]), each with the highest access needed. The list is an offer to
// the person and may be incomplete: paths that the shell or a program computes while it runs are
// missing and stay inaccessible.
func (c *confinement) neededFolders(ws *workspace.Root, command, dir string) []protocol.FolderAccess {
	if !c.isEnforced() || !c.box.Report().ConfinesFiles() {
		return nil // everything is accessible
	}
	var list []protocol.FolderAccess
	usedPaths(bourne.Analyze(command, bourne.Bash), dir, func(path string, write bool) {
		if path == "" || path == os.DevNull || strings.HasPrefix(path, "/dev/") {
			return
		}
		f, ok := c.blockedFolder(ws, path, write)
		if !ok {
			return
		}
		i := slices.IndexFunc(list, func(have protocol.FolderAccess) bool { return have.Path == f.Path })
		switch {
		case i >= 0:
			list[i].Write = list[i].Write || f.Write
		case len(list) < maxFolders:
			list = append(list, f)
		}
	})
	return list
}

// usedPaths calls add for the absolute paths that a command line certainly uses. One that the shell or
// a program computes while it runs is missing.
func usedPaths(facts bourne.Facts, dir string, add func(path string, write bool)) {
	redirects := func(command int) {
		for _, r := range facts.Redirects {
			if r.Command == command && !r.Guess {
				add(pathIn(follow(r.Folder, dir), dir, r.Path.Path()), r.Write)
			}
		}
	}
	for i, c := range facts.Commands {
		redirects(i)
		if c.Guess || c.Parent >= 0 || c.Name() == "cd" {
			continue
		}
		at, name := follow(c.Folder, dir), filepath.Base(c.Words[0].Value())
		if at.name != "" && at.name != dir && c.Words[0].Value() != "" {
			add(at.real, !readOnlyPrograms[name]) // it works in its folder
		}
		pathsOf(name, c.Words[1:], func(word string, write bool) { add(pathIn(at, dir, word), write) })
	}
	redirects(-1)
}

// location is a folder, by the name that the shell uses and by the real one; empty if unknown.
type location struct{ name, real string }

// follow returns the folder of a command of a text that starts in dir.
func follow(f bourne.Folder, dir string) location {
	at := location{dir, workspace.RealPath(dir)}
	if f.Unknown {
		return location{}
	}
	for _, step := range f.Steps {
		isRelative := !filepath.IsAbs(step) && step[0] != '~'
		switch {
		case isRelative && os.Getenv("CDPATH") != "" && step[0] != '.':
			return location{}
		case at.name != at.real && slices.Contains(strings.Split(step, "/"), ".."):
			return location{} // above a link, shell and system disagree about the target
		}
		to := resolveWord(step, at.name)
		if info, err := os.Stat(to); err != nil || !info.IsDir() {
			return location{} // cd will fail, or the command creates the folder
		}
		at = location{to, workspace.RealPath(to)}
	}
	return at
}

// pathIn returns the absolute path of a word for a command in a folder, in a text that starts in dir;
// empty if it is not known.
func pathIn(at location, dir, word string) string {
	if at.name == "" && !filepath.IsAbs(word) && !strings.HasPrefix(word, "~") {
		return ""
	}
	if at.name == dir {
		return resolveWord(word, dir)
	}
	return resolveWord(word, at.real)
}

// pathsOf calls add for the paths among a command's words.
func pathsOf(name string, args []bourne.Word, add func(path string, write bool)) {
	var paths []string
	for _, w := range args {
		text := w.Path()
		if _, value, ok := strings.Cut(text, "="); ok && (strings.HasPrefix(text, "-") || strings.HasPrefix(text, "of=")) {
			text = value // --output=FILE, of=FILE
		} else if strings.HasPrefix(text, "-") {
			continue
		}
		if strings.ContainsAny(text, "/") && !strings.Contains(text, "://") {
			paths = append(paths, text)
		}
	}
	for i, p := range paths {
		add(p, !readOnlyPrograms[name] && (!copyPrograms[name] || i == len(paths)-1))
	}
}

// resolveWord returns the absolute path that a word names; empty when it names none.
func resolveWord(word, dir string) string {
	switch {
	case word == "":
		return ""
	case word == "~" || strings.HasPrefix(word, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		return filepath.Join(home, word[1:])
	case strings.HasPrefix(word, "~"):
		return ""
	case filepath.IsAbs(word):
		return filepath.Clean(word)
	}
	return filepath.Join(dir, word)
}

// blockedFolder returns the folder of a path if the box would block the command's access to it.
func (c *confinement) blockedFolder(ws *workspace.Root, path string, write bool) (f protocol.FolderAccess, ok bool) {
	real := workspace.RealPath(path)
	if write && c.profile.Mode != sandbox.WorkspaceWrite {
		return f, false // it cannot write anywhere
	}
	if !write && sandbox.HiddenPlace(real) == "" {
		return f, false // everything else can be read
	}
	for _, granted := range c.profile.Write {
		if workspace.InFolder(real, workspace.RealPath(granted)) {
			return f, false
		}
	}
	for _, granted := range c.profile.Read {
		if !write && workspace.InFolder(real, workspace.RealPath(granted)) {
			return f, false
		}
	}
	if write && (workspace.InFolder(real, ws.Dir()) || ws.CommandView().IsPrivate(real)) {
		return f, false
	}
	f, ok = access.FolderFor(ws, c.home, real, write)
	if info, err := os.Stat(real); ok && err == nil && !info.IsDir() && sandbox.SecretPlace(real) != "" && sandbox.SecretPlace(f.Path) == "" {
		f.Path = workspace.Spell(real) // a single file among others, such as ~/.netrc
	}
	return f, ok
}
