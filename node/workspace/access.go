package workspace

import "fmt"

// Access says how far a node's file tools reach.
type Access string

const (
	// InWorkspace confines them to the workspace. It is the default.
	InWorkspace Access = "workspace"
	// WholeDisk lets them use every path that the user may use.
	WholeDisk Access = "disk"
)

// OpenWith opens dir with the given access; "" means [InWorkspace].
func OpenWith(dir string, access Access) (*Root, error) {
	switch access {
	case "", InWorkspace:
		return Open(dir)
	case WholeDisk:
		return OpenDisk(dir)
	}
	return nil, fmt.Errorf("unknown access %q: use %q or %q", access, InWorkspace, WholeDisk)
}
