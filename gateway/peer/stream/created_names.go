package stream

import (
	"slices"
	"strings"
)

// createdNames are the names of the files that a transfer has created, or found with the same
// content.
type createdNames struct {
	hashes map[uint64]uint64 // folded names to names, both as hashes
	top    map[string]bool   // the first elements of the names
}

func newCreatedNames() createdNames {
	return createdNames{make(map[uint64]uint64), make(map[string]bool)}
}

func (c createdNames) add(name string) {
	c.hashes[foldedHash(name)] = nameHash(name)
	top, _, _ := strings.Cut(name, "/")
	c.top[top] = true
}

func (c createdNames) has(name string) bool { return c.hashes[foldedHash(name)] == nameHash(name) }

// clashes reports whether a name belongs to another file of this transfer: some file systems treat
// two names as equal that differ in case or Unicode normalization. If the folder has both, the file
// system distinguishes them.
func (c createdNames) clashes(name string, in *targetFolder) bool {
	if other, like := c.hashes[foldedHash(name)]; !like || other == nameHash(name) {
		return false
	}
	root, base := in.at(name)
	if _, err := root.Lstat(base); err != nil {
		return false
	}
	dir, err := root.Open(".")
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	return err != nil || !slices.Contains(names, base)
}
