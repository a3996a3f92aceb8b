package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// gitCall is a git command whose areas are determined.
type gitCall struct {
	rest []shell.Word // after the subcommand
	top  shell.Word   // the folder in which git works
	more []shell.Word // work trees that its options name
}

// gitAreas returns the folders that git clears, or writes with the contents of a commit, a patch or
// another repository.
func gitAreas(c shell.Command) []area {
	i := shell.GitSub(c.Words)
	if i >= len(c.Words) {
		return nil
	}
	g := gitCall{rest: c.Words[i+1:], top: shell.Word{Text: "."}}
	g.where(c.Words[1:i])
	if len(g.rest) == 1 && (g.rest[0].Text == "-h" || g.rest[0].Text == "--help") {
		return nil
	}
	switch sub := c.Words[i].Text; sub {
	case "checkout":
		return g.checkout()
	case "switch":
		return g.switched()
	case "restore":
		return g.restored()
	case "apply":
		return g.applied()
	case "clean":
		return g.cleaned()
	case "reset":
		return g.reset()
	case "pull":
		if hasLong(g.rest, "--dry-run") && !g.negated() {
			return nil
		}
		return g.whole("may write")
	case "merge", "rebase", "cherry-pick", "revert", "am":
		return g.merged(sub)
	case "mv", "rm":
		return g.specs(operands(g.rest, ""), anyAccess, "would take")
	case "grep":
		return g.searched()
	case "archive":
		return g.archived()
	default:
		return g.others(sub)
	}
}

// where parses the options before the subcommand that set the folders in which git works.
func (g *gitCall) where(options []shell.Word) {
	for k, w := range options {
		if v, ok := strings.CutPrefix(w.Text, "--work-tree="); ok {
			g.more = append(g.more, part(w, v))
		}
		if k+1 < len(options) && w.Text == "-C" {
			g.top = under(g.top, options[k+1])
		}
		if k+1 < len(options) && w.Text == "--work-tree" {
			g.more = append(g.more, options[k+1])
		}
	}
}

// switched: creating a branch at the current commit changes no file.
func (g gitCall) switched() []area {
	created := hasLong(g.rest, "-c") || hasLong(g.rest, "-C") || hasLong(g.rest, "--create") || hasLong(g.rest, "--force-create")
	if n := len(operands(g.rest, "")); created && n < 2 && !g.has("", 'f', "--force") && !hasLong(g.rest, "--discard-changes") {
		return nil
	}
	return g.whole("may write")
}

func (g gitCall) restored() []area {
	if g.has("sU", 'S', "--staged") && !g.has("sU", 'W', "--worktree") && !g.negated() {
		return nil
	}
	before, after, _ := g.sides("sU")
	return g.specs(append(before, after...), writing, "would take back")
}

func (g gitCall) applied() []area {
	dry := hasLong(g.rest, "--stat") || hasLong(g.rest, "--check") || hasLong(g.rest, "--numstat") || hasLong(g.rest, "--summary") || hasLong(g.rest, "--cached")
	if dry && !g.negated() && !hasBeginning(g.rest, "--app") {
		return nil
	}
	if v, ok := valueOf(g.rest, 0, "--directory"); ok {
		g.more = append(g.more, under(g.top, v))
	}
	return g.whole("may write")
}

func (g gitCall) cleaned() []area {
	if g.has("e", 'n', "--dry-run") && !g.negated() {
		return nil
	}
	before, after, _ := g.sides("e")
	if list := append(before, after...); len(list) > 0 {
		return g.specs(list, writing, "would clear")
	}
	return g.whole("would clear")
}

// reset changes no files unless an option says so.
func (g gitCall) reset() []area {
	for _, w := range g.rest {
		if w.Dynamic || begins("--hard", w.Text, 3) || begins("--merge", w.Text, 4) || begins("--keep", w.Text, 3) {
			return g.whole("may write")
		}
	}
	return nil
}

// merged handles commands that merge commits, except those that only report, or that end a merge
// without changing files.
func (g gitCall) merged(sub string) []area {
	if len(g.rest) == 1 {
		switch t := g.rest[0].Text; {
		case t == "--quit", t == "--edit-todo", t == "--show-current-patch", t == "--continue" && sub == "merge":
			return nil
		}
	}
	return g.whole("may write")
}

func (g gitCall) archived() []area {
	if hasLong(g.rest, "-l") || hasLong(g.rest, "--list") {
		return nil
	}
	if list := operands(g.rest, "o"); len(list) > 1 {
		return g.specs(list[1:], reading, "would pack")
	}
	return []area{{word: g.top, tools: reading, why: "would pack", tree: true}}
}

// others handles git's commands with subcommands, and those that always write.
func (g gitCall) others(sub string) []area {
	do := ""
	if list := operands(g.rest, ""); len(list) > 0 {
		do = list[0].Text
		if list[0].Dynamic {
			do = "?"
		}
	}
	switch sub {
	case "stash":
		if list, ok := g.stashed(do); ok {
			return list
		}
	case "worktree":
		if do != "add" && do != "move" && do != "remove" {
			return nil
		}
		return g.specs(operands(g.rest, "bB")[1:], writing, "may write")
	case "submodule":
		if do != "update" && do != "add" && do != "deinit" && do != "foreach" && do != "?" {
			return nil
		}
	case "clone":
		return cloned(operands(g.rest, "bocuj"), g.top)
	case "bisect":
		if do == "log" || do == "view" || do == "visualize" || do == "terms" || do == "" {
			return nil
		}
	case "sparse-checkout":
		if do == "list" || do == "" {
			return nil
		}
	case "lfs":
		if do != "pull" && do != "checkout" && do != "migrate" && do != "?" {
			return nil
		}
	case "rerere":
		if do != "" {
			return nil
		}
	case "read-tree":
		if !hasOption(g.rest, 'u', "") && !hasOption(g.rest, 0, "--reset") {
			return nil
		}
	case "checkout-index":
		if v, ok := valueOf(g.rest, 0, "--prefix"); ok {
			g.more = append(g.more, under(g.top, v))
		}
	case "subtree", "svn", "p4", "filter-branch", "filter-repo", "mergetool", "merge-index", "merge-one-file", "checkout--worker", "replay", "history":
	default:
		return nil
	}
	return g.whole("may write")
}

// stashed handles the subcommands of git stash that save or read; ok is false for those that
// restore files, and so write them.
func (g gitCall) stashed(do string) (list []area, ok bool) {
	switch do {
	case "list", "show", "drop", "clear", "create", "store", "export", "import":
		return nil, true
	case "", "push", "save":
	default:
		return nil, false
	}
	tools := writing
	if g.has("m", 'u', "--include-untracked") || g.has("m", 'a', "--all") {
		tools = anyAccess
	}
	if _, after, ended := g.sides("m"); ended && len(after) > 0 {
		return g.specs(after, tools, "would put away"), true
	}
	list = g.whole("would put away")
	for i := range list {
		list[i].tools = tools
	}
	return list, true
}

// checkout distinguishes a branch from files: a single word may be a branch, and then any file may
// change.
func (g gitCall) checkout() []area {
	before, after, ended := g.sides("bBU")
	if hasBeginning(g.rest, "--pathspec-f") {
		return g.whole("would take back")
	}
	if ended && len(after) > 0 {
		return g.specs(after, writing, "would take back")
	}
	orphan := hasLong(g.rest, "--orphan")
	created := hasLong(g.rest, "-b") || hasLong(g.rest, "-B") || orphan
	n := len(before)
	switch forced := g.has("bBU", 'f', "--force") || g.has("bBU", 'p', "--patch"); {
	case forced, created && n > 1, created && n == 1 && !orphan, !created && n == 1:
		return g.whole("may write")
	case created:
		return nil
	}
	if n > 1 && revision.MatchString(before[0].Text) {
		before = before[1:]
	}
	return g.specs(before, writing, "would take back")
}

// revision matches words that are certainly not folders.
var revision = regexp.MustCompile(`^((HEAD|@|main|master)([~^].*)?|stash@\{\d+\}|[0-9a-f]{7,40})$`)

// whole returns the repository's whole work tree.
func (g gitCall) whole(why string) (list []area) {
	for _, w := range append([]shell.Word{g.top}, g.more...) {
		list = append(list, area{word: w, tools: writing, why: why, tree: true})
	}
	return list
}

// specs returns the files and folders in git's arguments. Git's own wildcards match across folders.
func (g gitCall) specs(words []shell.Word, tools []string, why string) (list []area) {
	for _, w := range words {
		a := area{word: under(g.top, w), tools: tools, why: why}
		if strings.HasPrefix(w.Text, ":") || strings.ContainsAny(w.Text, `*?[\`) {
			a.word, a.tree = g.top, true
			if last := path.Base(w.Text); !strings.HasPrefix(w.Text, ":") && !strings.ContainsAny(last, `[\`) {
				a.only = strings.ToLower(last)
			}
		} else if !w.Dynamic && !maybeFolder(w.Text) {
			continue // the file is judged by its name
		}
		list = append(list, a)
		for _, m := range g.more {
			a.word = under(m, w)
			list = append(list, a)
		}
	}
	return list
}

// searched returns the folders that git grep searches.
func (g gitCall) searched() []area {
	before, after, ended := g.sides("efABCmO")
	specs := after
	if !ended && len(before) > 0 {
		specs = before
		if !g.has("fABCmO", 'e', "") && !g.has("eABCmO", 'f', "--file") {
			specs = before[1:]
		}
	}
	if len(specs) == 0 {
		return []area{{word: g.top, tools: reading, why: "would search", tree: true}}
	}
	return g.specs(specs, reading, "would search")
}

// sides returns the operands before and after --.
func (g gitCall) sides(values string) (before, after []shell.Word, ended bool) {
	for i, w := range g.rest {
		if w.Text == "--" && !w.Dynamic {
			return operands(g.rest[:i], values), g.rest[i+1:], true
		}
	}
	return operands(g.rest, values), nil, false
}

// has reports whether an option is present; values are the short options whose value may follow in
// the same word.
func (g gitCall) has(values string, letter byte, long string) bool {
	for _, w := range g.rest {
		switch t := w.Text; {
		case t == "--":
			return false
		case w.Dynamic || !isFlag(t):
		case strings.HasPrefix(t, "--"):
			if long != "" && begins(long, t, 4) {
				return true
			}
		case strings.IndexByte(cluster(t[1:], values), letter) >= 0:
			return true
		}
	}
	return false
}

// negated reports whether some option negates another one.
func (g gitCall) negated() bool { return hasBeginning(g.rest, "--no-") }

func hasBeginning(words []shell.Word, start string) bool {
	for _, w := range words {
		if strings.HasPrefix(w.Text, start) {
			return true
		}
	}
	return false
}

// cloned returns the folders into which a repository may be cloned, whatever the values of the
// options before them are.
func cloned(words []shell.Word, top shell.Word) (list []area) {
	add := func(w shell.Word) { list = append(list, area{word: under(top, w), tools: writing, why: "may write"}) }
	for _, w := range words {
		if !strings.Contains(w.Text, "://") {
			add(w)
		}
		if i := strings.LastIndexAny(strings.TrimRight(w.Text, "/"), "/:"); i >= 0 {
			add(part(w, strings.TrimSuffix(strings.TrimRight(w.Text[i+1:], "/"), ".git")))
		}
	}
	return list
}

// part returns a piece of a word as a word.
func part(w shell.Word, text string) shell.Word {
	return shell.Word{Text: text, Dynamic: w.Dynamic, Odd: w.Odd, Glob: w.Glob, Tilde: strings.HasPrefix(text, "~")}
}

// under joins a path to a folder.
func under(dir, w shell.Word) shell.Word {
	if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") || dir.Text == "." {
		return w
	}
	w.Text = path.Join(dir.Text, w.Text)
	w.Dynamic, w.Odd, w.Tilde = w.Dynamic || dir.Dynamic, w.Odd || dir.Odd, dir.Tilde
	return w
}
