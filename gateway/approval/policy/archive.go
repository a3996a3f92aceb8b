package policy

import (
	"strings"

	"fairlead/gateway/approval/shell"
)

// packed are the folders that an archive is made of, and those that one is unpacked into.
func packed(name string, c shell.Command) (list []area) {
	words := c.Words[1:]
	here := shell.Word{Text: "."}
	into := func(w shell.Word) { list = append(list, area{word: w, tools: writing, why: "may write"}) }
	from := func(words []shell.Word) {
		for _, w := range words {
			if !w.Dynamic && maybeFolder(w.Text) {
				list = append(list, area{word: w, tools: reading, why: "would pack"})
			}
		}
	}
	target := func(letter byte, long string) shell.Word {
		if v, ok := valueOf(words, letter, long); ok {
			return v
		}
		return here
	}
	switch name {
	case "tar", "gtar", "bsdtar", "star":
		out, in := tarMode(words)
		if in {
			at := here
			into(target('C', "--directory"))
			for _, v := range values(words, 'C', "--directory") { // each starts where the one before it led
				if at = under(at, v); at.Text != v.Text {
					into(v)
				}
				into(at)
			}
			if anywhere := (guarded{short: "P", values: tables["tar"].values, long: []string{"--absolute-names"}}); anywhere.given(words) {
				into(everywhere)
			}
			if v, ok := valueOf(words, 0, "--one-top-level"); ok {
				into(v)
			}
		}
		if out {
			if len(words) > 0 && !isFlag(words[0].Text) {
				words = words[1:]
			}
			if hasOption(words, 'T', "--files-from") {
				from([]shell.Word{here})
			}
			from(append(operands(words, "fCTXbgHKLNVI"), values(words, 'C', "--directory")...))
		}
	case "unzip", "unsquashfs", "cabextract", "unar", "lsar":
		if !hasLetter(words, "dxP", 'l', "--list") && !hasLetter(words, "dxP", 't', "--test") && !hasLetter(words, "dxP", 'Z', "") {
			into(target('d', "--dest"))
			if hasLetter(words, "dxP", ':', "") {
				into(everywhere)
			}
		}
	case "unrar", "rar", "7z", "7za", "7zz", "7zr", "ar", "jar", "arj", "lha":
		list = lettered(words, here)
	case "zip":
		if given(glob{parts: []string{"-r"}}, words) || hasOption(words, 'R', "--recurse-patterns") {
			if rest := operands(words, "btnxi"); len(rest) > 1 {
				from(rest[1:])
			}
		}
		if hasLetter(words, "btnxi", '@', "--names-stdin") {
			from([]shell.Word{here})
		}
	case "mksquashfs", "genisoimage", "mkisofs", "xorriso", "restic", "borg":
		from(operands(words, ""))
	case "cpio":
		out := hasLetter(words, "CDEFHIOMR", 'o', "--create")
		if out {
			from([]shell.Word{here}) // the names come from elsewhere
		}
		if !hasLetter(words, "CDEFHIOMR", 't', "--list") && !out {
			into(target('D', "--directory"))
			if !hasLong(words, "--no-absolute-filenames") {
				into(everywhere)
			}
			if rest := operands(words, "DEFHIOMR"); len(rest) > 0 && hasOption(words, 'p', "--pass-through") {
				into(rest[len(rest)-1])
			}
		}
	case "pax":
		if rest := operands(words, "bfsxoT"); hasOption(words, 'r', "") {
			into(here)
			if hasOption(words, 'w', "") && len(rest) > 0 {
				into(rest[len(rest)-1])
			}
		} else if hasOption(words, 'w', "") {
			from(rest)
		}
	case "patch", "gpatch":
		if !hasOption(words, 0, "--dry-run") {
			into(target('d', "--directory"))
		}
	case "dpkg", "dpkg-deb":
		if rest := operands(words, ""); len(rest) > 1 && (hasOption(words, 'x', "--extract") || hasOption(words, 'X', "--vextract") ||
			hasOption(words, 'R', "--raw-extract")) {
			into(rest[len(rest)-1])
		}
	}
	return list
}

// tarMode says whether tar reads the folders that it is given, and whether it unpacks.
func tarMode(words []shell.Word) (out, in bool) {
	letters := ""
	for i, w := range words {
		t := w.Text
		switch {
		case strings.HasPrefix(t, "--"):
			long, _, _ := strings.Cut(t, "=")
			out = out || begins("--create", long, 4) || begins("--append", long, 4) || begins("--update", long, 4)
			in = in || begins("--extract", long, 6) || begins("--get", long, 4)
		case isFlag(t):
			letters += cluster(t[1:], "fCTXbgHKLNVIF")
		case i == 0:
			letters += t // its oldest spelling has no dash
		}
	}
	return out || strings.ContainsAny(letters, "cruA"), in || strings.Contains(letters, "x")
}

// begins reports whether word is the beginning of a long option, and long enough to be no other.
func begins(long, word string, least int) bool {
	return len(word) >= least && strings.HasPrefix(long, word)
}

// cluster is a word of short options up to the first that takes a value.
func cluster(s, values string) string {
	if i := strings.IndexAny(s, values); i >= 0 {
		return s[:i]
	}
	return s
}

// lettered reads programs whose first word says what they do: 7z x, unrar e, ar x, jar xf.
func lettered(words []shell.Word, here shell.Word) (list []area) {
	rest := operands(words, "")
	if len(rest) == 0 {
		return nil
	}
	switch do := strings.TrimPrefix(rest[0].Text, "-"); {
	case strings.ContainsAny(do[:min(1, len(do))], "xe"):
		to := here
		for _, w := range words {
			if v, ok := strings.CutPrefix(w.Text, "-o"); ok && v != "" {
				to = shell.Word{Text: v, Dynamic: w.Dynamic, Odd: w.Odd}
			}
		}
		list = append(list, area{word: to, tools: writing, why: "may write"})
		if last := rest[len(rest)-1]; len(rest) > 2 && strings.HasSuffix(last.Text, "/") {
			list = append(list, area{word: last, tools: writing, why: "may write"})
		}
	case strings.ContainsAny(do[:min(1, len(do))], "auc"):
		for _, w := range rest[min(2, len(rest)):] {
			if !w.Dynamic && maybeFolder(w.Text) {
				list = append(list, area{word: w, tools: reading, why: "would pack"})
			}
		}
	}
	return list
}

// valueOf is the last value of an option, in any of its spellings.
func valueOf(words []shell.Word, letter byte, long string) (shell.Word, bool) {
	list := values(words, letter, long)
	if len(list) == 0 {
		return shell.Word{}, false
	}
	return list[len(list)-1], true
}

// values are all values of an option.
func values(words []shell.Word, letter byte, long string) (list []shell.Word) {
	for i, w := range words {
		t := w.Text
		name, v, cut := strings.Cut(t, "=")
		switch {
		case long != "" && len(name) > 3 && strings.HasPrefix(long, name) && cut:
			list = append(list, shell.Word{Text: v, Dynamic: w.Dynamic, Odd: w.Odd, Tilde: strings.HasPrefix(v, "~")})
		case long != "" && len(name) > 3 && strings.HasPrefix(long, name), letter != 0 && isFlag(t) && t[1] != '-' && t[len(t)-1] == letter:
			if i+1 < len(words) {
				list = append(list, words[i+1])
			}
		case letter != 0 && len(t) > 2 && t[0] == '-' && t[1] == letter:
			list = append(list, shell.Word{Text: t[2:], Dynamic: w.Dynamic, Odd: w.Odd, Tilde: strings.HasPrefix(t[2:], "~")})
		}
	}
	return list
}
