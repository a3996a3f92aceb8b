package protocol

// SkillsParams selects the agent; empty is the main agent.
type SkillsParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// SkillsStatusResult answers skills.status and skills.update. RefreshedAt is the time at which the
// files were last read.
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

// SkillStatusEntry describes one skill and whether it can be used now. Source and the fields after
// it are extensions.
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
	// SettingsKey is the name of the skill's settings under skills.entries; empty when it cannot
	// have any.
	SettingsKey string `json:"settingsKey,omitempty"`
	// Missing lists what online machines lack to use the skill, for at most 20
	// machines.
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
