package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// MaxFileSize is the size limit, in bytes, of a workspace file that is read or written whole.
const MaxFileSize = 10 << 20

// The origin of a file below skills/, as gsv__ReadFile reports it.
const (
	FromAgent  = "agent"
	FromGlobal = "global"
)

// Files are the workspaces of all agents: agents/<id> in the data folder, and the skills that all
// agents share. Paths are relative to an agent's workspace. skills/… shows the agent's own skills
// over the shared and the built-in ones; only the agent's own can be changed. No path or symbolic
// link can leave the workspace. It is safe for concurrent use.
type Files struct {
	home   string
	config func() config.Config // names the agents that exist; nil: all do
	editMu sync.Mutex           // held from the read to the write of a change
}

// NewFiles opens the workspaces in a data folder. An agent's workspace is created at its first use, but
// not by reading if config does not have the agent; config may be nil.
func NewFiles(home string, config func() config.Config) *Files {
	return &Files{home: home, config: config}
}

// Of returns the workspace of one agent, for its system prompt. It creates a new one.
func (w *Files) Of(agent protocol.AgentID) (*Workspace, error) {
	agent, err := protocol.ParseAgentID(agent)
	if err != nil {
		return nil, err
	}
	return Open(w.home, agent)
}

// ErrTraversal refuses a path that leaves the workspace (in GSV's words).
var ErrTraversal = protocol.ErrBadRequest.With("Path traversal not allowed")

// openExisting is open for reading: it creates no folder; root is nil if the agent does not exist.
func (w *Files) openExisting(agent protocol.AgentID, name string) (root *os.Root, at string, err error) {
	id, err := protocol.ParseAgentID(agent)
	if err != nil || w.config == nil || w.config().Agents.Has(id) {
		return w.open(agent, name)
	}
	if _, err := os.Stat(filepath.Join(w.home, "agents", string(id))); !errors.Is(err, fs.ErrNotExist) {
		return w.open(agent, name)
	}
	at, err = cleanPath(name)
	return nil, at, err
}

// open opens an agent's folder and cleans a path in it; "" means the folder itself.
func (w *Files) open(agent protocol.AgentID, name string) (*os.Root, string, error) {
	agent, err := protocol.ParseAgentID(agent)
	if err != nil {
		return nil, "", err
	}
	if name, err = cleanPath(name); err != nil {
		return nil, "", err
	}
	if _, err := Open(w.home, agent); err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(filepath.Join(w.home, "agents", string(agent)))
	if err != nil {
		return nil, "", fmt.Errorf("open the agent's folder: %w", err)
	}
	return root, name, nil
}

func closeRoot(root *os.Root) {
	if root != nil {
		root.Close()
	}
}

func cleanPath(name string) (string, error) {
	name = strings.Trim(filepath.ToSlash(strings.TrimSpace(name)), "/")
	if slices.Contains(strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return "", ErrTraversal
	}
	if name = path.Clean(name); name == "." {
		return "", nil
	}
	if len(name) > maxPath || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return len(part) > maxName }) {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("The path is too long: each of its names may have %d bytes, the whole %d", maxName, maxPath))
	}
	if strings.ContainsRune(name, 0) || !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", protocol.ErrBadRequest.With(fmt.Sprintf("%q is not a path in the workspace", name))
	}
	return name, nil
}

// Personal reports whether a path is that of a file for the person's own chats only: see
// [Facts].Private. Names are compared ignoring case, as some file systems do.
func Personal(name string) bool {
	name, err := cleanPath(name)
	if err != nil {
		return false
	}
	top, _, _ := strings.Cut(name, "/")
	return strings.EqualFold(top, "memory") || slices.ContainsFunc(promptFiles, func(p promptFile) bool { return p.private && strings.EqualFold(p.file, name) && name != "" })
}

// The longest names in bytes. The system's error about longer ones would not help.
const (
	maxName = 255
	maxPath = 2048
)

// explain converts an error about a workspace path to one that gives the reason without absolute
// paths. It checks the parent folders from the innermost on.
func explain(root *os.Root, name string, err error) error {
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	for at := name; root != nil && at != "." && at != ""; at = path.Dir(at) {
		link, _ := root.Lstat(at)
		info, statErr := root.Stat(at)
		switch {
		case statErr == nil && at != name && !info.IsDir():
			return protocol.ErrBadRequest.With(at + " is a file, not a folder")
		case statErr != nil && link != nil && link.Mode()&fs.ModeSymlink != 0:
			return protocol.ErrBadRequest.With(at + " is a link to nothing or out of the workspace; only links inside the workspace are followed")
		}
	}
	return format.WithoutPath(err)
}

// layer is a place in which a path is looked for.
type layer struct {
	fsys   fs.FS
	at     string // the path in fsys
	source string // protocol.SkillAgent, SkillGlobal or SkillBuiltIn
	where  string // path relative to the data folder; built-in:… for a built-in skill
}

// layers returns the places of a path, the first to use first: the agent's folder, unless root is
// nil, and for a skill the shared and the built-in skills. release closes them.
func (w *Files) layers(root *os.Root, name string) (list []layer, release func()) {
	release = func() {}
	if root != nil {
		list = append(list, layer{root.FS(), cmp.Or(name, "."), protocol.SkillAgent, path.Join("agents", filepath.Base(root.Name()), name)})
	}
	if !isSkillPath(name) {
		return list, release
	}
	if shared := w.openShared(); shared != nil {
		release = closer(shared)
		list = append(list, layer{shared.FS(), belowSkills(name), protocol.SkillGlobal, name})
	}
	return append(list, layer{builtIn(), belowSkills(name), protocol.SkillBuiltIn, "built-in:" + name}), release
}

func isSkillPath(name string) bool { return name == "skills" || strings.HasPrefix(name, "skills/") }

// belowSkills returns a skill path relative to skills/.
func belowSkills(name string) string {
	return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(name, "skills"), "/"), ".")
}

// openShared opens the skills that all agents share; nil if there are none.
func (w *Files) openShared() *os.Root {
	root, err := os.OpenRoot(filepath.Join(w.home, "skills"))
	if err != nil {
		return nil
	}
	return root
}

// closer returns a function that closes a folder, for callers that ignore the error.
func closer(root *os.Root) func() { return func() { root.Close() } }
