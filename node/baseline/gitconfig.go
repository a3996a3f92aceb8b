package baseline

import (
	"bytes"
	"slices"
	"strings"
)

// recorded are the settings in which Git and its commands record the state of a repository, without
// the name of a remote, branch or submodule (git-config(1)). None of them names a program.
var recorded = func() map[string]bool {
	set := map[string]bool{}
	for section, keys := range map[string]string{
		"core": "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf worktree sharedrepository " +
			"sparsecheckout sparsecheckoutcone longpaths quotepath abbrev hidedotfiles untrackedcache preloadindex trustctime",
		"extensions": "worktreeconfig objectformat refstorage compatobjectformat partialclone preciousobjects relativeworktrees",
		"remote":     "url pushurl fetch push mirror prune prunetags tagopt promisor partialclonefilter skipdefaultupdate skipfetchall followremotehead",
		"branch":     "remote merge rebase pushremote description autosetupmerge autosetuprebase", "user": "name email signingkey useconfigonly",
		"author": "name email", "committer": "name email", "submodule": "url active branch path ignore fetchrecursesubmodules recurse shallow update",
		"init": "defaultbranch", "pull": "rebase ff", "push": "default autosetupremote followtags", "fetch": "prune prunetags parallel recursesubmodules",
		"merge": "conflictstyle ff", "rebase": "autosquash autostash updaterefs", "rerere": "enabled autoupdate", "commit": "gpgsign verbose", "tag": "gpgsign sort",
		"color": "ui", "gc": "auto autodetach", "maintenance": "auto strategy", "index": "version threads sparse", "feature": "manyfiles", "status": "showuntrackedfiles",
		"lfs": "repositoryformatversion",
	} {
		for key := range strings.FieldsSeq(keys) {
			set[section+"."+key] = true
		}
	}
	return set
}()

// harmfulSettings returns the lines of a configuration of Git that may start programs, or redirect
// what does: each with its section, and everything that it does not understand.
func harmfulSettings(config []byte) (list []string) {
	header, section := "", ""
	for line := range strings.Lines(string(config)) {
		line = strings.TrimSpace(line)
		text := line
		if strings.HasPrefix(text, "[") {
			end := headerEnd(text)
			header, section = text[:end], ""
			if end > 0 {
				text = strings.TrimSpace(text[end:])
				section = strings.ToLower(strings.FieldsFunc(header, func(r rune) bool { return strings.ContainsRune("[]. \t", r) })[0])
			}
		}
		key, value, _ := strings.Cut(text, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
		switch {
		case strings.HasSuffix(line, `\`): // continues on the next line
		case text == "" || text[0] == '#' || text[0] == ';':
			continue
		case !recorded[section+"."+key]:
		case section == "submodule" && key == "update" && strings.ContainsAny(value, `!"\`):
		case strings.HasSuffix(key, "url") && strings.Contains(value, "::"): // runs a helper
		default:
			continue
		}
		list = append(list, header+" "+line)
	}
	return list
}

// headerEnd returns where the header of a section ends; 0 if it does not, or has no name.
func headerEnd(text string) int {
	quoted := false
	for i := 1; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case !quoted && text[i] == ']' && strings.Trim(text[:i], "[. \t") != "":
			return i + 1
		}
	}
	return 0
}

// hasSameEffect reports whether a new configuration of a repository starts the same programs as the
// one before, if there was one.
func hasSameEffect(before, after []byte) bool {
	const always = "repositoryformatversion"
	return slices.Equal(harmfulSettings(before), harmfulSettings(after)) && (bytes.Contains(after, []byte(always)) || !bytes.Contains(before, []byte(always)))
}

// hasNewCommands reports whether the list of an unfinished rebase has commands that were not in it
// before, and that none of the commands that run has named, as git rebase --exec does.
func hasNewCommands(before, after []byte, running []string) bool {
	known := map[string]bool{}
	for line := range strings.Lines(string(before)) {
		known[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(string(after)) {
		line = strings.TrimSpace(line)
		verb, command, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		isNamed := func(text string) bool { return strings.Contains(text, strings.TrimSpace(command)) }
		if (verb == "exec" || verb == "x") && !known[line] && !slices.ContainsFunc(running, isNamed) {
			return true
		}
	}
	return false
}
