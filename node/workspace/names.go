package workspace

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/stream"
)

// checkName refuses names that goos would interpret as another file than they seem to name. path is
// as the model wrote it. On Windows these are devices (NUL, COM1.txt), names whose trailing dots
// and blanks are dropped, streams (file:stream), 8.3 short names of other files, and invalid
// characters; also paths to devices and to other computers, which would learn the user's identity.
// On other systems names have no special meaning. os.Root refuses reserved names on Windows by
// itself; the whole disk has no os.Root.
func checkName(goos, path string) error {
	if goos != "windows" {
		return nil
	}
	refuse := func(name, why string) error {
		return fmt.Errorf("path %q cannot be used on Windows: '%s' %s", path, name, why)
	}
	rest := strings.ReplaceAll(path, "/", `\`)
	if strings.HasPrefix(rest, `\\`) || strings.HasPrefix(rest, `\??\`) {
		return refuse(path, "leads to a device or another computer; give a path with a drive letter")
	}
	if len(rest) >= 2 && rest[1] == ':' && 'a' <= rest[0]|0x20 && rest[0]|0x20 <= 'z' {
		if rest = rest[2:]; !strings.HasPrefix(rest, `\`) {
			return refuse(path, "names a stream, or depends on the drive's current folder; give the full path")
		}
	}
	for name := range strings.SplitSeq(rest, `\`) {
		switch {
		case name == "" || name == "." || name == "..":
		case strings.ContainsRune(name, ':'):
			return refuse(name, "names a stream inside a file")
		case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }):
			return refuse(name, "contains a character that is not allowed in file names")
		case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
			return refuse(name, "ends with a dot or a space, which Windows would drop")
		case stream.IsDeviceName(name):
			return refuse(name, "is the name of a device")
		case stream.IsShortName(name):
			return refuse(name, "looks like the short name of another file; give its long name")
		}
	}
	return nil
}

// otherSpelling returns the entry of a folder that a case-insensitive system would use for name, or
// "" if name is spelled like the entry or it does not have any.
func otherSpelling(entries []string, name string) (other string) {
	for _, e := range entries {
		if e == name {
			return ""
		}
		if strings.EqualFold(e, name) {
			other = e
		}
	}
	return other
}

// A file's name consists of bytes, but people and models exchange text. A name that is not UTF-8 is
// therefore spelled with each invalid byte as \xHH, with two capital hexadecimal digits, as in
// bash's $'\xE9'. So that no other name has the same spelling, a name that contains such a sequence
// has \x5C for its backslash. On Windows, where a backslash separates folders and a name may
// contain half a surrogate pair, the form is <HH>, which no name there can contain. Every name has
// exactly one spelling, and valid text without such sequences is spelled unchanged.

// Spell returns a name or path of this system as text.
func Spell(name string) string { return spell(runtime.GOOS, name) }

// Unspell returns the name or path that text stands for. An escape of a byte that needs none stands
// for itself: a file has one spelling, so that whoever judges a path by its text judges the file
// that will be opened.
func Unspell(text string) string { return unspell(runtime.GOOS, text) }

func spell(goos, name string) string {
	if utf8.ValidString(name) && (goos == "windows" || !strings.Contains(name, `\x`)) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, escapeFormat(goos), name[i])
		case goos != "windows" && decodeEscape(goos, name[i:]) != 0:
			fmt.Fprintf(&b, escapeFormat(goos), '\\')
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unspell(goos, text string) string {
	mark := `\x`
	if goos == "windows" {
		mark = "<"
	}
	if !strings.Contains(text, mark) || !utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if c := decodeEscape(goos, text[i:]); c != 0 {
			b.WriteByte(c)
			i += len(`\xHH`)
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	if name := b.String(); spell(goos, name) == text {
		return name
	}
	return text
}

func escapeFormat(goos string) string {
	if goos == "windows" {
		return "<%02X>"
	}
	return `\x%02X`
}

// decodeEscape returns the byte that an escape at the start of text stands for; 0: none.
func decodeEscape(goos, text string) byte {
	format := escapeFormat(goos)
	if len(text) < len(`\xHH`) || text[0] != format[0] {
		return 0
	}
	text = text[:len(`\xHH`)]
	var c byte
	_, err := fmt.Sscanf(text, format, &c)
	isExact := err == nil && fmt.Sprintf(format, c) == text // the digits are capital
	if !isExact || c < utf8.RuneSelf && (c != '\\' || goos == "windows") {
		return 0
	}
	return c
}
