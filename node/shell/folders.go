package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

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
// certainly name (see [pathTracer]), each with the highest access needed. The list is an offer to
// the person and may be incomplete: paths that the shell or a program computes while it runs are
// missing and stay inaccessible.
func (t *Jobs) neededFolders(ws *workspace.Root, command, dir string) []protocol.FolderAccess {
	if t.opts.Box == nil || t.opts.Profile.Mode == sandbox.Full || !t.opts.Box.Report().ConfinesFiles() {
		return nil // everything is accessible
	}
	file, err := parseCommand(command)
	if err != nil {
		return nil
	}
	var list []protocol.FolderAccess
	newPathTracer(dir, func(path string, write bool) {
		if path == "" || path == os.DevNull || strings.HasPrefix(path, "/dev/") {
			return
		}
		f, ok := t.blockedFolder(ws, path, write)
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
	}).traceFile(file)
	return list
}

// pathsOf calls add for the paths among a command's words.
func pathsOf(name string, args []string, add func(path string, write bool)) {
	var paths []string
	for _, text := range args {
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
func (t *Jobs) blockedFolder(ws *workspace.Root, path string, write bool) (f protocol.FolderAccess, ok bool) {
	real := workspace.RealPath(path)
	if write && t.opts.Profile.Mode != sandbox.WorkspaceWrite {
		return f, false // it cannot write anywhere
	}
	if !write && sandbox.HiddenPlace(real) == "" {
		return f, false // everything else can be read
	}
	for _, granted := range t.opts.Profile.Write {
		if workspace.InFolder(real, workspace.RealPath(granted)) {
			return f, false
		}
	}
	for _, granted := range t.opts.Profile.Read {
		if !write && workspace.InFolder(real, workspace.RealPath(granted)) {
			return f, false
		}
	}
	if write && (workspace.InFolder(real, ws.Dir()) || t.opts.Box.CanCreate(real)) {
		return f, false
	}
	f, ok = access.FolderFor(ws, t.opts.Home, real, write)
	if info, err := os.Stat(real); ok && err == nil && !info.IsDir() && sandbox.SecretPlace(real) != "" && sandbox.SecretPlace(f.Path) == "" {
		f.Path = workspace.Spell(real) // a single file among others, such as ~/.netrc
	}
	return f, ok
}
