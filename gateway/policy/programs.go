package policy

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed programs/classes.txt
var classesText string

// classes are the lines of programs/classes.txt, by name.
var classes = parseClasses(classesText)

// The sets of programs and words in programs/classes.txt, which describes them.
var (
	readers            = class("readers")
	dataPrograms       = class("dataPrograms")
	complexLaunchers   = class("complexLaunchers")
	interpreters       = class("interpreters")
	codeArguments      = class("codeArguments")
	shellBuiltins      = class("shellBuiltins")
	inlineModules      = class("inlineModules")
	versionedNames     = class("versionedNames")
	copiers            = class("copiers")
	noFileArguments    = class("noFileArguments")
	viewers            = class("viewers")
	pureWriters        = class("pureWriters")
	selfContained      = class("selfContained")
	compilers          = class("compilers")
	containerCommands  = class("containerCommands")
	shellStarters      = class("shellStarters")
	inPlaceOptions     = class("inPlaceOptions")
	backupMakers       = class("backupMakers")
	unpackers          = class("unpackers")
	rareWriters        = class("rareWriters")
	userSwitchers      = class("userSwitchers")
	writers            = class("writers")
	fileExtensions     = class("fileExtensions")
	needSubcommand     = class("needSubcommand")
	gitCommands        = class("gitCommands")
	downloaders        = class("downloaders")
	movers             = class("movers")
	switchValues       = class("switchValues")
	protectedInFolders = classes["protectedInFolders"]
	loadingOptions     = classes["loadingOptions"]
	guardedLike        = pairs("guardedLike")
	optionsLike        = pairs("optionsLike")
	scriptNames        = pairs("scriptNames")
	vocabularies       = parseVocabularies()
)

func parseClasses(text string) map[string][]string {
	m := map[string][]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n  ", " "), "\n") {
		if name, words, ok := strings.Cut(line, ":"); ok && line[0] != '#' {
			m[name] = strings.Fields(words)
		}
	}
	return m
}

func class(name string) map[string]bool { return setOf(classes[name]) }

func set(words string) map[string]bool { return setOf(strings.Fields(words)) }

func setOf(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

func pairs(name string) map[string]string {
	m := map[string]string{}
	for _, p := range classes[name] {
		key, value, _ := strings.Cut(p, "=")
		m[key] = value
	}
	return m
}

// longForms returns the long forms of short options, in all programs or in one.
func longForms(line string) map[byte]string {
	m := map[byte]string{}
	for letter, long := range pairs(line) {
		m[letter[0]] = long
	}
	return m
}

var commonForms = longForms("longForms")

// programForms are the additional long forms of single programs.
var programForms = byProgram("longForms ", longForms)

// byProgram reads the lines that start with a prefix; the rest of their names are programs.
func byProgram[T any](prefix string, read func(line string) T) map[string]T {
	m := map[string]T{}
	for name := range classes {
		if program, ok := strings.CutPrefix(name, prefix); ok {
			m[program] = read(name)
		}
	}
	return m
}

// openOffers are programs for which an offered rule may allow any further arguments, with the words
// that make them one.
var openOffers = func() (list [][]string) {
	for _, o := range classes["openOffers"] {
		list = append(list, strings.Split(o, "+"))
	}
	return list
}()

// vocabulary describes the alternative names of a program's subcommands: aliases and abbreviations.
type vocabulary struct {
	names    []string          // its subcommands; needed to resolve abbreviations with certainty
	aliases  map[string]string // aliases
	prefixes bool              // it accepts a prefix of a name
}

func parseVocabularies() map[string]vocabulary {
	m := map[string]vocabulary{}
	for program, aliases := range byProgram("aliases ", pairs) {
		m[program] = vocabulary{aliases: aliases, names: classes["subcommands "+program]}
	}
	for _, program := range classes["prefixes"] {
		v := m[program]
		v.prefixes = true
		m[program] = v
	}
	return m
}

// subcommands are those subcommands of a program that run only the program's own code. They must be
// its first word, because a word after an option may be its value.
type subcommands struct {
	own map[string]bool
	// plain are subcommands that run only the program's own code with --ignore-scripts.
	plain map[string]bool
}

// programSubcommands are the programs of which some subcommands run code of a project, a package or
// a service.
var programSubcommands = byProgram("own ", func(line string) subcommands {
	return subcommands{own: class(line), plain: class("plain " + line[len("own "):])}
})

// hasValueOption reports whether an interpreter's option uses the next word as its value.
func hasValueOption(program, option string) bool {
	return slices.Contains(classes["valueOptions "+program], option)
}
