package policy

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/shell"
)

//go:embed programs/options.txt
var optionsText string

// optionTables returns the programs with known options, by name. Like the other tables of programs
// with patterns, it is read for the first command that is judged: a start need not wait for it.
var optionTables = sync.OnceValue(func() map[string]*optionTable { return parseOptions(optionsText) })

// optionTable lists the known options of a program or of one of its subcommands.
type optionTable struct {
	name    string // of the program and its subcommands, for people
	depth   int    // the number of subcommands in the name
	options map[string]option
	subs    map[string]*optionTable
	after   *optionTable // for the words after --

	patterns []wordPattern

	words, goals, bundled, single, free bool // the table's words with %
}

// wordPattern describes the operands that a rule must contain.
type wordPattern struct {
	pattern *regexp.Regexp
	runs    bool // such a word runs code that is not in the command
	output  bool // such a word, or its first group, is the name of a file that the program writes
}

// option is one known option, or one that is known to run code.
type option struct {
	// value is ':' for an option with a value, '=' with an optional one in the same word, and ';' before
	// a command that is decided about by itself; 0 means none.
	value byte
	fits  *regexp.Regexp // the value must match it
	// ambiguous means that the program may read more options in a value that does not fit.
	ambiguous bool
	// inside means that the value must be a folder in the workspace.
	inside bool
	// output means that the value is the name of a file that the program writes.
	output bool
	runs   bool // it runs code that is not in the command, unless its value matches fits
	// spelled means that the rule must contain it, and that its letters are no options of their own.
	spelled bool
}

// valueClasses are the harmless values of options for which not every value is harmless.
var valueClasses = map[string]string{
	"compile": `([\w./]+=)?-(N|l|m|e|S|B|live|[lm]=\d)( +-(N|l|m|e|S|B|live|[lm]=\d))*`,
	"link":    `([\w./]+=)?` + linkFlag + `( +` + linkFlag + `)*`,
	"file":    `[\w./-]+`,
	"local":   `[^:]*|[^:]*/.*`, // not HOST:FILE
	"name":    `\w[\w-]*`,
	"number":  `\d+`,
	"lines":   `[-.]?\d+(,\d+)*`, // of less, which reads more options after it
	"off":     `no:\w+`,          // a plugin that is not loaded
	"report":  `(term|term-missing|xml|html|json|lcov|annotate)?(:[\w-][\w./-]*)?`,
}

const linkFlag = `(-[sw]|-X[ =]('[\w./][\w./-]*=[^']*'|"[\w./][\w./-]*=[^"]*"|[\w./][\w./-]*=[^\s'"]*))`

// parseOptions parses the table; the first lines of options.txt describe its format.
func parseOptions(text string) map[string]*optionTable {
	top := &optionTable{}
	sets := map[string][]string{}
	for _, line := range shell.TableLines(text) {
		head, tokens, _ := strings.Cut(line, ":")
		if name, is := strings.CutPrefix(head, "+"); is {
			sets[name] = strings.Fields(tokens)
			continue
		}
		for _, t := range top.tablesAt(strings.Fields(head)) {
			t.add(strings.Fields(tokens), sets)
		}
	}
	return top.subs
}

// tablesAt returns the tables of a program and its subcommands, for all their names.
func (t *optionTable) tablesAt(path []string) (list []*optionTable) {
	if len(path) == 0 {
		return []*optionTable{t}
	}
	if path[0] == "--" {
		if t.after == nil {
			t.after = &optionTable{name: t.name + " --", options: map[string]option{}}
		}
		return []*optionTable{t.after}
	}
	if t.subs == nil {
		t.subs = map[string]*optionTable{}
	}
	for name := range strings.SplitSeq(path[0], "|") {
		sub := t.subs[name]
		if sub == nil {
			s := *t
			s.patterns = slices.Clip(t.patterns)
			sub = &s
			sub.name, sub.options, sub.subs, sub.after, sub.free = strings.TrimSpace(t.name+" "+name), map[string]option{}, nil, nil, false
			sub.depth = strings.Count(sub.name, " ")
			maps.Copy(sub.options, t.options)
			t.subs[name] = sub
		}
		list = append(list, sub.tablesAt(path[1:])...)
	}
	return list
}

func (t *optionTable) add(tokens []string, sets map[string][]string) {
	for _, token := range tokens {
		if name, ok := strings.CutPrefix(token, "+"); ok {
			t.add(sets[name], sets)
			continue
		}
		if name, ok := strings.CutPrefix(token, "%"); ok {
			*map[string]*bool{
				"words": &t.words, "goals": &t.goals, "bundled": &t.bundled, "single": &t.single, "free": &t.free,
			}[name] = true
			continue
		}
		var o option
		token, o.runs = strings.CutPrefix(token, "!")
		token, o.output = strings.CutPrefix(token, ">")
		token, o.spelled = strings.CutPrefix(token, "?")
		if token[0] == '/' {
			t.patterns = append(t.patterns, wordPattern{regexp.MustCompile(token[1 : len(token)-1]), o.runs, o.output})
			continue
		}
		if i := strings.IndexAny(token, ":=;"); i > 0 {
			class := token[i+1:]
			o.value, token = token[i], token[:i]
			o.inside, o.ambiguous, o.output = class == "inside", class == "lines", class == "output"
			if known, ok := valueClasses[class]; ok {
				o.fits = regexp.MustCompile("^(" + known + ")$")
			} else if class != "" && !o.inside && !o.output {
				o.fits = regexp.MustCompile("^(" + strings.ReplaceAll(regexp.QuoteMeta(class), ",", "|") + ")$")
			}
		}
		t.options[token] = o
	}
}

// runsCode reports whether some option of a program runs code that is not in the command.
func (t *optionTable) runsCode() bool {
	runs := func(o option) bool { return o.runs }
	return t != nil && slices.ContainsFunc(slices.Collect(maps.Values(t.options)), runs)
}
