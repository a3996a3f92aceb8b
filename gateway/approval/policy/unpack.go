package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/approval/shell"
)

// area is a folder that a command reads or writes as a whole: which files of it is not in the command.
type area struct {
	word  shell.Word
	tools []string // as whose calls that counts
	why   string   // what happens to the folder
	// dotless says that what starts with a dot is not among them.
	dotless bool
	only    string // what the files' names must be like; "" is any
}

var (
	reading = anyAccess[2:]
	writing = anyAccess[:2]
)

// areas are the folders that a command takes as a whole: what it moves, copies, removes, packs or searches with all that is in it, and where it puts
// what it unpacks.
func areas(c shell.Command) (list []area) {
	name := base(c.Words[0].Text)
	words := c.Words[1:]
	add := func(w shell.Word, tools []string, why string) {
		if !w.Dynamic && maybeFolder(w.Text) {
			list = append(list, area{word: w, tools: tools, why: why})
		}
	}
	all := func(tools []string, why string, values string) {
		for _, w := range operands(words, values) {
			add(w, tools, why)
		}
	}
	recursive := given(glob{parts: []string{"-r"}}, words) || given(glob{parts: []string{"-a"}}, words) || given(glob{parts: []string{"--archive"}}, words)
	switch name {
	case "mv", "trash", "trash-put", "rmtrash", "gio", "gvfs-trash", "rename":
		all(anyAccess, "would take", "tS")
	case "rm", "srm", "chmod", "chown", "chgrp":
		if recursive {
			all(writing, "would reach", "")
		}
	case "cp", "scp", "gcp", "rsync", "ditto", "rclone", "robocopy", "xcopy":
		values := "efBTM"
		if name == "cp" || name == "scp" || name == "gcp" {
			if !recursive {
				return nil
			}
			values = "tSPioFcJlDX"
		}
		all := operands(words, values)
		for _, w := range all[:max(len(all)-1, 0)] {
			add(w, reading, "would copy")
		}
		if len(list) > 0 { // else only files
			add(all[len(all)-1], writing, "may write")
		}
	case "ln":
		all(reading, "would make another way to", "tS")
	case "grep", "egrep", "fgrep", "rgrep", "diff", "rg", "ag", "ack":
		list = searched(name, words)
	case "find", "gfind", "fd", "fdfind":
		list = found(words)
	case "git":
		list = gitAreas(c)
	default:
		list = packed(name, c)
	}
	return list
}

// operands are the words that are no options; values are the short options whose value is the next word.
func operands(words []shell.Word, values string) (list []shell.Word) {
	ended := false
	for i := 0; i < len(words); i++ {
		t := words[i].Text
		switch {
		case ended || !isFlag(t) || words[i].Dynamic:
			list = append(list, words[i])
		case t == "--":
			ended = true
		case len(t) == 2 && strings.Contains(values, t[1:]):
			i++
		}
	}
	return list
}

// searched are the folders that a program looks through for a text.
func searched(name string, words []shell.Word) (list []area) {
	deep, dots := name == "rgrep", true
	switch name {
	case "rg", "ag", "ack":
		deep, dots = true, false
		for _, w := range words {
			t := w.Text
			dots = dots || strings.HasPrefix(t, "--hid") || strings.HasPrefix(t, "--unr") || strings.HasPrefix(t, "--all") || strings.HasPrefix(t, "--no-ig") ||
				isFlag(t) && t[1] != '-' && strings.ContainsAny(t, "u.at")
			if t == "--files" || t == "--type-list" { // names only
				return nil
			}
		}
	default:
		deep = deep || given(glob{parts: []string{"-r"}}, words)
		for _, w := range words {
			deep = deep || strings.HasPrefix(w.Text, "--dir") || strings.HasPrefix(w.Text, "-d")
		}
	}
	if !deep {
		return nil
	}
	rest := operands(words, "efgtTABCmdDEjMr")
	if name != "diff" && len(rest) > 0 && !hasOption(words, 'e', "--regexp") && !hasOption(words, 'f', "--file") {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		rest = []shell.Word{{Text: "."}}
	}
	for _, w := range rest {
		if !w.Dynamic && maybeFolder(w.Text) {
			list = append(list, area{word: w, tools: reading, why: "would search", dotless: !dots})
		}
	}
	return list
}

func hasOption(words []shell.Word, letter byte, long string) bool {
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && w.Text[1] != '-' && strings.IndexByte(w.Text, letter) > 0 || len(name) > 3 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return false
}

// found are the folders whose files find gives to a program or removes.
func found(words []shell.Word) (list []area) {
	acts, only, tools := "", "", reading
	for i, w := range words {
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			acts = "would hand over"
			if i+1 >= len(words) || !readers[base(words[i+1].Text)] {
				tools = anyAccess
			}
		case "-delete":
			acts, tools = "would remove", anyAccess
		case "-name", "-iname":
			if i+1 < len(words) && words[i+1].Plain() && only == "" {
				only = strings.ToLower(words[i+1].Text)
			}
		case "-o", "-or", ",", "!", "-not":
			only = "*"
		}
	}
	if acts == "" {
		return nil
	}
	for _, w := range words {
		if isFlag(w.Text) || w.Text == "(" || w.Text == "!" {
			if len(list) > 0 || w.Text != "-H" && w.Text != "-L" && w.Text != "-P" {
				break
			}
			continue
		}
		if !w.Dynamic {
			list = append(list, area{word: w, tools: tools, why: acts, only: only})
		}
	}
	if len(list) == 0 {
		list = []area{{word: shell.Word{Text: "."}, tools: tools, why: acts, only: only}}
	}
	return list
}

// gitAreas are the folders that git changes by what a patch says, or clears.
func gitAreas(c shell.Command) []area {
	i := shell.GitSub(c.Words)
	if i >= len(c.Words) {
		return nil
	}
	top := shell.Word{Text: "."}
	for k := 1; k < i; k++ {
		if c.Words[k].Text == "-C" && k+1 < i {
			top = c.Words[k+1]
		}
	}
	rest := c.Words[i+1:]
	switch c.Words[i].Text {
	case "apply", "am":
		if hasLong(rest, "--stat") || hasLong(rest, "--check") || hasLong(rest, "--numstat") || hasLong(rest, "--summary") || hasLong(rest, "--cached") {
			return nil
		}
		if v, ok := valueOf(rest, 0, "--directory"); ok {
			v.Text = path.Join(top.Text, v.Text)
			top = v
		}
		return []area{{word: top, tools: writing, why: "may write"}}
	case "clean":
		if hasOption(rest, 'n', "--dry-run") {
			return nil
		}
		return []area{{word: top, tools: writing, why: "would clear"}}
	case "stash":
		if hasOption(rest, 'u', "--include-untracked") || hasOption(rest, 'a', "--all") {
			return []area{{word: top, tools: anyAccess, why: "would put away"}}
		}
	}
	return nil
}

func hasLong(words []shell.Word, long string) bool {
	for _, w := range words {
		if w.Text == long {
			return true
		}
	}
	return false
}

// covers looks for a rule about something in a folder that a command takes as a whole. What is in it is not known here, so it asks.
func (j *judging) covers(c shell.Command) (v Verdict, found *rule, why string) {
	for _, a := range areas(c) {
		list, known := j.place.paths(a.word)
		for _, r := range j.paths {
			if !slices.ContainsFunc(a.tools, func(t string) bool { return j.applies(r, t) }) || a.dotless && r.path.dotted() || a.only != "" && !r.path.ends(a.only) {
				continue
			}
			hit := !known && len(list) == 0
			for _, f := range list {
				hit = hit || r.path.match(f, j.place.root, j.place.home, true) || r.path.within(f, j.place.root, j.place.home, a.word.Glob) != none
			}
			if hit {
				return Ask, r, "it " + a.why + " files that nobody can name from here, and " + r.ID + " is about some: " + short(r.Path)
			}
		}
	}
	return "", nil, ""
}

// dotted reports whether all that the pattern is about starts with a dot or lies in a folder that does.
func (g pathGlob) dotted() bool {
	return slices.ContainsFunc(g.parts, func(p string) bool { return len(p) > 1 && p[0] == '.' })
}

// ends reports whether a file that the pattern is about may have a name like only.
func (g pathGlob) ends(only string) bool {
	last := g.parts[len(g.parts)-1]
	return last == "**" || meetPart(strings.ToLower(last), only)
}

// copiers put what they are given under its own name into a folder that is there.
// takers are programs that take folders with all that is in them away.
var takers = set("rm mv trash trash-put gio rmtrash srm")

var copiers = set("cp mv ln install rsync scp gcp ginstall")

// arrives looks for a rule about the name that a file gets in the folder that it is copied to. sure says that it is that file if the last word is a folder.
func (j *judging) arrives(c shell.Command, name string) (found *rule, sure bool, why string) {
	if !copiers[name] {
		return nil, false, ""
	}
	list := operands(c.Words[1:], "tSgmo")
	to, ok := valueOf(c.Words[1:], 't', "--target-directory")
	if !ok || name == "rsync" || name == "scp" {
		if len(list) < 2 {
			return nil, false, ""
		}
		to, list = list[len(list)-1], list[:len(list)-1]
	}
	if to.Dynamic {
		return nil, false, ""
	}
	for _, w := range list {
		if w.Dynamic || w.Text == "" {
			continue
		}
		at := to
		at.Text, at.Glob = path.Join(to.Text, path.Base(w.Text)), w.Glob || to.Glob
		files, _ := j.place.paths(at)
		for _, r := range j.paths {
			for _, f := range files {
				if (r.path.match(f, j.place.root, j.place.home, true) || at.Glob && r.path.mayMeet(f, j.place.root, j.place.home)) &&
					(j.applies(r, "Write") || j.applies(r, "Edit")) {
					return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "as " + short(at.Text) + " it may be what a rule is about; " + ruleReason(r)
				}
			}
		}
	}
	return nil, false, ""
}
