package policy

import (
	"slices"

	"fairlead/gateway/peer/sensitive"
	"fairlead/gateway/peer/shell"
)

// Where nothing hides secrets from commands, a broad rule for a program that reads does not cover
// them: whoever allows cat ** thinks of the files of the project. A rule that contains the word
// covers it, and so does one that allows reading the file.

// secretReason returns the reason why a command that a rule allows may show secrets that no rule
// names, or "".
func (fm *fileMatcher) secretReason(c shell.Command, cover coverage) string {
	if cover.exact || fm.call.Contained || fm.set.fallback == Allow {
		return ""
	}
	name := baseName(c.Words[0].Text)
	for _, a := range tableAccesses("shows:"+name, c.Words[1:]) {
		isSame := func(w shell.Word) bool { return w == a.word }
		if k := slices.IndexFunc(c.Words, isSame); cover.has(k) || a.word.Text == "" {
			continue
		}
		list := fm.resolver.pathsOf(a.word)
		isAllowed := func(r *rule) bool {
			return r.Verdict == Allow && fm.rules.applies(r, "Read") && fm.allowsFiles(r, "redirect", list)
		}
		if e, ok := fm.secretIn(list, a); ok && !slices.ContainsFunc(fm.set.files, isAllowed) {
			return name + " may show passwords, tokens or private data in " + shorten(a.word.Text) + " (" + e + ")"
		}
	}
	return ""
}

// secretIn returns the program whose secrets are in one of the files of an access, or below a folder
// of it.
func (fm *fileMatcher) secretIn(list []string, a access) (program string, ok bool) {
	home := fold(fm.resolver.places.home)
	for _, f := range list {
		f = fold(f)
		if _, isPublic := sensitive.Find(f, home, sensitive.Public); isPublic {
			continue
		}
		e, ok := sensitive.Find(f, home, sensitive.Secret)
		if !ok && a.verb == "search" {
			if mayContain(f, home) {
				return "programs of your home folder", true
			}
			e, ok = sensitive.FindBelow(f, home, sensitive.Secret)
		}
		if ok {
			return e.Program(), true
		}
		if a.word.Glob && matchesHidden(f, sensitive.Secret) {
			return "a hidden folder", true
		}
	}
	return "", false
}
