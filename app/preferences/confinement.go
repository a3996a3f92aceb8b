package preferences

import (
	"cmp"
	"strings"
)

// Confinement defines what the agent may access on this computer. It is never changed in place.
type Confinement struct {
	Disk bool `json:"wholeDisk,omitempty"` // the file tools may access all paths
	// for commands: read-only, workspace-write or full; empty is workspace-write
	Mode    string   `json:"sandbox,omitempty"`
	Network string   `json:"network,omitempty"` // for commands: blocked, ask or allowed; empty is ask
	Folders []Folder `json:"grants,omitempty"`
}

// NetworkOrDefault returns whether commands may use the network. By default they may not, unless
// the person allows it for one: a question offers that.
func (c Confinement) NetworkOrDefault() string { return cmp.Or(c.Network, "ask") }

// Folder is an additional folder outside the workspace.
type Folder struct {
	Dir      string
	ReadOnly bool
}

// String returns DIR:rw or DIR:ro. It is always explicit: a folder's own name may end in :ro.
func (f Folder) String() string {
	if f.ReadOnly {
		return f.Dir + ":ro"
	}
	return f.Dir + ":rw"
}

// MarshalText implements encoding.TextMarshaler.
func (f Folder) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. DIR alone can be written, too.
func (f *Folder) UnmarshalText(text []byte) error {
	if f.Dir, f.ReadOnly = strings.CutSuffix(string(text), ":ro"); !f.ReadOnly {
		f.Dir = strings.TrimSuffix(f.Dir, ":rw")
	}
	return nil
}
