package protocol

// FolderAccess is a folder outside the workspace and the granted folders that a call needs, and that the person may open for this one call (extension).
type FolderAccess struct {
	Path  string `json:"path"` // absolute, free of symbolic links; it exists
	Write bool   `json:"write,omitempty"`
	// Warning says what makes the folder a dangerous one, such as that it holds keys; empty for an ordinary one.
	Warning string `json:"warning,omitempty"`
}

// Words says what a person gives with it: write access to /srv/other.
func (f FolderAccess) Words() string {
	if f.Write {
		return "write access to " + f.Path
	}
	return "read access to " + f.Path
}
