package workspace

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// Limits of the search for skills in one folder.
const (
	MaxSkillFile  = 1 << 20 // bytes of a SKILL.md; a longer one is cut
	maxSkillDepth = 4       // folders between skills/ and SKILL.md
	maxSkillFiles = 2000    // files and folders that are visited
)

const skillName = "SKILL.md"

//go:embed skills
var embedded embed.FS

// builtIn returns the skills that come with the program.
func builtIn() fs.FS {
	sub, err := fs.Sub(embedded, "skills")
	if err != nil {
		panic(err) // the name is a constant, so this cannot fail
	}
	return sub
}

// builtAt is the modification time of built-in files: that of the program.
var builtAt = sync.OnceValue(func() time.Time {
	if exe, err := os.Executable(); err == nil {
		if info, err := os.Stat(exe); err == nil {
			return info.ModTime()
		}
	}
	return time.Unix(0, 0)
})

// SkillFile is a SKILL.md.
type SkillFile struct {
	Dir      string // its folder below skills/, with slashes
	Location string // relative to the data folder; built-in:… for a built-in one
	Source   string // protocol.SkillAgent, SkillGlobal or SkillBuiltIn
	Data     []byte
	// Problem says why Data is empty.
	Problem string
}

// Skills reads every SKILL.md that an agent can use, sorted by folder: its own hide the shared ones
// of the same folder, and those hide the built-in ones.
func (w *Files) Skills(agent protocol.AgentID) ([]SkillFile, error) {
	root, _, err := w.openExisting(agent, "skills")
	if err != nil {
		return nil, err
	}
	defer closeRoot(root)
	layers, release := w.layers(root, "skills")
	defer release()
	var list []SkillFile
	for _, l := range layers {
		list = search(l, list)
	}
	slices.SortFunc(list, func(a, b SkillFile) int { return strings.Compare(a.Dir, b.Dir) })
	return list, nil
}

// search adds the skills of a layer that are not hidden by those in list. Everything below a
// skill's folder belongs to it. Links and folders that cannot be opened are skipped.
func search(l layer, list []SkillFile) []SkillFile {
	seen := 0
	hidden := make(map[string]bool, len(list))
	for _, s := range list {
		hidden[s.Dir] = true
	}
	fs.WalkDir(l.fsys, l.at, func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSkillFiles {
			return fs.SkipAll
		}
		if err != nil {
			return fs.SkipDir
		}
		dir := strings.TrimPrefix(name, l.at+"/")
		switch {
		case !d.IsDir() || name == l.at:
			return nil
		case strings.HasPrefix(d.Name(), ".") || strings.Count(dir, "/") >= maxSkillDepth:
			return fs.SkipDir
		}
		file := path.Join(name, skillName)
		info, err := fs.Stat(l.fsys, file)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if !hidden[dir] {
			s := SkillFile{Dir: dir, Location: path.Join(l.where, dir, skillName), Source: l.source}
			if s.Data, err = readHead(l.fsys, file, MaxSkillFile); err != nil {
				s.Problem = "The file could not be read: " + err.Error()
			} else if info.Size() > MaxSkillFile {
				s.Problem = fmt.Sprintf("The file has %d bytes; at most %d are read.", info.Size(), MaxSkillFile)
				s.Data = s.Data[:bytes.LastIndexByte(s.Data, '\n')+1] // whole lines only
			}
			list = append(list, s)
		}
		return fs.SkipDir
	})
	return list
}

// readHead reads at most n bytes of a file.
func readHead(fsys fs.FS, name string, n int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, n))
}
