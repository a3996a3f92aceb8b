package protocol

// EncodingBase64 carries arbitrary bytes (extension); without it, only text.
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

// SkillsParams selects the agent; empty is the main agent.
type SkillsParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// SkillsStatusResult answers skills.status and skills.update. The files were read at RefreshedAt.
type SkillsStatusResult struct {
	AgentID     AgentID            `json:"agentId"`
	RefreshedAt int64              `json:"refreshedAt"`
	Nodes       []SkillNodeStatus  `json:"nodes"`
	Skills      []SkillStatusEntry `json:"skills"`
}

// SkillNodeStatus describes a machine for the skills. Offline machines are listed too.
type SkillNodeStatus struct {
	NodeID           NodeID   `json:"nodeId"`
	Online           bool     `json:"online"`
	HostCapabilities []string `json:"hostCapabilities"`
}

// Sources of a skill. An agent's own skill replaces a shared one in a folder of the same name, and
// a shared one replaces a built-in one.
const (
	SkillAgent   = "agent"
	SkillGlobal  = "global"
	SkillBuiltIn = "built-in"
)

// SkillStatusEntry describes a skill and whether it can be used. From Source on: extensions.
type SkillStatusEntry struct {
	Name          string                   `json:"name"`
	Description   string                   `json:"description"`
	Location      string                   `json:"location"`
	Always        bool                     `json:"always"`
	Eligible      bool                     `json:"eligible"`
	EligibleHosts []NodeID                 `json:"eligibleHosts"`
	Reasons       []string                 `json:"reasons"`
	Requirements  SkillRequirementSnapshot `json:"requirements"`

	Source string `json:"source"`
	// Path is the skill's path for gsv__ReadFile and workspace.read.
	Path          string `json:"path"`
	Enabled       bool   `json:"enabled"`
	Homepage      string `json:"homepage,omitempty"`
	License       string `json:"license,omitempty"`
	Compatibility string `json:"compatibility,omitempty"`
	// Problems are faults in the file that did not prevent it from being read.
	Problems []string `json:"problems,omitempty"`
	// SettingsKey is the skill's name under skills.entries; empty when it cannot have settings.
	SettingsKey string `json:"settingsKey,omitempty"`
	// Missing lists what at most 20 online machines lack to use the skill.
	Missing []SkillMissing `json:"missing,omitempty"`
}

// MaxSkillMissing is the maximum length of SkillStatusEntry.Missing.
const MaxSkillMissing = 20

// SkillMissing lists what a machine lacks for a skill, in words for people.
type SkillMissing struct {
	NodeID NodeID   `json:"nodeId"`
	Lacks  []string `json:"lacks"`
}

// SkillRequirementSnapshot lists the requirements of a skill on one machine. The specification does
// not define its fields. Capabilities are always checked. The operating system, the programs and
// the names of environment variables are checked only on machines that report them.
type SkillRequirementSnapshot struct {
	Capabilities []string `json:"capabilities"`
	OS           []string `json:"os,omitempty"`
	Bins         []string `json:"bins,omitempty"`
	AnyBins      []string `json:"anyBins,omitempty"`
	Env          []string `json:"env,omitempty"`
}

// SkillsEnableParams enables or disables a skill (extension). It changes the setting
// skills.entries.NAME.enabled.
type SkillsEnableParams struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}
