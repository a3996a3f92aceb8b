package access

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"fairlead/node/workspace"
)

// MissingError describes why a file or folder could not be read. For one that does not exist, it names
// the one beside it whose name looks the same, if there is exactly one: names are compared exactly
// everywhere, so that what was approved is what is opened.
func MissingError(ws *workspace.Root, p workspace.Path, err error) error {
	described := ReadError(p, err)
	if !errors.Is(err, fs.ErrNotExist) {
		return described
	}
	other := lookAlike(ws, p)
	if other == "" {
		return described
	}
	f := *FaultOf(described)
	f.Message += fmt.Sprintf(". A name there looks the same, but has other characters. Use this path, written as a JSON string: %s", strconv.QuoteToASCII(workspace.Spell(other)))
	return &f
}

// lookAlike returns the path of the only entry whose name looks like the last name of a path; empty
// if there is none, or several.
func lookAlike(ws *workspace.Root, p workspace.Path) (path string) {
	parent, err := ws.At(filepath.Dir(p.Abs))
	if err != nil {
		return ""
	}
	dir, err := ws.OpenDir(parent)
	if err != nil {
		return ""
	}
	defer dir.Close()
	want, count := fold(filepath.Base(p.Abs)), 0
	err = dir.Each(func(e workspace.Entry) bool {
		if fold(e.Name) == want && !workspace.IsInternal(e.Name) {
			path = filepath.Join(filepath.Dir(p.Abs), e.Name)
			count++
		}
		return count < 2
	})
	if err != nil || count != 1 {
		return ""
	}
	return path
}

// fold returns a name as it looks: composed, with plain blanks, quotes and dashes, and without
// invisible characters.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.Is(unicode.Pd, r):
			return '-'
		case strings.ContainsRune("‘’‚‛′", r):
			return '\''
		case strings.ContainsRune("“”„‟″", r):
			return '"'
		}
		return r
	}, norm.NFC.String(name))
}
