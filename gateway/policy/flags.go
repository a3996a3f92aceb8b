package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

func isFlag(s string) bool { return len(s) > 1 && s[0] == '-' }

// isLetters reports whether a word has short options, one letter each.
func isLetters(s string) bool { return isFlag(s) && s[1] != '-' }

// hasFlag reports whether the words contain option f: exactly, with a value, abbreviated, or as
// letters of combined options. Short options also match the long names that programs share.
func hasFlag(option string, words []shell.Word) bool {
	return hasFlagLike("", wordGlob{parts: []string{option}}, words)
}

func hasFlagLike(name string, f wordGlob, words []shell.Word) bool {
	var letters strings.Builder
	want := f.first()
	forms := slices.Concat(classes["longForms"], classes["longForms "+name]) // LETTER=--LONG
	for _, w := range words {
		if w.Text == "--" && !w.Dynamic {
			break
		}
		if !isFlag(w.Text) || w.Dynamic {
			continue
		}
		if f.match(w.Text) {
			return true
		}
		if isLetters(w.Text) {
			letters.WriteString(w.Text[1:])
			continue
		}
		opt, value, _ := strings.Cut(w.Text, "=")
		if len(opt) <= 3 {
			continue
		}
		for _, form := range forms {
			if strings.HasPrefix(form[2:], opt) {
				letters.WriteByte(form[0])
			}
		}
		if wantName, wantValue, valued := strings.Cut(want, "="); f.literal() && strings.HasPrefix(wantName, opt) && (!valued || value == wantValue) {
			return true
		}
	}
	have := letters.String()
	switch {
	case !f.literal() || len(want) > 4 && isLetters(want): // a word, such as find's -delete
		return false
	case strings.HasPrefix(want, "--"):
		return slices.ContainsFunc(forms, func(form string) bool { return form[2:] == want && strings.IndexByte(have, form[0]) >= 0 })
	}
	for i := 1; i < len(want); i++ {
		same := want[i : i+1]
		if strings.EqualFold(same, "r") {
			same = "rR"
		}
		if !strings.ContainsAny(have, same) {
			return false
		}
	}
	return true
}

// operands returns the words that are not options; values are short options with a value.
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

// hasOption reports whether an option such as "-C,--directory" is given, in any spelling.
func hasOption(words []shell.Word, option, values string) bool {
	letter, long := optionNames(option)
	return slices.ContainsFunc(words, func(w shell.Word) bool {
		name, _, _ := strings.Cut(w.Text, "=")
		return isLetters(w.Text) && strings.IndexByte(leadingLetters(w.Text[1:], values), letter) >= 0 ||
			len(name) > 2 && strings.HasPrefix(long, name)
	})
}

// hasWord reports whether one of the texts is among the words, perhaps with a value after a =.
func hasWord(words []shell.Word, list ...string) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool {
		name, _, _ := strings.Cut(w.Text, "=")
		return slices.Contains(list, name) || slices.Contains(list, w.Text)
	})
}

func hasBeginning(words []shell.Word, start string) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool { return strings.HasPrefix(w.Text, start) })
}

func hasDynamic(words []shell.Word) bool {
	return slices.ContainsFunc(words, func(w shell.Word) bool { return w.Dynamic })
}

// isPrefixOf reports whether word is an unambiguous prefix of a long option.
func isPrefixOf(long, word string, least int) bool {
	return len(word) >= least && strings.HasPrefix(long, word)
}

// leadingLetters returns the short options in a word, up to the first one with a value.
func leadingLetters(s, values string) string {
	if i := strings.IndexAny(s, values); i >= 0 {
		return s[:i+1]
	}
	return s
}

func valueOf(words []shell.Word, option string) (shell.Word, bool) {
	list := values(words, option)
	if len(list) == 0 {
		return shell.Word{}, false
	}
	return list[len(list)-1], true
}

func values(words []shell.Word, option string) (list []shell.Word) {
	letter, long := optionNames(option)
	for i, w := range words {
		t := w.Text
		name, v, cut := strings.Cut(t, "=")
		isLong := len(name) > 3 && strings.HasPrefix(long, name)
		switch {
		case isLong && cut:
			list = append(list, part(w, v))
		case isLong, letter != 0 && isLetters(t) && t[len(t)-1] == letter:
			if i+1 < len(words) {
				list = append(list, words[i+1])
			}
		case letter != 0 && isLetters(t) && t[1] == letter:
			list = append(list, part(w, t[2:]))
		}
	}
	return list
}

// optionAt returns the option at an index, and its value in the same word or the next.
func optionAt(words []shell.Word, i int) (opt string, value shell.Word) {
	opt, v, cut := strings.Cut(words[i].Text, "=")
	switch {
	case cut:
		value = part(words[i], v)
	case i+1 < len(words):
		value = words[i+1]
	}
	return opt, value
}

// part returns a piece of a word as a word.
func part(w shell.Word, text string) shell.Word {
	return shell.Word{Text: text, Dynamic: w.Dynamic, Ambiguous: w.Ambiguous, Glob: w.Glob, Tilde: strings.HasPrefix(text, "~")}
}

func under(dir, w shell.Word) shell.Word {
	if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") || dir.Text == "." {
		return w
	}
	return combine(path.Join(dir.Text, w.Text), dir, w)
}

func optionNames(option string) (letter byte, long string) {
	for name := range strings.SplitSeq(option, ",") {
		if len(name) == 2 {
			letter = name[1]
		} else {
			long = name
		}
	}
	return letter, long
}
