package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
)

// Grant is a folder outside the workspace that the person opened for the file tools.
type Grant struct {
	Dir      string
	ReadOnly bool
}

// Config configures a Root.
type Config struct {
	// Dir is the workspace. It must exist.
	Dir string
	// WholeDisk permits every path that the user may use, instead of the workspace and Grants.
	WholeDisk bool
	// Grants are existing folders. A read-only one may contain the workspace, but may not lie in a
	// writable folder, because a link that is changed at the right moment could redirect a write
	// into it. WholeDisk permits no grants.
	Grants []Grant
	// ReadOnly forbids every change through the Root, anywhere.
	ReadOnly bool
	// Private is the program's own data folder, to which tools get no access even if it lies in the
	// workspace.
	Private string
	// PrivateTemp is a folder that commands have in place of /tmp, as the sandbox makes it; empty if
	// they have none. Its files are in /tmp for the file tools, too, under the same rules as the
	// system's. Links in it to a folder of /dev stand for what is in the system's /tmp.
	PrivateTemp string
}

// ParseGrant parses a grant: DIR, DIR:rw or DIR:ro.
func ParseGrant(text string) (Grant, error) {
	g := Grant{Dir: text}
	if dir, ok := strings.CutSuffix(text, ":ro"); ok {
		g = Grant{Dir: dir, ReadOnly: true}
	} else if dir, ok := strings.CutSuffix(text, ":rw"); ok {
		g.Dir = dir
	}
	if g.Dir == "" {
		return Grant{}, fmt.Errorf("%q does not name a folder: write DIR, or DIR:ro for a read-only folder", text)
	}
	return g, nil
}

func (g Grant) String() string {
	if g.ReadOnly {
		return g.Dir + ":ro"
	}
	return g.Dir
}

// Open opens dir as a workspace to which the file tools are restricted. dir must exist.
func Open(dir string) (*Root, error) { return Config{Dir: dir}.Open() }

// Open opens the workspace and the granted folders, each by its own handle, until [Root.Close].
func (c Config) Open() (*Root, error) {
	if c.WholeDisk && len(c.Grants) > 0 {
		return nil, errors.New("folders cannot be granted together with access to the whole disk: leave out one of the two")
	}
	home, err := openArea(c.Dir, c.ReadOnly)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace %s: %w", c.Dir, err)
	}
	grants := c.Grants
	c.Dir, c.Grants, c.Private = home.dir, nil, RealPath(c.Private)
	paths := resolver{config: c, areas: areas{home}}
	for _, g := range grants {
		a, err := openArea(g.Dir, c.ReadOnly || g.ReadOnly)
		if err == nil {
			err = paths.areas.checkGrant(a)
		}
		if err != nil {
			paths.areas.close()
			return nil, fmt.Errorf("granting %s: %w", g.Dir, err)
		}
		paths.config.Grants = append(paths.config.Grants, Grant{Dir: a.dir, ReadOnly: a.readOnly})
		paths.areas = append(paths.areas, a)
	}
	// The innermost area that contains a path decides.
	slices.SortStableFunc(paths.areas, func(a, b *area) int { return len(b.dir) - len(a.dir) })
	paths.fs = paths.areas
	if c.WholeDisk {
		paths.fs = wholeDisk{}
	}
	if c.PrivateTemp != "" {
		paths.fs = tempView{fileSystem: paths.fs, areas: paths.areas, whole: c.WholeDisk, dir: c.PrivateTemp}
	}
	return &Root{paths: paths, locks: new(locks)}, nil
}

func openArea(dir string, readOnly bool) (*area, error) {
	if dir == "" {
		return nil, errors.New("the folder is missing")
	}
	alias, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(alias)
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, format.WithoutPath(err)
	}
	handle, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, format.WithoutPath(err)
	}
	info, err := handle.Stat()
	if err != nil {
		root.Close()
		handle.Close()
		return nil, format.WithoutPath(err)
	}
	return &area{dir: real, alias: alias, readOnly: readOnly, root: root, handle: handle, info: info}, nil
}

// WithGrant returns r with one more granted folder, for one call. r is unchanged, and locks of
// paths are shared. The caller closes the result.
func (r *Root) WithGrant(g Grant) (*Root, error) {
	config := r.paths.config
	if config.WholeDisk {
		return nil, errors.New("every folder is already accessible")
	}
	for _, a := range r.paths.areas {
		if err := a.checkUnchanged(); err != nil {
			return nil, err // reopening it would open another folder
		}
	}
	config.Grants = append([]Grant{g}, config.Grants...)
	wide, err := config.Open()
	if err != nil {
		return nil, err
	}
	wide.locks, wide.changing = r.locks, r.changing
	return wide, nil
}

// ErrTargetChanged is the error when a path leads elsewhere than when it was examined, because a
// link was changed meanwhile. Nothing was opened.
var ErrTargetChanged = errors.New("APPROVAL_DRIFT: the path leads to another file than the one that was approved. Nothing was done; ask again")

// WithChanging returns the workspace with a function that is called before a path is replaced, moved
// or removed, and whose result is called afterwards.
func (r *Root) WithChanging(f func(path string) (done func())) *Root {
	wider := *r
	wider.changing = f
	return &wider
}

// change calls a function of [Root.WithChanging], if there is one.
func change(changing func(path string) (done func()), path string) (done func()) {
	if changing == nil {
		return func() {}
	}
	return changing(path)
}

// WithTarget returns r for a path that led to real, which is without symbolic links, when it was
// examined: using a path that leads elsewhere is an [ErrTargetChanged]. It shares the folders of r,
// which alone closes them.
func (r *Root) WithTarget(real string) *Root {
	c := *r
	c.paths.target = real
	return &c
}
