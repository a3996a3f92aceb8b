package protocol

// FolderAccess is a folder outside the workspace and the granted folders that a call needs. The
// person may allow it for this one call (extension).
type FolderAccess struct {
	Path  string `json:"path"` // absolute, without symbolic links; it exists
	Write bool   `json:"write,omitempty"`
	// Warning explains why the folder is dangerous, for example that it holds keys; empty
	// otherwise.
	Warning string `json:"warning,omitempty"`
}

// Words describes the access for a person, such as "write access to /srv/other".
func (f FolderAccess) Words() string {
	if f.Write {
		return "write access to " + f.Path
	}
	return "read access to " + f.Path
}
