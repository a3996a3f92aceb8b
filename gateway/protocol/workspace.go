package protocol

// EncodingBase64 carries a file's bytes whatever they are (extension); the seed knows text only.
const EncodingBase64 = "base64"

// WorkspaceListParams lists a folder of an agent's workspace (seed 004, workspace.list). An empty path is the workspace, an empty agent the main one.
type WorkspaceListParams struct {
	Path    string  `json:"path,omitempty"`
	AgentID AgentID `json:"agentId,omitempty"`
}

// WorkspaceListResult holds paths relative to the workspace; those of folders end with a slash.
type WorkspaceListResult struct {
	Path        string   `json:"path"`
	Files       []string `json:"files"`
	Directories []string `json:"directories"`
}

// WorkspaceReadParams reads a file (seed 004, workspace.read). A folder is answered with a [WorkspaceListResult].
type WorkspaceReadParams struct {
	Path     string  `json:"path"`
	AgentID  AgentID `json:"agentId,omitempty"`
	Encoding string  `json:"encoding,omitempty"` // extension
	// Default asks for the file as a new agent has it (extension).
	Default bool `json:"default,omitempty"`
}

// WorkspaceReadResult is a file. Size is bytes, LastModified RFC 3339.
type WorkspaceReadResult struct {
	Path         string `json:"path"`
	Content      string `json:"content"`
	Size         int    `json:"size"`
	LastModified string `json:"lastModified"`
	// ResolvedPath and ResolvedSource say which copy of a file below skills/ it is: agent or global.
	ResolvedPath   string `json:"resolvedPath,omitempty"`
	ResolvedSource string `json:"resolvedSource,omitempty"`
	Encoding       string `json:"encoding,omitempty"` // extension
}

// WorkspaceWriteParams writes a file (seed 004, workspace.write).
type WorkspaceWriteParams struct {
	Path     string  `json:"path"`
	Content  *string `json:"content"`
	AgentID  AgentID `json:"agentId,omitempty"`
	Encoding string  `json:"encoding,omitempty"` // extension
}

// WorkspaceWriteResult confirms; Size is bytes.
type WorkspaceWriteResult struct {
	Path    string `json:"path"`
	Size    int    `json:"size"`
	Written bool   `json:"written"`
}

// WorkspaceDeleteParams deletes a file (seed 004, workspace.delete).
type WorkspaceDeleteParams struct {
	Path    string  `json:"path"`
	AgentID AgentID `json:"agentId,omitempty"`
}

// WorkspaceDeleteResult confirms.
type WorkspaceDeleteResult struct {
	Path    string `json:"path"`
	Deleted bool   `json:"deleted"`
}
