package protocol

// SkillsParams names the agent whose skills are meant; empty is the main one (seed 004, skills.status and skills.update).
type SkillsParams struct {
	AgentID AgentID `json:"agentId,omitempty"`
}

// SkillsStatusResult answers skills.status and skills.update (seed 004). RefreshedAt is when the files were last read.
type SkillsStatusResult struct {
	AgentID     AgentID            `json:"agentId"`
	RefreshedAt int64              `json:"refreshedAt"`
	Nodes       []SkillNodeStatus  `json:"nodes"`
	Skills      []SkillStatusEntry `json:"skills"`
}

// SkillNodeStatus is a machine as skills see it (seed 004). Machines that are offline are listed too.
type SkillNodeStatus struct {
	NodeID           NodeID   `json:"nodeId"`
	Online           bool     `json:"online"`
	HostCapabilities []string `json:"hostCapabilities"`
}

// Where a skill comes from; an agent's own hides a shared one of the same folder, and that one a built-in one.
const (
	SkillAgent   = "agent"
	SkillGlobal  = "global"
	SkillBuiltIn = "built-in"
)

// SkillStatusEntry is one skill and whether it can be used now (seed 004), with extensions from Source on.
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
	// Path is what gsv__ReadFile and workspace.read take.
	Path          string `json:"path"`
	Enabled       bool   `json:"enabled"`
	Homepage      string `json:"homepage,omitempty"`
	License       string `json:"license,omitempty"`
	Compatibility string `json:"compatibility,omitempty"`
	// Problems are faults in the file that did not keep it from being read.
	Problems []string `json:"problems,omitempty"`
	// SettingsKey is under which name below skills.entries its settings stand; empty when there can be none.
	SettingsKey string `json:"settingsKey,omitempty"`
	// Missing says for machines that are online and cannot carry the skill out what they lack, at most [MaxSkillMissing] of them.
	Missing []SkillMissing `json:"missing,omitempty"`
}

// MaxSkillMissing bounds SkillStatusEntry.Missing.
const MaxSkillMissing = 20

// SkillMissing is what a machine lacks for a skill, in plain words.
type SkillMissing struct {
	NodeID NodeID   `json:"nodeId"`
	Lacks  []string `json:"lacks"`
}

// SkillRequirementSnapshot is what a skill needs of one machine (seed 004 leaves the fields open). Capabilities decide and, where a machine
// tells, its system, its programs and the names of the environment variables that its commands find.
type SkillRequirementSnapshot struct {
	Capabilities []string `json:"capabilities"`
	OS           []string `json:"os,omitempty"`
	Bins         []string `json:"bins,omitempty"`
	AnyBins      []string `json:"anyBins,omitempty"`
	Env          []string `json:"env,omitempty"`
}

// SkillsEnableParams switches a skill on or off (extension). It is the setting skills.entries.NAME.enabled.
type SkillsEnableParams struct {
	Name    string `json:"name"`
	Enabled bool   `json:"enabled"`
}
