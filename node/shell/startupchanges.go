package shell

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	bourne "fairlead/gateway/peer/shell"
	"fairlead/gateway/peer/words"
	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// Switching branches, merging and the like replace tracked files, and moving a folder moves the
// start-up files in it. Commands cannot change start-up files unasked, and Git would stop half-way:
// the branch is another one then, and the files are not. So these files are looked up before the
// question about the command, and the answer lifts their protection. A start-up file never changes
// unasked, not even to the content of a commit: commands can make commits, too.

const (
	// gitLimit is how long Git may take to compare commits.
	gitLimit = 3 * time.Second
	// maxReplaced is the number of start-up files that are looked up.
	maxReplaced = 16
	// maxCompared is the number of bytes of the names of all changed files.
	maxCompared = 4 << 20
)

// gitSafe are the variables with which Git changes nothing and reaches no other repository.
var gitSafe = []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL="}

// startupChanges returns the start-up files that a command line certainly replaces, creates, moves or
// removes with Git or mv: absolute and sorted. The list may be incomplete. Nothing is changed.
func (l *launcher) startupChanges(ctx context.Context, command, dir string) (files []string) {
	if !l.confinement.isEnforced() {
		return nil
	}
	facts := bourne.Analyze(command, bourne.Bash)
	for i, c := range facts.Commands {
		at, words := follow(c.Folder, dir).real, paths(c.Words)
		if c.Guess || c.Parent >= 0 || at == "" || slices.Contains(words, "") {
			continue
		}
		if words[0] == "mv" {
			files = append(files, movedStartup(at, words[1:])...)
		}
		in, args := gitFolder(at, words[0], words[1:])
		if words[0] == "patch" {
			args = words[1:]
		}
		files = append(files, patchedStartup(facts, i, in, dir, args)...)
		if words[0] != "git" {
			continue
		}
		if queries := gitQueries(args); len(queries) > 0 {
			files = append(files, l.changedStartup(ctx, in, queries)...)
		} else if len(args) > 0 && args[0] == "mv" {
			files = append(files, movedStartup(in, args[1:])...)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	return files[:min(len(files), maxReplaced)]
}

// paths returns words as paths, which are empty if they are not known.
func paths(words []bourne.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Path()
	}
	return list
}

// gitFolder returns the folder in which a command of Git works, and its words from the subcommand on;
// none for another program.
func gitFolder(dir, name string, args []string) (string, []string) {
	if name != "git" {
		return dir, nil
	}
	for len(args) > 1 && args[0] == "-C" {
		dir, args = resolveWord(args[1], dir), args[2:]
	}
	return dir, args
}

// movedStartup returns the start-up files in the folders that mv or git mv moves, and their new
// places.
func movedStartup(dir string, args []string) (files []string) {
	operands := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a[0] == '-' })
	if len(operands) < 2 {
		return nil
	}
	to := resolveWord(operands[len(operands)-1], dir)
	info, err := os.Stat(to)
	isFolder := err == nil && info.IsDir()
	for _, o := range operands[:len(operands)-1] {
		from, target := workspace.RealPath(resolveWord(o, dir)), workspace.RealPath(to)
		if isFolder {
			target = filepath.Join(target, filepath.Base(from))
		}
		for _, f := range (&floor.List{}).Files(from) {
			files = append(files, f, target+strings.TrimPrefix(f, from))
		}
	}
	return files
}

// movesInFolders returns the folders between which a command line moves files, if git mv is all that
// it runs. Git cannot move files across the border of a protected folder, and changes nothing else.
func movesInFolders(command, dir string) (folders []string) {
	facts := bourne.Analyze(command, bourne.Bash)
	if len(facts.Commands) != 1 || len(facts.Redirects)+len(facts.Assigns)+len(facts.Findings) > 0 {
		return nil
	}
	words := paths(facts.Commands[0].Words)
	if slices.Contains(words, "") {
		return nil
	}
	dir, args := gitFolder(dir, words[0], words[1:])
	if len(args) == 0 || args[0] != "mv" {
		return nil
	}
	for _, a := range args[1:] {
		if a[0] != '-' {
			path := workspace.RealPath(resolveWord(a, dir))
			folders = append(folders, path, filepath.Dir(path))
		}
	}
	return folders
}

// changedStartup returns the start-up files that one of the commands of Git lists. Git runs in the
// sandbox and can write nothing.
func (l *launcher) changedStartup(ctx context.Context, dir string, queries [][]string) (files []string) {
	top, names := l.listed(ctx, dir, queries)
	for _, name := range names {
		if floor.Lists(top, name) {
			files = append(files, filepath.Join(top, name))
		}
	}
	return files
}

// listed returns the names that commands of Git list, from the top folder of the work tree.
func (l *launcher) listed(ctx context.Context, dir string, queries [][]string) (top string, names []string) {
	script := "git rev-parse --show-toplevel"
	for _, q := range queries {
		script += "; git " + words.Join(q) + " 2>/dev/null"
	}
	top, rest, _ := strings.Cut(l.output(ctx, dir, script), "\n")
	for name := range strings.SplitSeq(rest, "\x00") {
		name = strings.TrimLeft(name[strings.LastIndexByte(name, '\t')+1:], "\n") // after the numbers of git apply, or a commit
		if name != "" {
			names = append(names, name)
		}
	}
	return top, names
}

// output returns what a script prints in a sandbox in which it can write nothing; empty if it takes
// too long.
func (l *launcher) output(ctx context.Context, dir, script string) string {
	out, in, err := os.Pipe()
	if err != nil {
		return ""
	}
	defer out.Close()
	p := l.confinement.profile
	p.Mode, p.Network, p.Write = sandbox.ReadOnly, sandbox.NetBlocked, nil
	child, err := l.confinement.box.Start(sandbox.Spec{
		Profile: p, Argv: []string{"/bin/sh", "-c", script}, Dir: dir, Env: append(guardGit(l.confinement.environ(dir)), gitSafe...), Stdout: in,
	})
	in.Close()
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	defer crash.WhenDone(ctx, child.Kill)()
	var text bytes.Buffer
	io.Copy(&text, io.LimitReader(out, maxCompared))
	out.Close() // where the output is too long, Git ends now
	child.Wait()
	if ctx.Err() != nil {
		return ""
	}
	return text.String()
}
