package protocol

// EncodingBase64 carries arbitrary bytes (extension); the protocol's own encoding carries text
// only.
const EncodingBase64 = "base64"

// WorkspaceListParams lists a folder of an agent's workspace. An empty path is the workspace, an
// empty agent the main agent.
type WorkspaceListParams struct {
	Path    string  `json:"path,omitempty"`
	AgentID AgentID `json:"agentId,omitempty"`
}

// WorkspaceListResult has paths relative to the workspace; those of folders end with a slash.
type WorkspaceListResult struct {
	Path        string   `json:"path"`
	Files       []string `json:"files"`
	Directories []string `json:"directories"`
}

// WorkspaceReadParams reads a file. For a folder, the result is a [WorkspaceListResult].
type WorkspaceReadParams struct {
	Path     string  `json:"path"`
	AgentID  AgentID `json:"agentId,omitempty"`
	Encoding string  `json:"encoding,omitempty"` // extension
	// Default requests the version of the file that a new agent gets (extension).
	Default bool `json:"default,omitempty"`
}

// WorkspaceReadResult is a file. Size is in bytes, LastModified in the format of RFC 3339.
type WorkspaceReadResult struct {
	Path         string `json:"path"`
	Content      string `json:"content"`
	Size         int    `json:"size"`
	LastModified string `json:"lastModified"`
	// ResolvedPath and ResolvedSource identify the copy of a file below skills/: agent or global.
	ResolvedPath   string `json:"resolvedPath,omitempty"`
	ResolvedSource string `json:"resolvedSource,omitempty"`
	Encoding       string `json:"encoding,omitempty"` // extension
}

// WorkspaceWriteParams writes a file.
type WorkspaceWriteParams struct {
	Path     string  `json:"path"`
	Content  *string `json:"content"`
	AgentID  AgentID `json:"agentId,omitempty"`
	Encoding string  `json:"encoding,omitempty"` // extension
}

// WorkspaceWriteResult confirms the write; Size is in bytes.
type WorkspaceWriteResult struct {
	Path    string `json:"path"`
	Size    int    `json:"size"`
	Written bool   `json:"written"`
}

// WorkspaceDeleteParams deletes a file.
type WorkspaceDeleteParams struct {
	Path    string  `json:"path"`
	AgentID AgentID `json:"agentId,omitempty"`
}

// WorkspaceDeleteResult confirms the deletion.
type WorkspaceDeleteResult struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}
