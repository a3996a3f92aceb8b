package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/node/workspace"
)

// maxBound is the number of files that one command is bound to.
const maxBound = 64

// binding returns a checksum of a command's folder and of the files that it starts by their path,
// so that an answer holds only while they are the ones that the person was asked about.
func binding(ws *workspace.Root, shell, command, dir string) string {
	sum := sha256.New()
	fmt.Fprintln(sum, workspace.RealPath(dir), fileIdentity(ws.CommandView().Locate(dir)))
	if isBourne(shell) {
		for _, file := range startedFiles(command, dir) {
			real := ws.CommandView().Locate(file)
			if id := fileIdentity(real); id != "" {
				fmt.Fprintln(sum, file, id, contentIdentity(real))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// scriptRunners are programs that run a file in their words or from their input, in any version.
var scriptRunners = []string{
	"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "python", "pypy", "node", "perl", "ruby", "php", "deno", "bun", "tsx", "lua", "tclsh",
	"expect", "awk", "gawk", "mawk", "sed", "make", "gmake", "just", "rscript", "julia", "source", ".",
}

// folderOptions are options with which a launcher changes the folder.
var folderOptions = []string{"-C", "-D", "--chdir", "--directory", "--cwd"}

// startedFiles returns the paths that a command line may start, whoever starts them: programs that it
// names by a path, and scripts. A path may be relative to the folder of the command line or to one
// that it changes to.
func startedFiles(command, dir string) (list []string) {
	facts := bourne.Analyze(command, bourne.Bash)
	folders := []string{dir}
	for _, c := range facts.Commands {
		for i, w := range c.Words[1:] {
			option, value, isAttached := strings.Cut(w.Path(), "=")
			switch before := c.Words[i].Text; {
			case isAttached && slices.Contains(folderOptions, option):
				folders = addPaths(folders, value, folders, maxFolders)
			case c.Name() == "cd", c.Name() == "pushd", slices.Contains(folderOptions, before):
				folders = addPaths(folders, w.Path(), folders, maxFolders)
			}
		}
	}
	add := func(word string) { list = addPaths(list, word, folders, maxBound) }
	isPiped := slices.ContainsFunc(facts.Commands, func(c bourne.Command) bool { return c.Piped && runsScripts(c) })
	for i, c := range facts.Commands {
		if name := c.Words[0].Path(); strings.ContainsAny(name, `/\`) {
			add(name)
		}
		if !isPiped && !runsScripts(c) {
			continue
		}
		for _, w := range c.Words[1:] {
			add(w.Path())
		}
		for _, r := range facts.Redirects {
			if !r.Write && r.Command == i {
				add(r.Path.Path())
			}
		}
	}
	return list
}

// runsScripts reports whether a program is known to run a file.
func runsScripts(c bourne.Command) bool {
	return slices.Contains(scriptRunners, strings.TrimRight(bourne.BaseName(c.Words[0].Value()), "0123456789.")) || c.Name() == "."
}

// addPaths adds the paths to which a word may lead from one of the folders, up to most in all.
func addPaths(list []string, word string, folders []string, most int) []string {
	for _, folder := range folders {
		if path := resolveWord(word, folder); path != "" && len(list) < most && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}
