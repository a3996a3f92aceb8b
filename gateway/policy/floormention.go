package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/peer/shell"
)

// No table of programs is complete: any program may write the files that its words name. So an
// allow that does not name a protected file (a rule with **, a trusted chat, a default that allows)
// covers a command with that name only if the program is known to only read it.

// mentionReason returns the reason why command i may change a protected file that its words name
// and that its allow rule does not, or "".
func (ev *evaluation) mentionReason(i int, c shell.Command) string {
	name := baseName(c.Words[0].Text)
	if c.Guess || c.Words[0].Dynamic {
		return ""
	}
	for _, w := range changedByFind(name, c.Words[1:]) {
		if why := ev.floor.mentionedReason(name, w); why != "" && !ev.covered[i].exact {
			return why
		}
	}
	r := readingOf(name, c.Words[1:])
	if r.whole {
		return ""
	}
	others := ev.judgedElsewhere(i)
	script := scriptAt(name, c.Words)
	cover := ev.covered[i]
	isCode := !c.Starts && (!dataPrograms[name] || inputRunners[name])
	for k, w := range c.Words[1:] {
		if cover.exact || cover.has(k+1) || others[k+1] || k+1 == script || r.covers(c.Words[1:], k) {
			continue
		}
		for _, p := range mentionedPaths(name, w, isCode) {
			if why := ev.floor.mentionedReason(name, p); why != "" {
				if sendsWord(name, c.Words[1:], k) {
					why = strings.Replace(why, " may change ", " sends ", 1) + ", to another machine"
				}
				return why
			}
		}
	}
	return ""
}

// sendsWord reports whether a program only sends the file that word k names to another machine.
func sendsWord(name string, words []shell.Word, k int) bool {
	opts := classes["sends "+name]
	isSending := func(opt string) bool {
		return slices.ContainsFunc(opts, func(o string) bool { return opt == o || len(o) == 2 && strings.HasPrefix(opt, o) })
	}
	opt, _, _ := strings.Cut(words[k].Text, "=")
	return isFlag(opt) && isSending(opt) || k > 0 && slices.Contains(opts, words[k-1].Text)
}

// namesFile matches options of interpreters whose value is the name of a file or a folder.
var namesFile = regexp.MustCompile(`^--[a-z-]*(name|file|dir|path|blob|pattern|destination|warnings|keylog|log|out|output)$`)

// scriptAt returns the index of the file that a shell or an interpreter runs, 0 without one.
func scriptAt(name string, words []shell.Word) int {
	if codeArguments[name] || !shell.IsShell(name) && !isVersionOf(name, interpreters) {
		return 0
	}
	for k := 1; k < len(words); k++ {
		if t := words[k].Text; !isFlag(t) {
			if namesFile.MatchString(words[k-1].Text) {
				return 0 // t is the value of the option before it
			}
			return k
		} else if isLetters(t) && strings.ContainsAny(t, "ceErpn") || strings.HasPrefix(t, "--e") || strings.HasPrefix(t, "--p") {
			return 0 // the code is in the words
		}
	}
	return 0
}

// judgedElsewhere returns the indexes of the words of command i that are the words of commands that
// it starts, or variables that it sets.
func (ev *evaluation) judgedElsewhere(i int) map[int]bool {
	list := map[int]bool{}
	for _, c := range ev.facts.Commands[i+1:] {
		for k := range c.Words {
			if c.Parent == i && c.WordIndex > 0 && !c.Guess {
				list[c.WordIndex+k] = true
			}
		}
	}
	for _, a := range ev.facts.Assigns {
		if a.Command == i && a.WordIndex > 0 {
			list[a.WordIndex] = true
		}
	}
	return list
}

// mentionedReason returns the reason why a program that may write a word's files needs an approval,
// or "". The files of the system are not counted: the system protects them.
func (fl *floor) mentionedReason(program string, w shell.Word) string {
	list := fl.resolver.pathsOf(w)
	if len(list) == 0 {
		list = []string{w.Text}
	}
	for _, f := range list {
		e, ok := sensitive.Find(fold(f), fold(fl.resolver.places.home), sensitive.Startup|sensitive.Secret)
		what := shorten(program) + " may change " + shorten(path.Base(f))
		switch {
		case fl.isOwn(f):
			return ourFiles
		case device.MatchString(f):
			return shorten(program) + " may write directly to a disk"
		case ok && e.Path[0] != '/' && e.Kind&sensitive.Startup != 0:
			return what + ", which can start programs later (" + e.Program() + ")"
		case ok && e.Path[0] != '/':
			return what + ", which holds passwords, tokens or private data (" + e.Program() + ")"
		case w.Glob && matchesHidden(f, sensitive.Startup):
			return what + ", which may match files that start programs later"
		}
	}
	return ""
}

// matchesHidden reports whether a shell's pattern for names with a dot may match a file of a kind.
func matchesHidden(pattern string, kind sensitive.Kind) bool {
	for part := range strings.SplitSeq(fold(pattern), "/") {
		if !hasWildcard(part) || part[0] != '.' && part[0] != '[' {
			continue
		}
		if _, err := path.Match(part, ""); err != nil {
			part = partPattern(part)
		}
		for _, e := range sensitive.Entries() {
			_, rest, _ := strings.Cut(strings.ToLower(e.Path), "/")
			first, _, _ := strings.Cut(rest, "/")
			if match, err := path.Match(part, first); e.Kind&kind != 0 && first[0] == '.' && match && err == nil {
				return true
			}
		}
	}
	return false
}

// mentionedPaths returns the parts of a word that may be paths: after separators, after the letters
// of options, and, in code, between blanks, quotes and brackets. Words without a dot and a slash,
// such as HEAD, are too common to be counted.
func mentionedPaths(name string, w shell.Word, isCode bool) (list []shell.Word) {
	add := func(text string) {
		if strings.ContainsAny(text, `./\~`) && strings.Trim(text, "./~") != "" {
			p := part(w, text)
			p.Tilde = p.Tilde || w.Tilde && text == w.Text
			list = append(list, p)
		}
	}
	text := w.Text
	add(text)
	cut := "=:,@;<>"
	if isCode {
		cut += " \t\n\"'`()[]{}|&"
	}
	if strings.ContainsAny(text, cut) {
		for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(cut, r) }) {
			add(piece)
		}
	}
	if isFlag(text) {
		for i := 2; i < len(text) && i < 8 && (isLetter(text[i-1]) || text[i-1] == '-'); i++ {
			add(text[i:])
		}
	}
	for _, piece := range fileNamesIn(name, text) {
		add(piece)
	}
	return list
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// readWords are the words of a command that its program only reads.
type readWords struct {
	name     string
	whole    bool // all words
	operands []shell.Word
	options  []string // with their values
}

// inputOptions are options whose value programs read, compare or pass on: names to skip, the
// interpreter, and texts for people.
var inputOptions = regexp.MustCompile(`^--?(exclude|ignore|skip|omit|prune)[a-z-]*$|^--?python(-?(path|executable|interpreter))?$|` +
	`^--(title|body|message|description|notes|comment|subject)$`)

// readingOf looks a command up in the lines "reads:" of programs/accesses.txt.
func readingOf(name string, words []shell.Word) (r readWords) {
	r.name = name
	if readers[name] || noFileArguments[name] || viewers[name] && name != "view" { // which is an editor
		r.whole = !writesElsewhere(name, append([]shell.Word{{}}, words...))
		return r
	}
	if accessLines()["reads:"+name] == nil {
		return r
	}
	in := newInvocation("reads:"+name, words)
	for _, l := range accessLines()["reads:"+name] {
		if l.takes != "" || len(l.subs) > 0 && hasDynamic(in.ops[:min(1, len(in.ops))]) || !in.meets(l) {
			continue
		}
		for _, a := range l.accesses {
			for _, target := range a.targets {
				switch {
				case target == ".":
					r.whole = true
				case isFlag(target):
					r.options = append(r.options, strings.Split(target, ",")...)
				default:
					for _, o := range in.target(a.access, target) {
						r.operands = append(r.operands, o.word)
					}
				}
			}
		}
		if !l.continues {
			break
		}
	}
	return r
}

// without returns the words that the program may write.
func (r readWords) without(words []shell.Word) (list []shell.Word) {
	for k, w := range words {
		if !r.whole && !r.covers(words, k) {
			list = append(list, w)
		}
	}
	return list
}

// withoutInputs returns the words without the values of input options.
func withoutInputs(words []shell.Word) []shell.Word {
	isValue := func(k int) bool { return k > 0 && inputOptions.MatchString(words[k-1].Text) }
	list := make([]shell.Word, 0, len(words))
	for k, w := range words {
		if !isValue(k) {
			list = append(list, w)
		}
	}
	return list
}

// covers reports whether the program only reads word k: an operand that no unknown option may use
// as its value, or the value of an option.
func (r readWords) covers(words []shell.Word, k int) bool {
	if opt, _, cut := strings.Cut(words[k].Text, "="); cut && isFlag(opt) {
		return r.isInput(opt)
	}
	if k > 0 && isFlag(words[k-1].Text) && words[k-1].Text != "--" {
		o, known := optionOf(r.name, words[k-1].Text)
		return r.isInput(words[k-1].Text) || known && r.hasOperand(words[k]) && o.value != ':'
	}
	return r.hasOperand(words[k])
}

func (r readWords) isInput(option string) bool {
	return inputOptions.MatchString(option) || slices.Contains(r.options, option)
}

func (r readWords) hasOperand(w shell.Word) bool {
	return slices.ContainsFunc(r.operands, func(o shell.Word) bool { return o.Text == w.Text })
}

// optionOf looks an option up in the table of a program.
func optionOf(program, opt string) (o option, known bool) {
	t := optionTables()[program]
	if t == nil {
		return o, false
	}
	o, known = t.options[opt]
	return o, known
}
