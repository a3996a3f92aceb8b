package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// optionReader reads a command's words and reports those that are not known to be harmless.
type optionReader struct {
	resolver    *pathResolver
	words       []shell.Word
	at          int
	table       *optionTable
	add         func(guard)
	isUncertain bool // an unknown option may have used the next word as its value
}

// guardOptions reports the options of a program, from a word on, that its table does not contain.
func guardOptions(name string, words []shell.Word, from int, p *pathResolver, add func(guard)) {
	r := optionReader{resolver: p, words: words, at: from, table: optionTables()[name], add: add}
	if r.table == nil {
		return
	}
	operands := 0
	for ; r.at < len(words); r.at++ {
		w := words[r.at]
		switch {
		case w.Dynamic: // no allow rule covers it
		case w.Text == "--":
			if r.table.after != nil {
				r.table = r.table.after
			}
			if r.table.free && !r.isUncertain {
				return
			}
		case isFlag(w.Text):
			r.option(w)
		default:
			if !r.operand(w, operands) {
				return
			}
			operands++
		}
	}
}

// leadingOptions counts the words after the program that are harmless options, or their values.
func leadingOptions(name string, words []shell.Word, p *pathResolver) int {
	if len(words) < 2 || !isFlag(words[1].Text) || optionTables()[name] == nil {
		return 0
	}
	r := optionReader{resolver: p, words: words, at: 1, table: optionTables()[name]}
	r.add = func(guard) { r.isUncertain = true }
	for ; r.at < len(words) && isFlag(words[r.at].Text) && words[r.at].Text != "--"; r.at++ {
		opt, _, _ := strings.Cut(words[r.at].Text, "=")
		if o := r.table.options[opt]; o.runs || o.inside && name != "git" {
			return 0
		}
		r.option(words[r.at])
	}
	for _, w := range words[1:min(r.at, len(words))] {
		r.isUncertain = r.isUncertain || !w.Plain()
	}
	if r.isUncertain {
		return 0
	}
	return min(r.at, len(words)) - 1
}

// operand reads a word that is not an option; n is the number of those before it, subcommands
// included. It reports whether more options of the program may follow.
func (r *optionReader) operand(w shell.Word, n int) bool {
	t := r.table
	if sub := t.subs[w.Text]; sub != nil && t.depth == n {
		r.table = sub
		return true
	}
	if t.bundled && n == 0 && r.at == 1 && !strings.ContainsAny(w.Text, "./:") {
		r.bundle(w.Text)
	}
	if t.single && n > 0 {
		r.output(r.at, shorten(w.Text), w)
	}
	if t.goals {
		r.add(guard{at: r.at, unknown: true, goal: true, reason: "The rule does not include " + t.name + " " + shorten(w.Text)})
	}
	for _, s := range t.patterns {
		if s.runs && plainSwitch.MatchString(w.Text) {
			continue // make V=1
		}
		if m := s.pattern.FindStringSubmatch(w.Text); s.output && m != nil {
			r.output(r.at, shorten(w.Text), part(w, w.Text[len(w.Text)-len(m[len(m)-1]):]))
			break
		} else if m != nil {
			r.report(shorten(w.Text), s.runs && !isPlainSetting(w.Text), true)
			break
		}
	}
	return r.isUncertain || !t.free
}

// option reads an option, and its value if that is the next word.
func (r *optionReader) option(w shell.Word) {
	name, value, cut := strings.Cut(w.Text, "=")
	o, known := r.table.options[name]
	if !known && len(name) > 3 && r.table.words && strings.HasPrefix(name, "--") {
		o, known = r.table.options[name[1:]]
	}
	switch {
	case known && o.spelled:
		r.mustName(name)
	case known && o.value == ';':
		r.skipCommand()
	case known:
		r.checkValue(name, o, part(w, value), cut)
	case strings.HasPrefix(w.Text, "--"):
		r.unknown(name)
	case !r.table.words:
		r.letters(w, w.Text[1:])
	case len(name) > 2 && strings.Trim(name[2:], "0123456789") == "" && r.table.options[name[:2]].value != 0:
		// -j4
	default:
		r.unknown(name)
	}
}

// bundle reads options without a dash, as in tar cfC FILE FOLDER: every character is one, and their
// values follow in the same order.
func (r *optionReader) bundle(text string) {
	next := r.at
	for i := range len(text) {
		name := "-" + text[i:i+1]
		o, known := r.table.options[name]
		if !known {
			r.mustName(name)
			continue
		}
		value := shell.Word{Dynamic: true}
		if o.value != 0 && next+1 < len(r.words) {
			next++
			value = r.words[next]
		}
		if o.value != 0 && !o.runs && !r.resolver.isInside(value) {
			r.mustName(name)
			continue
		}
		r.checkValue(name, o, value, o.value != 0)
	}
}

// letters reads a word of combined short options.
func (r *optionReader) letters(w shell.Word, text string) {
	for i := 0; i < len(text); i++ {
		name := "-" + text[i:i+1]
		if pair, isPair := r.table.options["-"+text[i:min(i+2, len(text))]]; isPair && pair.spelled {
			r.mustName("-" + text[i:i+2]) // zip -qlf FILE
			return
		}
		o, known := r.table.options[name]
		if !known && text[i] >= '0' && text[i] <= '9' {
			o, known = r.table.options["-#"]
		}
		if !known {
			// it may be one letter of several, or the start of a value
			for k := range len(text) - i {
				if r.table.options["-"+text[i+k:i+k+1]].runs {
					name = "-" + text[i+k:i+k+1]
				}
			}
			r.unknown(name)
			return
		}
		rest := text[i+1:]
		if o.runs || o.value != 0 {
			r.checkValue(name, o, part(w, rest), rest != "")
		}
		if o.value != 0 && rest != "" {
			return
		}
	}
}

// checkValue checks the value of an option in the table.
func (r *optionReader) checkValue(name string, o option, value shell.Word, inWord bool) {
	at := r.at
	if o.value == ':' && !inWord {
		value = shell.Word{Dynamic: true}
		if r.at+1 < len(r.words) {
			next := r.words[r.at+1] // a value that looks like an option is checked as one, too
			if !isFlag(next.Text) || isInteger(next.Text) || o.fits != nil && o.fits.MatchString(next.Text) {
				r.at++
				value = next
			}
		}
	}
	switch {
	case o.output:
		r.output(at, name, value)
	case o.inside && !value.Dynamic && r.resolver.isInside(value), o.fits != nil && !value.Dynamic && o.fits.MatchString(value.Text):
	case o.runs:
		r.add(guard{at: at, opaque: true, reason: r.table.name + " " + name + " may run code that is not in the command"})
	case o.inside, o.fits != nil && (o.value == ':' || inWord):
		isContainable := !o.ambiguous && !value.Dynamic
		r.add(guard{at: at, unknown: true, containable: isContainable, reason: r.table.name + " " + name + " " + shorten(value.Text) + " is not known to be harmless"})
	case o.value == 0 && inWord && !switchValues[value.Text]:
		r.add(guard{at: at, unknown: true, reason: r.table.name + " " + name + " is not known to be harmless with a value"})
	}
}

// output reports a word that makes the program write a file.
func (r *optionReader) output(at int, what string, file shell.Word) {
	if file.Text == "-" || harmlessDevices[file.Text] {
		return
	}
	g := guard{at: at, unknown: true, reason: r.table.name + " " + what + " writes " + shorten(file.Text)}
	if file.Dynamic || file.Text == "" {
		g.reason = r.table.name + " " + what + " writes a file that is known only when the command runs"
	} else {
		g.containable, g.files = !file.Glob, []shell.Word{file}
	}
	r.add(g)
}

// skipCommand skips the words of a command that find starts, as package shell reads them.
func (r *optionReader) skipCommand() {
	for r.at++; r.at < len(r.words); r.at++ {
		if t := r.words[r.at].Text; t == ";" || t == "+" && r.words[r.at-1].Text == "{}" {
			return
		}
	}
}

// unknown reports an option that is not in the table. Programs may accept a prefix, other capitals,
// or a single dash for an option that runs code.
func (r *optionReader) unknown(name string) { r.reportOption(name, true) }

// mustName reports an option that a rule must contain on every machine.
func (r *optionReader) mustName(name string) { r.reportOption(name, false) }

func (r *optionReader) reportOption(name string, containable bool) {
	plain := plainOption(name)
	long := strings.HasPrefix(name, "--") || r.table.words && len(plain) > 1
	runs := r.table.options[name].runs
	for n, o := range r.table.options {
		mark := plainOption(n)
		runs = runs || o.runs && long && len(n) > 2 &&
			(strings.HasPrefix(mark, plain) || strings.HasSuffix(n, ".") && strings.HasPrefix(plain, mark))
	}
	r.isUncertain = true
	r.report(shorten(name), runs, containable)
}

// report reports a word.
func (r *optionReader) report(what string, runs, containable bool) {
	why := " is not known to be harmless"
	if slices.Contains(classes["sends "+r.table.name], what) {
		why = " sends a file to another machine"
	}
	if runs {
		why = " may run code that is not in the command"
	}
	r.add(guard{at: r.at, opaque: runs, unknown: !runs, containable: !runs && containable, reason: r.table.name + " " + what + why})
}

// isPlainSetting reports whether a word is a setting of a build whose value cannot be code, such as
// V=1 or VERSION=1.2.3.
func isPlainSetting(word string) bool {
	name, value, isSetting := strings.Cut(word, "=")
	return plainSwitch.MatchString(word) || isSetting && settingName.MatchString(name) && harmlessValue.MatchString(value) && (!sensitiveVariable.MatchString(name) || (name == "CC" || name == "CXX") && compilers[value])
}

var (
	plainSwitch = regexp.MustCompile(`^[A-Za-z_]\w*=(\d*|y|n|yes|no|true|false|on|off)$`)
	settingName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

var dashes = strings.NewReplacer("-", "")

func plainOption(name string) string { return strings.ToLower(dashes.Replace(name)) }
