package shell

import (
	"slices"
	"strings"
)

// The flags with which Git lists names of files and runs no program.
var (
	listDiff    = []string{"diff", "--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules=all", "--name-only", "-z"}
	listEdits   = []string{"diff-index", "--no-renames", "--ignore-submodules=all", "--name-only", "-z"}
	listCommits = []string{"log", "--no-ext-diff", "--no-textconv", "--no-renames", "-m", "--name-only", "--format=", "-z"}
	listPatch   = []string{"apply", "--numstat", "-z"}
	listUnknown = []string{"ls-files", "--others", "--full-name", "-z"}
)

// gitQueries returns the commands, as arguments of git, that list what a command of Git replaces in
// the work tree. args are the words after git; the result is empty for other commands.
func gitQueries(args []string) (queries [][]string) {
	if len(args) == 0 {
		return nil
	}
	revs, paths := gitOperands(args[1:])
	list := func(base []string, more ...string) { queries = append(queries, slices.Concat(base, more)) }
	add := func(d ...string) { list(listDiff, append(append(d, "--"), paths...)...) }
	switch sub := args[0]; sub {
	case "checkout", "switch", "restore", "reset", "rebase":
		for _, r := range revs {
			add("--cached", r)
			add("--cached", "refs/remotes/origin/"+r) // a branch that does not exist yet here
		}
		if sub == "rebase" && len(revs) == 0 {
			add("--cached", "@{upstream}")
		}
	case "merge":
		for _, r := range revs {
			add("HEAD..." + r)
		}
	case "pull":
		switch {
		case len(revs) == 0:
			add("HEAD...@{upstream}")
		case len(revs) > 1:
			add("HEAD..." + revs[0] + "/" + revs[1])
		}
	case "cherry-pick", "revert":
		for _, r := range revs {
			if strings.Contains(r, "..") {
				add(r)
			} else {
				add(r+"^", r)
			}
		}
	case "stash":
		queries = stashQueries(args[1:], revs, paths)
	case "bisect":
		queries = bisectQueries(revs)
	case "am", "apply":
		queries = patchQueries(args[1:])
	}
	return queries
}

// stashQueries are those of git stash, which puts back what is changed, or changes it again.
func stashQueries(args, revs, paths []string) (queries [][]string) {
	sub := "push"
	if len(revs) > 0 {
		sub, revs = revs[0], revs[1:]
	}
	switch sub {
	case "pop", "apply":
		entry := "stash@{0}"
		if len(revs) > 0 {
			entry = revs[0]
		}
		queries = append(queries, slices.Concat(listDiff, []string{entry + "^", entry, "--"}, paths))
	case "push", "save":
		if sub == "push" {
			paths = append(revs, paths...)
		}
		queries = append(queries, slices.Concat(listEdits, []string{"HEAD", "--"}, paths))
		if slices.ContainsFunc(args, func(a string) bool { return a == "-u" || a == "--include-untracked" || a == "-a" || a == "--all" }) {
			queries = append(queries, slices.Concat(listUnknown, []string{"--exclude-standard", "--"}, paths))
		}
	}
	return queries
}

// bisectQueries list what changes in the commits of a search, any of which may be checked out.
func bisectQueries(revs []string) [][]string {
	if len(revs) == 0 {
		return nil
	}
	const bad = "refs/bisect/bad"
	sub, revs := revs[0], revs[1:]
	search := []string{bad, "--not", "--glob=refs/bisect/good-*"}
	switch {
	case sub == "start" && len(revs) > 1:
		search = slices.Concat(revs[:1], []string{"--not"}, revs[1:])
	case sub == "start":
		return nil // the revisions come later
	case sub == "bad" || sub == "new":
		search[0] = append(revs, "HEAD")[0]
	case sub == "good" || sub == "old":
		search = slices.Concat([]string{bad, "--not"}, append(revs, "HEAD")[:max(1, len(revs))])
	}
	return [][]string{slices.Concat(listCommits, search, []string{"--"})}
}

// patchQueries list the files of patches. Those that come by the standard input are not known.
func patchQueries(args []string) [][]string {
	var flags, patches []string
	for _, a := range args {
		isPlace := strings.HasPrefix(a, "-p") || strings.HasPrefix(a, "--directory=") || strings.HasPrefix(a, "--include=") || strings.HasPrefix(a, "--exclude=")
		switch {
		case isPlace:
			flags = append(flags, a)
		case a != "" && a[0] != '-':
			patches = append(patches, a)
		}
	}
	if len(patches) == 0 {
		return nil
	}
	return [][]string{slices.Concat(listPatch, flags, []string{"--"}, patches)}
}

// gitOperands splits the words of a subcommand into possible revisions, and the paths after "--".
func gitOperands(args []string) (revs, paths []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		args, paths = args[:i], args[i+1:]
	}
	for _, a := range args {
		if name, value, ok := strings.Cut(a, "="); ok && (name == "--onto" || name == "--source") {
			a = value
		}
		switch {
		case a == "-":
			revs = append(revs, "@{-1}")
		case a != "" && a[0] != '-':
			revs = append(revs, a)
		}
	}
	return revs, paths
}
