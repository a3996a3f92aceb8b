package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

// packed returns the folders that a command packs into an archive or unpacks one into.
func packed(name string, c shell.Command) []area {
	p := &packing{words: c.Words[1:]}
	switch name {
	case "tar", "gtar", "bsdtar", "star":
		p.tar()
	case "unzip", "unsquashfs", "cabextract", "unar", "lsar":
		p.unzip()
	case "unrar", "rar", "7z", "7za", "7zz", "7zr", "ar", "jar", "arj", "lha":
		return lettered(p.words, here)
	case "zip":
		p.zip()
	case "mksquashfs", "genisoimage", "mkisofs", "xorriso", "restic", "borg":
		p.from(operands(p.words, ""))
		if name == "borg" && hasLong(p.words, "extract") {
			p.into(here)
		}
	case "cpio":
		p.cpio()
	case "pax":
		p.pax()
	case "patch", "gpatch":
		if !hasOption(p.words, 0, "--dry-run") {
			p.into(p.target('d', "--directory"))
		}
	case "dpkg", "dpkg-deb":
		if rest := operands(p.words, ""); len(rest) > 1 && (hasOption(p.words, 'x', "--extract") || hasOption(p.words, 'X', "--vextract") ||
			hasOption(p.words, 'R', "--raw-extract")) {
			p.into(rest[len(rest)-1])
		}
	}
	return p.list
}

// here is the current folder.
var here = shell.Word{Text: "."}

// packing collects the folders that a program packs or unpacks into.
type packing struct {
	words []shell.Word // after the program
	list  []area
}

func (p *packing) into(w shell.Word) {
	p.list = append(p.list, area{word: w, tools: writing, why: "may write"})
}

func (p *packing) from(words []shell.Word) {
	for _, w := range words {
		if !w.Dynamic && maybeFolder(w.Text) {
			p.list = append(p.list, area{word: w, tools: reading, why: "would pack"})
		}
	}
}

// target returns the folder in an option's value, or the current one.
func (p *packing) target(letter byte, long string) shell.Word {
	if v, ok := valueOf(p.words, letter, long); ok {
		return v
	}
	return here
}

func (p *packing) tar() {
	out, in := tarMode(p.words)
	if in {
		at := here
		p.into(p.target('C', "--directory"))
		// each is relative to the one before
		for _, v := range values(p.words, 'C', "--directory") {
			if at = under(at, v); at.Text != v.Text {
				p.into(v)
			}
			p.into(at)
		}
		if old := p.words[0].Text; hasLetter(p.words, tarValues, 'P', "--absolute-names") || !isFlag(old) && strings.Contains(old, "P") && !strings.ContainsAny(old, "./") {
			p.into(everywhere)
		}
		if v, ok := valueOf(p.words, 0, "--one-top-level"); ok {
			p.into(v)
		}
	}
	if !out {
		return
	}
	words := p.words
	if len(words) > 0 && !isFlag(words[0].Text) {
		words = words[1:]
	}
	if hasOption(words, 'T', "--files-from") {
		p.from([]shell.Word{here})
	}
	p.from(append(operands(words, "fCTXbgHKLNVI"), values(words, 'C', "--directory")...))
}

func (p *packing) unzip() {
	if hasLetter(p.words, "dxP", 'l', "--list") || hasLetter(p.words, "dxP", 't', "--test") || hasLetter(p.words, "dxP", 'Z', "") {
		return
	}
	p.into(p.target('d', "--dest"))
	if hasLetter(p.words, "dxP", ':', "") {
		p.into(everywhere)
	}
}

func (p *packing) zip() {
	if given(glob{parts: []string{"-r"}}, p.words) || hasOption(p.words, 'R', "--recurse-patterns") {
		if rest := operands(p.words, "btnxi"); len(rest) > 1 {
			p.from(rest[1:])
		}
	}
	if hasLetter(p.words, "btnxi", '@', "--names-stdin") {
		p.from([]shell.Word{here})
	}
}

func (p *packing) cpio() {
	if hasLetter(p.words, "CDEFHIOMR", 'o', "--create") {
		p.from([]shell.Word{here}) // the names come from another source
		return
	}
	if hasLetter(p.words, "CDEFHIOMR", 't', "--list") {
		return
	}
	p.into(p.target('D', "--directory"))
	if !hasLong(p.words, "--no-absolute-filenames") {
		p.into(everywhere)
	}
	if rest := operands(p.words, "DEFHIOMR"); len(rest) > 0 && hasOption(p.words, 'p', "--pass-through") {
		p.into(rest[len(rest)-1])
	}
}

func (p *packing) pax() {
	rest := operands(p.words, "bfsxoT")
	switch in, out := hasOption(p.words, 'r', ""), hasOption(p.words, 'w', ""); {
	case in:
		p.into(here)
		if out && len(rest) > 0 {
			p.into(rest[len(rest)-1])
		}
	case out:
		p.from(rest)
	}
}

// tarValues are the short options of tar with a value.
const tarValues = "fCTXbgHKLNVIF"

// tarMode reports whether tar reads the folders in its arguments, and whether it unpacks.
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
			letters += cluster(t[1:], tarValues)
		case i == 0:
			letters += t // the oldest syntax has no dash
		}
	}
	return out || strings.ContainsAny(letters, "cruA"), in || strings.Contains(letters, "x")
}

// begins reports whether word is an unambiguous prefix of a long option.
func begins(long, word string, least int) bool {
	return len(word) >= least && strings.HasPrefix(long, word)
}

// cluster returns the short options in a word, up to the first one with a value.
func cluster(s, values string) string {
	if i := strings.IndexAny(s, values); i >= 0 {
		return s[:i]
	}
	return s
}

// lettered handles programs whose first word is the operation: 7z x, unrar e, ar x, jar xf.
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

// valueOf returns the last value of an option, in any spelling.
func valueOf(words []shell.Word, letter byte, long string) (shell.Word, bool) {
	list := values(words, letter, long)
	if len(list) == 0 {
		return shell.Word{}, false
	}
	return list[len(list)-1], true
}

// values returns all values of an option.
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
