package policy

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fairlead/gateway/peer/shell"
)

//go:embed programs/accesses.txt
var accessesText string

var accessLines = sync.OnceValue(func() map[string][]accessLine { return parseAccesses(accessesText) })

// accessLine describes the accesses of a program's calls that meet all conditions.
type accessLine struct {
	subs       [][]string // the alternatives for each subcommand
	conditions []string
	accesses   []accessTemplate
	continues  bool   // the search for further lines continues
	takes      string // the short options that have a value; such a line has nothing else
}

type accessTemplate struct {
	access
	targets []string
	then    bool // only if the access before it has a target
}

type verb struct {
	tools []string // the tools whose rules apply
	text  string   // for a reason, followed by the folder
}

// verbs are the kinds of accesses in the table.
var verbs = map[string]verb{
	"search": {reading, "Searches"}, "pack": {reading, "Packs"}, "send": {reading, "Sends"}, "show": {reading, "Publishes"},
	"copy": {reading, "Copies"}, "list": {reading, "Reads files of a list in"},
	"write": {writing, "Writes to"}, "change": {writing, "Changes files in"}, "restore": {writing, "Restores files in"},
	"clear": {writing, "Clears"}, "stash": {writing, "Stashes files in"}, "reach": {writing, "Changes everything in"},
	"take": {anyAccess, "Moves or removes"}, "rename": {anyAccess, "Renames files in"}, "link": {anyAccess, "Links to"},
	"extract": {anyAccess, "Writes to"},
	"give":    {anyAccess, "Gives a container"}, "show-container": {reading, "Shows a container"},
	"service":     {anyAccess, "May let a service of the machine access"},
	"start-later": {nil, "sets up a program that starts by itself"},
	"configure":   {nil, "config changes which programs git runs"},
	"remove":      {anyAccess, "Removes files in"}, "pass": {anyAccess, "Passes on files in"}, "read": {reading, "Reads files in"},
}

// parseAccesses parses the table; the first lines of accesses.txt describe its format.
func parseAccesses(text string) map[string][]accessLine {
	m := map[string][]accessLine{}
	for _, line := range shell.TableLines(text) {
		l, programs, rest := parseHead(line)
		for text := range strings.SplitSeq(rest, ";") {
			if words := strings.Fields(text); len(words) > 0 {
				l.accesses = append(l.accesses, parseTemplate(words))
			}
		}
		for _, program := range programs {
			m[program] = append(m[program], l)
		}
	}
	return m
}

// parseHead parses a line up to its colon, and returns the rest.
func parseHead(line string) (l accessLine, programs []string, rest string) {
	line, l.continues = strings.CutPrefix(line, "+")
	head, rest, _ := strings.Cut(line+" ", ": ")
	fields := strings.Fields(head)
	if i := slices.Index(fields, "takes"); i >= 0 {
		fields, l.takes = fields[:i], fields[i+1]
	}
	for _, f := range fields[1:] {
		if strings.ContainsAny(f[:1], "-!@=") || strings.ContainsAny(f, "=<>") {
			l.conditions = append(l.conditions, f)
		} else {
			l.subs = append(l.subs, strings.Split(f, "|"))
		}
	}
	return l, strings.Split(fields[0], "|"), rest
}

func parseTemplate(words []string) accessTemplate {
	t := accessTemplate{access: access{verb: words[0]}}
	for _, w := range words[1:] {
		flag := map[string]*bool{"+file": &t.file, "+sure": &t.sure, "+dotless": &t.dotless, "+then": &t.then}[w]
		if only, ok := strings.CutPrefix(w, "only="); ok {
			t.only = only
		} else if flag != nil {
			*flag = true
		} else {
			t.targets = append(t.targets, w)
		}
	}
	return t
}

type invocation struct {
	name  string
	words []shell.Word // after the program, or after git's subcommand
	ops   []shell.Word // those that are not options, starting with the subcommand
	takes string
	top   shell.Word   // the folder in which git works
	trees []shell.Word // further work trees that git's options name
	args  []shell.Word // ops without the subcommands of the line
}

func newInvocation(name string, words []shell.Word) invocation {
	in := invocation{name: name[strings.IndexByte(name, ':')+1:], words: words, top: currentFolder}
	sub := ""
	if in.name == "git" {
		i := shell.GitSubcommand(append([]shell.Word{{}}, words...)) - 1
		if i >= len(words) {
			return in
		}
		in.trees = values(words[:i], "--work-tree")
		for _, v := range values(words[:i], "-C") {
			in.top = under(in.top, v)
		}
		sub, in.words, in.ops = words[i].Text, words[i+1:], words[i:i+1]
	}
	for _, l := range accessLines()[name] {
		if l.takes != "" && (len(l.subs) == 0 || l.subs[0][0] == sub) {
			in.takes = l.takes
		}
	}
	if isTar[name] {
		in.words = modernOptions(words, in.takes)
	}
	in.ops = append(slices.Clone(in.ops), operands(in.words, in.takes)...)
	if shorter := withoutCommandGroup(name, in.ops); shorter != nil {
		in.ops = shorter
	}
	return in
}

func tableAccesses(name string, words []shell.Word) (list []access) {
	if accessLines()[name] == nil {
		return nil // most programs have no lines
	}
	in := newInvocation(name, words)
	for _, l := range accessLines()[name] {
		if l.takes != "" || !in.meets(l) {
			continue
		}
		count := 0
		for _, t := range l.accesses {
			if t.then && count == 0 {
				continue
			}
			before := len(list)
			for _, target := range t.targets {
				list = append(list, in.target(t.access, target)...)
			}
			count = len(list) - before
		}
		if !l.continues {
			break
		}
	}
	return list
}

// meets reports whether the invocation has a line's subcommands and conditions. It sets args.
func (in *invocation) meets(l accessLine) bool {
	if len(in.ops) < len(l.subs) {
		return false
	}
	for i, alternatives := range l.subs {
		if !in.isSub(in.ops[i], alternatives, len(l.accesses) > 0) {
			return false
		}
	}
	in.args = in.ops[len(l.subs):]
	for _, c := range l.conditions {
		plain, negated := strings.CutPrefix(c, "!")
		// What exempts a call from an access must be an option for certain, and so precede --.
		if in.holds(plain, negated || len(l.accesses) == 0) == negated {
			return false
		}
	}
	return true
}

func (in *invocation) isSub(w shell.Word, alternatives []string, accesses bool) bool {
	if w.Dynamic && in.name == "git" {
		return accesses
	}
	v := vocabularies[in.name]
	sub := v.fullName(w.Text)
	isAbbreviated := accesses && v.prefixes && v.names == nil && len(sub) > 1
	return slices.ContainsFunc(alternatives, func(a string) bool {
		begin, open := strings.CutSuffix(a, "*")
		return a == sub || isAbbreviated && strings.HasPrefix(a, sub) || open && strings.HasPrefix(strings.TrimPrefix(sub, "-"), begin)
	})
}

// holds evaluates a condition of the table; with exempts, options after -- do not count.
func (in *invocation) holds(c string, exempts bool) bool {
	kind, list, _ := strings.Cut(c, "=")
	alternatives := strings.Split(list, ",")
	switch {
	case kind == "word":
		return hasWord(in.words, alternatives...)
	case kind == "any":
		i := slices.IndexFunc(in.ops, func(w shell.Word) bool { return slices.Contains(alternatives, w.Text) })
		if i >= 0 {
			in.args = in.ops[i+1:]
		}
		return i >= 0
	case strings.HasPrefix(c, "args"):
		return compare(len(in.args), c[len("args"):])
	case strings.HasPrefix(c, "words"):
		return compare(len(in.words), c[len("words"):])
	case c == "--":
		return len(in.after()) > 0
	case c[0] == '@':
		return accessChecks[c[1:]](in.words)
	case c[0] == '=':
		return len(values(in.words, c[1:])) > 0
	}
	words := in.words
	if i := doubleDash(words); exempts && i >= 0 {
		words = words[:i]
	}
	return slices.ContainsFunc(strings.Split(c, ","), func(option string) bool {
		if begin, open := strings.CutSuffix(option, "*"); open {
			return hasBeginning(words, begin)
		}
		return hasOption(words, option, in.takes)
	})
}

func compare(n int, condition string) bool {
	want, _ := strconv.Atoi(condition[1:])
	return cmp.Compare(n, want) == map[byte]int{'<': -1, '=': 0, '>': 1}[condition[0]]
}

func doubleDash(words []shell.Word) int {
	return slices.IndexFunc(words, func(w shell.Word) bool { return w.Text == "--" && !w.Dynamic })
}

func (in *invocation) after() []shell.Word {
	if i := doubleDash(in.words); i >= 0 {
		return in.words[i+1:]
	}
	return nil
}

// target returns the accesses of one target of the table.
func (in *invocation) target(a access, target string) (list []access) {
	target, standard, _ := strings.Cut(target, "?")
	target, folders := strings.CutSuffix(target, "~")
	target, begins := strings.CutSuffix(target, "*")
	any := false
	add := func(words ...shell.Word) {
		for _, w := range words {
			any = true
			if begins {
				w.Text, w.Glob = w.Text+"*", true
			}
			if !folders || isFolder(w) || w.Dynamic && a.verb == "change" {
				a.word = w
				list = append(list, a)
			}
		}
	}
	name, bounds, _ := strings.Cut(target, "[")
	switch {
	case target == ".":
		add(in.top)
	case target == "tree":
		a.tree = true
		add(append([]shell.Word{in.top}, in.trees...)...)
	case name == "args", name == "local":
		for _, w := range slice(in.args, bounds) {
			if !strings.Contains(w.Text, "://") && !(name == "local" && (w.Dynamic || strings.Contains(w.Text, ":"))) {
				w.Text = strings.TrimSuffix(w.Text, "/...") // of Go
				add(under(in.top, w))
			}
		}
	case name == "specs":
		list = in.specs(a, slice(in.args, bounds))
	case target == "after":
		list = in.specs(a, in.after())
	case target == "starts":
		add(findStarts(in.words)...)
	case target == "downloads":
		add(downloads(in.words)...)
	case target == "mounts":
		list = mountedFolders(in.words)
	case target == "clone":
		add(cloneFolders(in.args, in.top)...)
	case isFlag(target):
		at := in.top
		for _, v := range values(in.words, target) {
			if _, dest, ok := strings.Cut(v.Text, "dest="); ok { // type=local,dest=FOLDER
				dest, _, _ = strings.Cut(dest, ",")
				v = part(v, dest)
			}
			add(under(in.top, v))
			if at = under(at, v); at.Text != v.Text { // it may be relative to the one before
				add(at)
			}
		}
	default:
		add(shell.Word{Text: target})
	}
	if !any && len(list) == 0 && standard != "" {
		return in.target(a, standard)
	}
	return list
}

func slice(list []shell.Word, bounds string) []shell.Word {
	switch n := len(list); bounds {
	case "0]":
		return list[:min(n, 1)]
	case "1:]":
		return list[min(n, 1):]
	case ":-1]":
		return list[:max(n-1, 0)]
	case "-1]":
		return list[max(n-1, 0):]
	}
	return list
}

// specs returns the accesses of git's path patterns, whose wildcards match across folders.
func (in *invocation) specs(a access, words []shell.Word) (list []access) {
	for _, w := range words {
		a := a
		a.word = under(in.top, w)
		if strings.HasPrefix(w.Text, ":") || hasWildcard(w.Text) {
			a.word, a.tree = in.top, true
			if last := path.Base(w.Text); !strings.HasPrefix(w.Text, ":") && !strings.ContainsAny(last, `[\`) {
				a.only = strings.ToLower(last)
			}
		} else if !w.Dynamic && !maybeFolder(w.Text) {
			continue // the file is checked by its name
		}
		list = append(list, a)
		for _, tree := range in.trees {
			a.word = under(tree, w)
			list = append(list, a)
		}
	}
	return list
}

var isTar = set("tar gtar bsdtar star")

// modernOptions spells the options of tar's oldest syntax, as in xfC FILE FOLDER, with dashes.
func modernOptions(words []shell.Word, takes string) (list []shell.Word) {
	if len(words) == 0 || isFlag(words[0].Text) || words[0].Dynamic {
		return words
	}
	rest := words[1:]
	for _, letter := range words[0].Text {
		list = append(list, shell.Word{Text: "-" + string(letter)})
		if strings.ContainsRune(takes, letter) && len(rest) > 0 {
			list, rest = append(list, rest[0]), rest[1:]
		}
	}
	return append(list, rest...)
}

// downloads returns the files that curl names by their addresses.
func downloads(words []shell.Word) (list []shell.Word) {
	to, _ := valueOf(words, "--output-dir")
	for _, w := range words {
		address, _, _ := strings.Cut(w.Text, "?")
		if name := path.Base(address); strings.ContainsAny(address, "{[") || w.Dynamic {
			list = append(list, shell.Word{Text: path.Join(to.Text, "*"), Glob: true})
		} else if strings.Contains(address, "/") && !isFlag(address) && name != "/" {
			list = append(list, under(to, part(w, name)))
		}
	}
	return list
}

// cloneFolders returns the folders into which a repository may be cloned, whatever the options are.
func cloneFolders(words []shell.Word, top shell.Word) (list []shell.Word) {
	for _, w := range words {
		if !strings.Contains(w.Text, "://") {
			list = append(list, under(top, w))
		}
		plain := strings.TrimRight(w.Text, "/")
		if i := strings.LastIndexAny(plain, "/:"); i >= 0 {
			list = append(list, under(top, part(w, strings.TrimSuffix(plain[i+1:], ".git"))))
		}
	}
	return list
}
