package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// patchReader is how a program reads a patch.
type patchReader struct {
	base   string // the folder to which names are relative
	within string // the folder outside of which it changes nothing
	strip  int    // number of parts to remove from names; -1: all but the last
	file   string // the patch; empty for the input
}

// newPatchReader returns how git apply, git am or patch reads its input, and patch any file; nil for
// another command. Patches in files are for [gitQueries] otherwise. args are the words after the
// program, which runs in dir.
func newPatchReader(name string, args []string, dir string) *patchReader {
	p := &patchReader{base: dir, within: dir, strip: -1}
	switch {
	case name == "patch":
	case name == "git" && len(args) > 0 && (args[0] == "apply" || args[0] == "am"):
		isFile := func(a string) bool { return !strings.HasPrefix(a, "-") }
		if slices.ContainsFunc(args[1:], isFile) {
			return nil
		}
		p.base, p.strip = workTree(dir), 1
		if args[0] == "am" {
			p.within = p.base
		}
		args = args[1:]
	default:
		return nil
	}
	p.readOptions(name, args)
	return p
}

func (p *patchReader) readOptions(name string, args []string) {
	for i := 0; i < len(args); i++ {
		option, value, hasValue := strings.Cut(args[i], "=")
		isShort := len(option) > 1 && option[0] == '-' && option[1] != '-'
		if isShort {
			option, value, hasValue = option[:2], option[2:], len(option) > 2
		}
		takes := slices.Contains([]string{"-p", "--strip", "--directory", "-i", "--input", "-d"}, option)
		if takes && !hasValue && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch option {
		case "-p", "--strip":
			p.strip, _ = strconv.Atoi(value)
		case "-d", "--directory":
			p.base = resolveWord(value, p.base)
			if name == "patch" {
				p.within = p.base
			}
		case "-i", "--input":
			p.file = value
		}
	}
}

// names returns the names of the files that a patch changes.
func (p *patchReader) names(text string) (names []string) {
	add := func(name string, strip int) {
		name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		parts := strings.Split(name, "/")
		if p.strip < 0 {
			strip = len(parts) - 1
		}
		if name != os.DevNull && strip < len(parts) {
			names = append(names, strings.Join(parts[strip:], "/"))
		}
	}
	for line := range strings.Lines(text) {
		for _, prefix := range []string{"--- ", "+++ "} {
			if name, ok := strings.CutPrefix(line, prefix); ok {
				add(name, p.strip)
			}
		}
		for _, prefix := range []string{"rename from ", "rename to ", "copy to "} {
			if name, ok := strings.CutPrefix(line, prefix); ok {
				add(name, max(0, p.strip-1))
			}
		}
		if name, ok := strings.CutPrefix(line, "diff --git "); ok { // all that files without text have
			if at := strings.LastIndex(name, " b/"); at >= 0 {
				add(name[at+1:], p.strip)
			}
		}
	}
	return names
}

// startup returns the start-up files that patches change.
func (p *patchReader) startup(texts []string) (files []string) {
	for _, text := range texts {
		for _, name := range p.names(text) {
			if path := filepath.Join(p.base, name); floor.Lists(p.base, name) && workspace.InFolder(path, p.within) {
				files = append(files, path)
			}
		}
	}
	return files
}

// patchedStartup returns the start-up files that the command with an index in a text that starts in
// dir changes by patches. at is its folder, and args are its words after the program.
func patchedStartup(facts bourne.Facts, index int, at, dir string, args []string) []string {
	p := newPatchReader(facts.Commands[index].Name(), args, at)
	if p == nil {
		return nil
	}
	if p.file != "" && p.file != "-" {
		return p.startup([]string{readHead(resolveWord(p.file, at), maxCompared)})
	}
	return p.startup(patchInput(facts, index, dir))
}

// patchInput returns the texts that a command gets as its input, as far as they are in the text or in
// files that it names.
func patchInput(facts bourne.Facts, index int, dir string) (texts []string) {
	c := facts.Commands[index]
	if c.Stdin != nil && c.Stdin.Value() != "" {
		texts = append(texts, c.Stdin.Value())
	}
	for _, r := range facts.Redirects {
		if r.Command == index && !r.Write && !r.Guess {
			texts = append(texts, readHead(pathIn(follow(r.Folder, dir), dir, r.Path.Path()), maxCompared))
		}
	}
	if c.Piped && index > 0 && facts.Commands[index-1].Name() == "cat" {
		before := facts.Commands[index-1]
		for _, name := range paths(before.Words[1:]) {
			texts = append(texts, readHead(pathIn(follow(before.Folder, dir), dir, name), maxCompared))
		}
	}
	return texts
}

// patchesAreRead reports whether a command line applies patches, and all of them are texts or files
// that can be read now as a whole.
func patchesAreRead(command, dir string) (areRead bool) {
	facts := bourne.Analyze(command, bourne.Bash)
	for i, c := range facts.Commands {
		at, words := follow(c.Folder, dir).real, paths(c.Words)
		if c.Guess || !slices.Contains([]string{"git", "patch"}, words[0]) {
			continue
		}
		args := words[1:]
		if words[0] == "git" {
			at, args = gitFolder(at, words[0], args)
		}
		if words[0] == "git" && (len(args) == 0 || args[0] != "apply" && args[0] != "am") {
			continue
		}
		texts := patchTexts(facts, i, at, dir, args)
		if c.Parent >= 0 || at == "" || slices.Contains(words, "") || len(texts) == 0 || slices.ContainsFunc(texts, isPartOfPatch) {
			return false
		}
		areRead = true
	}
	return areRead
}

// patchTexts returns the patches that the command with an index applies, empty where they cannot be
// read. The parameters are those of patchedStartup, but patch itself is not among args.
func patchTexts(facts bourne.Facts, index int, at, dir string, args []string) (texts []string) {
	isFile := func(a string) bool { return a != "" && a[0] != '-' }
	p := newPatchReader(facts.Commands[index].Name(), args, at)
	switch {
	case p == nil: // git with the names of patches
		for _, a := range args[1:] {
			if isFile(a) {
				texts = append(texts, readHead(resolveWord(a, at), maxCompared))
			}
		}
		return texts
	case p.file != "" && p.file != "-":
		return []string{readHead(resolveWord(p.file, at), maxCompared)}
	case facts.Commands[index].Name() == "patch" && len(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !isFile(a) })) > 1:
		return nil // patch ORIGINAL PATCH
	}
	return patchInput(facts, index, dir)
}

func isPartOfPatch(text string) bool { return text == "" || len(text) >= maxCompared }

// workTree returns the top folder of the repository around a folder; the folder itself without one.
func workTree(dir string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
	}
	return dir
}
