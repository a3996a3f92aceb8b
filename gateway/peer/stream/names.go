package stream

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxName  = 255  // bytes per path element, the limit of common file systems
	maxPath  = 4096 // bytes in total
	maxDepth = 255
	// partPrefix is the prefix of the names of unfinished files. Files with such names are neither
	// sent nor received.
	partPrefix = ".fairlead-"
	partSuffix = ".part"
)

// CheckName returns why a name from another machine, with slashes and relative to the chosen
// folder, cannot be used on goos, or nil. An accepted name refers to exactly one place below that
// folder. The error's text is for people.
func CheckName(goos, name string) error {
	if name == "" || len(name) > maxPath {
		return fmt.Errorf("its name is empty, or longer than %d bytes", maxPath)
	}
	parts := strings.Split(name, "/")
	if len(parts) > maxDepth {
		return fmt.Errorf("it is more than %d folders deep", maxDepth)
	}
	for _, p := range parts {
		if why := checkElement(goos, p); why != "" {
			return fmt.Errorf("the name %q %s", p, why)
		}
	}
	return nil
}

func checkElement(goos, p string) string {
	switch {
	case p == "":
		return "is empty"
	case p == "." || p == "..":
		return "leads to another folder"
	case len(p) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.HasPrefix(p, partPrefix) && (strings.HasSuffix(p, partSuffix) || strings.HasSuffix(p, ".tmp")):
		return "is reserved for unfinished files"
	case strings.EqualFold(p, trashName):
		return "is reserved for the trash"
	case strings.ContainsRune(p, 0):
		return "contains a zero byte"
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains a control character"
	case goos == "darwin" && !utf8.ValidString(p):
		return "is not valid UTF-8"
	case goos != "windows":
		return ""
	case !utf8.ValidString(p):
		return "is not valid UTF-8"
	case strings.ContainsAny(p, `<>:"\|?*`):
		return "contains a character that Windows does not allow"
	case strings.HasSuffix(p, ".") || strings.HasSuffix(p, " "):
		return "ends with a dot or a space, which Windows removes"
	case IsDeviceName(p):
		return "is a device name on Windows"
	case IsShortName(p):
		return "looks like the short name of another file on Windows"
	}
	return ""
}

// IsDeviceName reports whether the name p is that of a device on Windows, with any extension.
func IsDeviceName(p string) bool {
	base, _, _ := strings.Cut(p, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if n, ok := strings.CutPrefix(base, port); ok && utf8.RuneCountInString(n) == 1 && strings.ContainsAny(n, "0123456789¹²³") {
			return true
		}
	}
	return false
}

// IsShortName reports whether the name p has the form of a generated 8.3 name: PROGRA~1.
func IsShortName(p string) bool {
	base, ext, _ := strings.Cut(p, ".")
	stem, digits, ok := strings.Cut(base, "~")
	return ok && stem != "" && len(base) <= 8 && len(ext) <= 3 && !strings.Contains(ext, ".") && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// CheckLink returns why a symbolic link at name, from another machine, cannot be created here, or
// nil. It must stay in the folder whatever other links exist. ".." is accepted only at the
// beginning, where it counts from a folder that is known not to be a link.
func CheckLink(goos, name, target string) error {
	if target == "" || len(target) > maxPath || strings.ContainsRune(target, 0) {
		return fmt.Errorf("it is a symbolic link without a valid target")
	}
	depth := strings.Count(name, "/")
	down := false
	for _, p := range strings.Split(target, "/") {
		switch {
		case p == "..":
			if depth--; depth < 0 || down {
				return fmt.Errorf("it is a symbolic link to %q, which is outside the transferred folder", target)
			}
		case p == ".":
		case checkElement(goos, p) != "":
			return fmt.Errorf("it is a symbolic link to %q, which is outside the transferred folder or not allowed here", target)
		default:
			down = true
		}
	}
	return nil
}

// foldName returns the same text for names that some file system treats as equal, because they
// differ only in case or Unicode normalization.
func foldName(name string) string {
	fold := func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }
	return norm.NFC.String(strings.Map(fold, norm.NFD.String(name)))
}

// NumberedName returns "report (2).pdf" for report.pdf and 2.
func NumberedName(name string, n int) string {
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i <= 16 {
		name, ext = name[:i], name[i:]
		if j := strings.LastIndexByte(name, '.'); j > 0 && name[j:] == ".tar" {
			name, ext = name[:j], name[j:]+ext
		}
	}
	number := fmt.Sprintf(" (%d)", n)
	for len(name)+len(number)+len(ext) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name + number + ext
}

// describeKind describes a kind of file that cannot be sent.
func describeKind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "it is a folder"
	case m&fs.ModeNamedPipe != 0:
		return "it is a named pipe"
	case m&fs.ModeSocket != 0:
		return "it is a socket"
	case m&fs.ModeDevice != 0:
		return "it is a device"
	}
	return "it is not a regular file"
}

// createdNames are the names of the files that a transfer has created, or found with the same
// content, by their folded forms.
type createdNames map[string]string

// has reports whether a file of this transfer has a name, or one that some file systems treat as
// equal.
func (c createdNames) has(name string) bool {
	_, ok := c[foldName(name)]
	return ok
}

func (c createdNames) add(name string) { c[foldName(name)] = name }

// clashes reports whether a name belongs to another file of this transfer: some file systems treat
// two names as equal that differ in case or Unicode normalization.
func (c createdNames) clashes(name string, root *os.Root) bool {
	other, known := c[foldName(name)]
	if !known || other == name {
		return false
	}
	mine, err := root.Lstat(name)
	if err != nil {
		return false
	}
	theirs, err := root.Lstat(other)
	return err == nil && (os.SameFile(mine, theirs) || !isListed(root, name))
}

// isListed reports whether a folder lists a file by exactly this name. The identity of files is not
// enough to find equal names: some disks of networks and FUSE invent one for each name.
func isListed(root *os.Root, name string) bool {
	dir, err := root.Open(path.Dir(name))
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return err != nil || slices.Contains(names, path.Base(name))
}
