package stream

import (
	"crypto/rand"
	"fmt"
	"os"
	"path"
	"runtime"
	"strings"
	"unicode/utf8"
)

// A disk may not allow a name that another one allows: NTFS, exFAT and FAT have no colons, and none
// has control characters here. Such a file gets a changed name, which the result shows.

// diskNames changes names that the destination's disk does not allow. One goroutine may use it.
type diskNames struct {
	root    *os.Root
	changed map[string]string // changed paths, and folders, by the requested ones
	taken   map[string]bool   // folded changed paths
	windows *bool             // whether the disk has the rules of Windows; nil if unknown yet
}

func newDiskNames(root *os.Root) *diskNames {
	return &diskNames{root: root, changed: make(map[string]string), taken: make(map[string]bool)}
}

// fit returns the path at which a file can be stored: name, with slashes, or one with changed
// elements. note, if set, explains the first use of a changed element. isTaken reports whether
// another file of the transfer has a path.
func (d *diskNames) fit(name string, isTaken func(string) bool) (fitted, note string) {
	end := 0
	for el := range strings.SplitSeq(name, "/") {
		end += len(el)
		requested := name[:end]
		end++
		old, known := d.changed[requested]
		if known {
			fitted = old
			continue
		}
		allowed, why := d.element(el)
		next := path.Join(fitted, allowed)
		if allowed == el && !d.taken[foldName(next)] { // what a changed name has is not free any more
			fitted = next
			continue
		}
		if why == "" {
			why = "another file has its name"
		}
		for n := 2; d.taken[foldName(next)] || isTaken(next); n++ {
			next = path.Join(fitted, NumberedName(allowed, n))
		}
		fitted = next
		d.changed[requested], d.taken[foldName(next)] = next, true
		note = fmt.Sprintf("stored as %q: %s", path.Base(next), why)
	}
	return fitted, note
}

// element returns the allowed form of one element of a path, and why it differs.
func (d *diskNames) element(el string) (allowed, why string) {
	switch {
	case el == "." || el == ".." || strings.ContainsRune(el, 0): // refused later
		return el, ""
	case strings.ContainsFunc(el, isControl):
		el, why = replace(el, isControl), "names with control characters are not stored"
	}
	if checkElement("windows", el) != "" && len(el) <= maxName && !strings.HasPrefix(el, partPrefix) && d.hasWindowsRules() {
		el, why = windowsName(el), "its disk does not allow the name"
	}
	if len(el) > maxName {
		ext := path.Ext(el)
		if len(ext) > 16 {
			ext = ""
		}
		stem := el[:maxName-len(ext)]
		for !utf8.ValidString(stem) && len(stem) > maxName/2 {
			stem = stem[:len(stem)-1]
		}
		el, why = stem+ext, fmt.Sprintf("names have at most %d bytes", maxName)
	}
	return el, why
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// replace replaces characters, and bytes that are not UTF-8, by underscores.
func replace(el string, bad func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if bad(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, el)
}

// windowsName returns a name that Windows allows: forbidden characters, and dots and spaces at the
// end, become underscores, and a device name gets one.
func windowsName(el string) string {
	el = replace(el, func(r rune) bool { return isControl(r) || strings.ContainsRune(`<>:"\|?*`, r) })
	if trimmed := strings.TrimRight(el, ". "); len(trimmed) < len(el) {
		el = trimmed + strings.Repeat("_", len(el)-len(trimmed))
	}
	if IsDeviceName(el) {
		base, ext, dotted := strings.Cut(el, ".")
		if el = base + "_"; dotted {
			el += "." + ext
		}
	}
	if runtime.GOOS == "windows" && IsShortName(el) {
		el = strings.Replace(el, "~", "_", 1)
	}
	return el
}

// hasWindowsRules reports whether the destination's disk forbids what Windows forbids, such as
// colons, by creating an empty file.
func (d *diskNames) hasWindowsRules() bool {
	if d.windows == nil {
		plain := partPrefix + rand.Text()
		is := runtime.GOOS == "windows" || d.canCreate(plain+partSuffix) && !d.canCreate(plain+":"+partSuffix)
		d.windows = &is
	}
	return *d.windows
}

func (d *diskNames) canCreate(name string) bool {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	d.root.Remove(name)
	return true
}

// fatLimit is the size in bytes from which FAT stores no file.
const fatLimit = 4 << 30

// tooLargeText is the reason why FAT does not store a file.
const tooLargeText = "the disk stores no files of 4 GiB or more (it is formatted with FAT): use exFAT or NTFS, or split the file"
