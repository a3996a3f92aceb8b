package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Temporary stands for the path of a file that mktemp makes: its name is new, and in the folder for
// temporary files. If mktemp fails, it is empty.
const Temporary = "/tmp/tmp.XXXXXXXXXX"

var (
	// temporaryOptions match what mktemp may get to make its file there: options, and templates
	// without a folder, which need -t or --tmpdir.
	temporaryOptions = regexp.MustCompile(`^(-[dqu]*t?|--(directory|quiet|dry-run|tmpdir|suffix=[\w.-]*))$`)
	temporaryName    = regexp.MustCompile(`^[\w.-]+$`)
	temporaryPath    = regexp.MustCompile(`^/tmp/[\w.-]+$`)
	// cleanup matches the text of a trap that only removes files, which changes no variable.
	cleanup = regexp.MustCompile(`^\s*rm( +-[rRfv]+)*( +--)?( +[\w."${}/-]+)+\s*;?\s*$`)
	// settings match the words of set that affect neither folders nor variables.
	settings = regexp.MustCompile(`^([-+][euxv]*o?|pipefail|errexit|nounset|xtrace)$`)
)

// exitSignals are those after which a shell that has trapped them ends, or goes on as before.
var exitSignals = []string{"0", "EXIT", "INT", "TERM", "HUP", "QUIT", "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "1", "2", "3", "15"}

// isTemporary reports whether a word is the path of a new temporary file: $(mktemp), without a
// template outside of the folder for such files.
func (t tracer) isTemporary(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	s, ok := part.(*syntax.CmdSubst)
	if !ok || len(s.Stmts) != 1 || s.Stmts[0].Background || s.Stmts[0].Negated || len(s.Stmts[0].Redirs) > 0 {
		return false
	}
	c, ok := s.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Assigns) > 0 || len(c.Args) == 0 || t.a.trace.moves {
		return false
	}
	isNamed, isInFolder := false, false
	for i, arg := range c.Args {
		switch d := t.a.word(arg); {
		case !d.Plain(), i == 0 && d.Text != "mktemp":
			return false
		case i == 0:
		case temporaryOptions.MatchString(d.Text):
			isInFolder = isInFolder || d.Text == "--tmpdir" || d.Text[1] != '-' && strings.HasSuffix(d.Text, "t")
		case temporaryPath.MatchString(d.Text) && path.Clean(d.Text) == d.Text:
			isInFolder = true
		case temporaryName.MatchString(d.Text) && d.Text[0] != '-':
			isNamed = true
		default:
			return false
		}
	}
	return isInFolder || !isNamed
}

// isTemporaryPath reports whether the value of a word is such a path, or one of a file directly in
// such a folder. Deeper ones are left out: if mktemp fails, they begin at the root.
func isTemporaryPath(value string) bool {
	rest, ok := strings.CutPrefix(value, Temporary)
	return ok && (rest == "" || temporaryPath.MatchString("/tmp"+rest) || temporaryName.MatchString(rest)) && !strings.Contains(rest, "..")
}

// isCleanup reports whether a command traps the end of the shell to remove temporary files: the
// commands from index from on are those of its text. The text is run later, so that the variables
// in it must be set only once.
func (t tracer) isCleanup(c Command, from int) bool {
	if len(c.Words) < 3 || !cleanup.MatchString(c.Words[1].Text) || c.Words[1].Dynamic {
		return false
	}
	for _, name := range variables.FindAllStringSubmatch(c.Words[1].Text, -1) {
		if t.a.trace.sets[name[1]] != 1 {
			return false
		}
	}
	isOther := func(w Word) bool {
		return !w.Plain() || !slices.Contains([]string{"rm", "--"}, w.Text) && w.Text[0] != '-' && !isTemporaryPath(w.Text)
	}
	return !slices.ContainsFunc(c.Words[2:], func(w Word) bool { return !w.Plain() || !slices.Contains(exitSignals, w.Text) }) &&
		!slices.ContainsFunc(t.a.facts.Commands[from:], func(c Command) bool { return !c.Guess && slices.ContainsFunc(c.Words, isOther) })
}

var variables = regexp.MustCompile(`\$\{?(\w+)`)

// isTransparent reports whether a command that often hides what folders and variables are does not.
func (t tracer) isTransparent(name string, args []*syntax.Word) bool {
	switch name {
	case "set":
		return !slices.ContainsFunc(args, func(w *syntax.Word) bool { d := t.a.word(w); return !d.Plain() || !settings.MatchString(d.Text) })
	case "trap":
		return len(args) > 1 && !t.a.word(args[0]).Dynamic && cleanup.MatchString(t.a.word(args[0]).Text)
	}
	return false
}
