package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/peer/shell"
)

// writeReason finds programs that change protected files in their arguments.
func (fl *floor) writeReason(c shell.Command, name string) string {
	if i := shell.GitSubcommand(c.Words); name == "git" && i < len(c.Words) && c.Words[i].Text == "mv" {
		c.Words, name = c.Words[i:], "mv"
	}
	if !writers[name] && !rareWriters[name] && c.Via != "find" {
		return ""
	}
	isSent := func(w shell.Word) bool { // mentionReason asks about it
		k := slices.IndexFunc(c.Words[1:], func(x shell.Word) bool { return x.Text == w.Text })
		return sendsWord(name, c.Words[1:], k)
	}
	for _, w := range readingOf(name, c.Words[1:]).without(c.Words[1:]) {
		if isSent(w) {
			continue
		}
		_, v, valued := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && !valued {
			continue
		}
		list, _ := fl.resolver.paths(w)
		if valued {
			more, _ := fl.resolver.paths(shell.Word{Text: v, Tilde: strings.HasPrefix(v, "~")})
			list = append(list, more...)
		}
		// cp only reads its sources.
		last := w.Text == c.Words[len(c.Words)-1].Text
		if why := fl.fileReason(list); why != "" && (name != "cp" || writesElsewhere(name, c.Words) || last || device.MatchString(w.Text)) {
			return why
		}
	}
	return fl.copyReason(c, name)
}

// copyReason finds copies whose target, or for folders its possible contents, is protected.
func (fl *floor) copyReason(c shell.Command, name string) string {
	_, list := copyTargets(c, name)
	check := fl.fileReason
	if name == "mv" || name == "gmv" || name == "ln" || name == "gln" || recursive(c.Words[1:]) {
		check = fl.folderReason
		if to := operands(withoutInputs(c.Words[1:]), "tSgmo"); copiers[name] && len(to) > 1 && !to[len(to)-1].Dynamic {
			list = append(list, to[len(to)-1])
		}
	}
	for _, w := range list {
		files, _ := fl.resolver.paths(w)
		if why := check(files); why != "" {
			return why
		}
	}
	return ""
}

// outputs matches the options that name output files and folders of programs.
var outputs = regexp.MustCompile(`(?i)^--?(o|.*out|.*out[-_.]?(put|file|dir|path|folder).*|.*(profile|trace|xml|log|report|stats|history|info|cache)([-_.]?(out|output|file|dir|path|location))?|` +
	`(write|dump|save|export|record)[-_a-z]*|.*(target|dest|destination)([-_.]?(dir|path|folder|file))?|.*cache[-_]?(file|dir|location)|debug|timings?|cov-report|junit-?xml)$`)

// outputReason returns the reason why a command that is not a known writer would write a file that
// the floor protects: by an output option, in place, or by the names of its pieces or backups.
func (fl *floor) outputReason(c shell.Command, name string) string {
	words := c.Words[1:]
	reads := readingOf(name, words)
	if reads.whole && !viewers[name] { // whose output options are not all known
		return ""
	}
	var files []shell.Word
	change := false
	for i, w := range words {
		change = change || inPlaceOptions[w.Text] && !viewers[name]
		opt, value := optionAt(words, i)
		if opt == w.Text && (i+1 == len(words) || isFlag(value.Text)) || reads.isInput(opt) || !outputs.MatchString(opt) && !(opt == "-t" && strings.HasPrefix(name, "pip")) {
			continue
		}
		if k := strings.LastIndexByte(value.Text, ':'); k > 1 { // a type before it, as in xml:FILE
			files = append(files, part(value, value.Text[k+1:]))
		}
		files = append(files, value)
	}
	if change {
		files = append(files, operands(reads.without(words), "")...)
	}
	if backupMakers[name] {
		files = append(files, backups(words)...)
	}
	if compressors[name] {
		files = append(files, unpackedNames(words)...)
	}
	return fl.wordsReason(files)
}

// packedName matches the names that programs give to compressed or encrypted files.
var packedName = regexp.MustCompile(`(?i)^(.+)[.-](gz|z|bz2?|xz|lzma|zst|lz4|lzo|lz|br|gpg|pgp|asc|sig|cpt)$`)

// unpackedNames returns the names that packing the files in words, or unpacking them, gives to the
// results: those with another suffix, and those without the suffix.
func unpackedNames(words []shell.Word) (list []shell.Word) {
	list = backups(words)
	suffixes := values(words, "-S,--suffix")
	for _, w := range operands(words, "S") {
		if m := packedName.FindStringSubmatch(w.Text); m != nil {
			list = append(list, part(w, m[1]))
		}
		for _, s := range suffixes {
			list = append(list, part(w, strings.TrimSuffix(w.Text, s.Text)))
		}
	}
	return list
}

// piecesReason returns the reason why a file whose name starts so may have a protected name.
func (fl *floor) piecesReason(w shell.Word) string {
	begins := strings.ToLower(path.Base(w.Text))
	begins = strings.TrimSuffix(begins, "*")
	if len(begins) < 2 {
		return fl.wordReason(w)
	}
	for _, e := range sensitive.Entries() {
		name := strings.ToLower(path.Base(e.Path))
		if !strings.HasPrefix(name, begins) || strings.Contains(name, "*") {
			continue
		}
		w.Text = path.Join(path.Dir(w.Text), name)
		if why := fl.wordReason(w); why != "" {
			return "May write " + name + ": " + why
		}
	}
	return fl.wordReason(w)
}

// backups returns the names that copying or editing in place may give to the previous files.
func backups(words []shell.Word) (list []shell.Word) {
	suffixes := append(values(words, "-S,--suffix"), values(words, "--in-place")...)
	for _, w := range words {
		if k := strings.IndexByte(w.Text, 'i'); k > 0 && k < len(w.Text)-1 && isLetters(w.Text) {
			suffixes = append(suffixes, part(w, w.Text[k+1:]))
		}
		if k := strings.IndexByte(w.Text, 'S'); k > 1 && k < len(w.Text)-1 && isFlag(w.Text) && strings.Trim(w.Text[1:k], "abdfiHLlnPpRrsTuvxZ") == "" {
			suffixes = append(suffixes, part(w, w.Text[k+1:])) // in combined options
		}
	}
	for _, suffix := range suffixes {
		for _, w := range operands(words, "S") {
			list = append(list, combine(w.Text+suffix.Text, w, suffix))
		}
	}
	return list
}

// homeFolder matches a home folder by its path, after fold.
var homeFolder = regexp.MustCompile(`^((/home|/users|[a-z]:/users)/[^/]+|/root|/var/root)$`)

// unpackReason finds commands that write files with names from elsewhere, such as archives.
func (fl *floor) unpackReason(c shell.Command, name string) string {
	isContained := fl.call.Contained && (!patchers[name] || fl.call.PatchesRead)
	if unpackers[name] && (name != "git" || appliesPatch(c.Words[min(shell.GitSubcommand(c.Words), len(c.Words)):])) {
		for _, a := range accesses(c) {
			if a.verb != "write" && a.verb != "extract" || a.word.Dynamic {
				continue
			}
			if a.file {
				if why := fl.piecesReason(a.word); why != "" {
					return why
				}
				continue
			}
			if isContained && name == "cpio" && a.word.Text == "/" && !slices.ContainsFunc(c.Words, endsInSlash) {
				continue // names in its archives may be absolute, and the machine keeps other folders
			}
			list, _ := fl.resolver.paths(a.word)
			if len(list) == 0 && fl.resolver.dirs == nil {
				return "The folder that " + name + " writes to is unknown"
			}
			if folder := fl.protectedFolder(list); folder != "" && !(isContained && fl.resolver.places.isInWorkspace(list)) {
				return name + " may write any file in " + shorten(folder) + ", including start-up files"
			}
		}
	}
	to, arriving := copyTargets(c, name)
	if list, _ := fl.resolver.paths(to); to.Text == "" || fl.protectedFolder(list) == "" || isContained && fl.resolver.places.isInWorkspace(list) {
		return ""
	}
	if recursive(c.Words[1:]) {
		return name + " may write any file in " + shorten(to.Text) + ", including start-up files"
	}
	for _, w := range arriving {
		if list, _ := fl.resolver.paths(w); name == "mv" && fl.protectedFolder(list) != "" {
			return "mv may write start-up files in " + shorten(w.Text)
		}
		if w.Glob && strings.ContainsAny(path.Base(w.Text)[:1], ".[") {
			return name + " may write start-up files in " + shorten(to.Text)
		}
	}
	return ""
}

func endsInSlash(w shell.Word) bool { return strings.HasSuffix(w.Text, "/") }

// appliesPatch reports whether words from git's subcommand on apply a patch. The first call of git
// am has named the patches that git am --continue applies.
func appliesPatch(words []shell.Word) bool {
	if len(words) == 0 || words[0].Text != "apply" && words[0].Text != "am" {
		return false
	}
	return words[0].Text == "apply" || len(words) != 2 || !slices.Contains([]string{"--continue", "--skip", "--abort", "--quit", "--resolved"}, words[1].Text)
}

// protectedFolder returns the folder of the list in which a file may be protected: the workspace
// itself, with .git and the settings of editors and agents, a home folder, one that contains it, or
// one with settings of programs. A folder below the workspace belongs to the agent, except for
// files that are protected by name.
func (fl *floor) protectedFolder(list []string) string {
	for _, f := range list {
		isHome := homeFolder.MatchString(fold(f)) || fl.includesRoot([]string{f}, false)
		if f == fl.resolver.places.root || isHome || fl.fileReason([]string{f}) != "" {
			return f
		}
		if !isIn(f, fl.resolver.places.root) && slices.ContainsFunc(protectedInFolders, func(p string) bool { return fl.fileReason([]string{path.Join(f, p)}) != "" }) {
			return f
		}
	}
	return ""
}
