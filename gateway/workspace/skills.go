package workspace

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
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
	var list []SkillFile
	if root != nil {
		// a folder that cannot be opened is not available to the agent either
		if own, err := root.OpenRoot("skills"); err == nil {
			defer own.Close()
			list = search(own.FS(), protocol.SkillAgent, path.Join("agents", filepath.Base(root.Name()), "skills"), list)
		}
	}
	if global := w.openShared(); global != nil {
		defer global.Close()
		list = search(global.FS(), protocol.SkillGlobal, "skills", list)
	}
	list = search(builtIn(), protocol.SkillBuiltIn, "built-in:skills", list)
	slices.SortFunc(list, func(a, b SkillFile) int { return strings.Compare(a.Dir, b.Dir) })
	return list, nil
}

// search adds the skills of a folder, unless they are hidden by those in list. Everything below a
// skill's folder belongs to the skill. Links are not followed.
func search(fsys fs.FS, source, at string, list []SkillFile) []SkillFile {
	seen := 0
	hidden := make(map[string]bool, len(list))
	for _, s := range list {
		hidden[s.Dir] = true
	}
	fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if seen++; seen > maxSkillFiles {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return fs.SkipDir // a folder that cannot be opened is not available to the agent either
		case !d.IsDir() || name == ".":
			return nil
		case strings.HasPrefix(d.Name(), ".") || strings.Count(name, "/") >= maxSkillDepth:
			return fs.SkipDir
		}
		info, err := fs.Stat(fsys, path.Join(name, skillName))
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if !hidden[name] {
			s := SkillFile{Dir: name, Location: path.Join(at, name, skillName), Source: source}
			if s.Data, err = readHead(fsys, path.Join(name, skillName), MaxSkillFile); err != nil {
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

// skillsSection returns the prompt's part about skills.
func (w *Workspace) skillsSection() string {
	if w.skills == nil {
		return ""
	}
	text, err := w.skills(protocol.AgentID(filepath.Base(w.dir)))
	if err != nil {
		slog.Warn("Reading skills for the prompt failed", "err", err)
	}
	if text == "" {
		return ""
	}
	return "\n\n---\n\n# Skills\n\n" + strings.TrimSpace(text)
}

// readBuiltIn reads a file of the built-in skills; name is relative to skills/.
func readBuiltIn(name string) (*File, error) {
	if name == "" {
		return nil, errFolder
	}
	info, err := fs.Stat(builtIn(), name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errFolder
	}
	data, err := fs.ReadFile(builtIn(), name)
	return &File{Data: data, Modified: builtAt()}, err
}

// addBuiltIn lists a folder of the built-in skills.
func (l *Listing) addBuiltIn(name, shown string) error {
	if name == "" {
		name = "."
	}
	entries, err := fs.ReadDir(builtIn(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			l.Directories = append(l.Directories, path.Join(shown, e.Name())+"/")
		} else {
			l.Files = append(l.Files, path.Join(shown, e.Name()))
		}
	}
	return nil
}
