package policy

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/peer/shell"
)

//go:embed programs/classes.txt
var classesText string

// classes are the lines of programs/classes.txt, by name.
var classes = shell.ParseTable(classesText)

// The sets of programs and words in programs/classes.txt, which describes them.
var (
	readers            = class("readers")
	dataPrograms       = class("dataPrograms")
	complexLaunchers   = class("complexLaunchers")
	interpreters       = class("interpreters")
	codeArguments      = class("codeArguments")
	inputRunners       = class("inputRunners")
	shellBuiltins      = class("shellBuiltins")
	confinedPrograms   = class("confinedPrograms")
	remotePrograms     = class("remotePrograms")
	unstoppable        = class("unstoppable")
	gitServices        = class("gitServices")
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
	compressors        = class("compressors")
	execOptions        = class("execOptions")
	unpackers          = class("unpackers")
	rareWriters        = class("rareWriters")
	removers           = class("removers")
	userSwitchers      = class("userSwitchers")
	wordOffers         = class("wordOffers")
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
	loadsLike          = pairs("loadsLike")
	scriptNames        = pairs("scriptNames")
	commandGroups      = byProgram("group ", pairs)
	vocabularies       = parseVocabularies()
)

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

// openOffers are programs that may be offered with any arguments, with the words of the offer, and
// valueOffers commands with any value in the place of *.
var openOffers, valueOffers = patterns("openOffers"), patterns("valueOffers")

// patterns reads a class of commands whose words are joined by +.
func patterns(name string) (list [][]string) {
	for _, o := range classes[name] {
		list = append(list, strings.Split(o, "+"))
	}
	return list
}

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

// programSubcommands are the programs of which only some subcommands run foreign code.
var programSubcommands = byProgram("own ", func(line string) subcommands {
	return subcommands{own: class(line), plain: class("plain " + line[len("own "):])}
})

// fullName returns the subcommand that a word means, or the word.
func (v vocabulary) fullName(word string) string {
	if f, ok := v.aliases[word]; ok {
		return f
	}
	if !v.prefixes || v.names == nil || word == "" {
		return word
	}
	// npm accepts cleanInstall for clean-install
	word = upper.ReplaceAllStringFunc(word, func(s string) string { return "-" + strings.ToLower(s) })
	if slices.Contains(v.names, word) {
		return word
	}
	found := map[string]bool{}
	for _, n := range v.names {
		found[n] = found[n] || strings.HasPrefix(n, word)
	}
	for alias, n := range v.aliases {
		found[n] = found[n] || strings.HasPrefix(alias, word)
	}
	maps.DeleteFunc(found, func(_ string, begins bool) bool { return !begins })
	for n := range found {
		if len(found) == 1 {
			return n
		}
	}
	return word // unknown, or ambiguous: the program accepts none
}

var upper = regexp.MustCompile(`[A-Z]`)

// matchAlias compares the words after the program with those of a strict rule, as aliases.
func matchAlias(name string, pattern []wordGlob, words []shell.Word) certainty {
	v, ok := vocabularies[name]
	if !ok {
		return none
	}
	// the rule's subcommand
	at := slices.IndexFunc(pattern, func(g wordGlob) bool { return g.literal() && !isFlag(g.parts[0]) })
	if at < 0 {
		return none
	}
	subcommand := pattern[at].parts[0]
	want := v.fullName(subcommand)
	best := none
	for i, w := range words {
		if w.Dynamic || isFlag(w.Text) || w.Text == "" || w.Text == subcommand {
			continue
		}
		sure := certain
		if v.fullName(w.Text) != want {
			if !v.prefixes || v.names != nil || !strings.HasPrefix(want, strings.ToLower(w.Text)) {
				continue
			}
			sure = possible
		}
		as := slices.Clone(words)
		as[i].Text = subcommand
		best = max(best, min(sure, strictRest(name, pattern, as)))
	}
	return best
}

// withoutCommandGroup returns a program's words without those that change nothing: a toolchain's
// name, or the command group. It returns nil if there is no such word.
func withoutCommandGroup(program string, words []shell.Word) (shorter []shell.Word) {
	groups := commandGroups[program]
	for i := 0; i+1 < len(words); i++ {
		name := words[i].Text
		if strings.HasPrefix(name, "+") {
			name = "+"
		}
		more, isGroup := groups[name]
		if n, _ := strconv.Atoi(more); isGroup && !words[i].Dynamic && i+n+1 < len(words) {
			shorter = slices.Delete(slices.Clone(words), i, i+n+1)
			words = shorter
			i--
		} else if shorter != nil {
			break // a later word of that name is an argument
		}
	}
	return shorter
}

// unversionedName returns a program's name without its version, as for python3.12 or npm@latest.
func unversionedName(name string) string {
	if s, ok := scriptNames[name]; ok {
		return s
	}
	if plain, ok := strings.CutPrefix(name, "zf_"); ok { // zsh's own
		return plain
	}
	if plain, _, ok := strings.Cut(name, "@"); ok && plain != "" {
		return plain
	}
	plain := strings.TrimRight(name, "0123456789.-")
	if plain != name && versionedNames[plain] {
		return plain
	}
	return name
}
