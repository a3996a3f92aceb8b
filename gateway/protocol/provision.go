package protocol

// TaskID identifies a machine that Fairlead rented, from the request until its end.
type TaskID string

// States of a provisioning task.
const (
	TaskCreating   = "creating"   // the provider creates the machine
	TaskConnecting = "connecting" // the machine exists and installs its node
	TaskRunning    = "running"    // its node has connected
	TaskDeleting   = "deleting"   // the provider deletes the machine; repeated until it succeeds
	TaskFailed     = "failed"     // the machine was not created, and nothing of it is left
)

// Limits of a rented machine. Providers with fixed sizes ignore them.
const (
	DefaultCPU, MinCPU, MaxCPU          = 256, 256, 4096  // 1024 is a processor
	DefaultMemory, MinMemory, MaxMemory = 512, 512, 16384 // MiB
	DefaultProvider                     = "aws"
)

// ProvisionTask is a rented machine (extension).
type ProvisionTask struct {
	ID        TaskID    `json:"taskId"`
	Node      NodeID    `json:"nodeId"`            // its name, too
	Network   NetworkID `json:"network,omitempty"` // empty: the default one
	Provider  string    `json:"provider"`
	CPU       int       `json:"cpu"`
	Memory    int       `json:"memory"`
	State     string    `json:"state"`
	Reference string    `json:"reference,omitempty"` // the provider's ID of the machine
	Summary   string    `json:"summary"`             // size, for people
	Cost      string    `json:"cost,omitempty"`      // for people
	Notes     []string  `json:"notes,omitempty"`     // of the provider
	Progress  string    `json:"progress,omitempty"`  // the provider's last report
	// Problem is why the machine was not created, or why it is not deleted yet.
	Problem   string `json:"problem,omitempty"`
	Failed    bool   `json:"failed,omitempty"` // it is deleted because a step failed
	By        string `json:"by"`               // who rented it
	CreatedAt int64  `json:"createdAt"`
	// ConnectedAt is the time at which the machine existed, from which it must connect in time.
	ConnectedAt int64 `json:"connectedAt,omitempty"`
}

// ProvisionParams describe a machine to rent.
type ProvisionParams struct {
	Node     NodeID    `json:"nodeId"`
	Network  NetworkID `json:"network,omitempty"`  // default: the default network
	Provider string    `json:"provider,omitempty"` // default: aws
	CPU      int       `json:"cpu,omitempty"`      // 256 to 4096, default 256
	Memory   int       `json:"memory,omitempty"`   // MiB: 512 to 16384, default 512
}

// ProvisionOffer is what a provider would create.
type ProvisionOffer struct {
	ProvisionParams
	Summary string `json:"summary"`
	Cost    string `json:"cost,omitempty"`
}

// ProvisionProvider is a program that creates machines.
type ProvisionProvider struct {
	Name string `json:"name"`
	// Settings are the names of the stored settings, such as credentials. Their values are secret.
	Settings []string `json:"settings,omitempty"`
}

// ProvisionListResult lists the rented machines, oldest first, and the providers.
type ProvisionListResult struct {
	Tasks     []ProvisionTask     `json:"tasks"`
	Providers []ProvisionProvider `json:"providers"`
	Folder    string              `json:"folder"` // with the programs of the providers
}

// ProvisionSettingsParams stores settings of a provider in the keychain, in place of earlier ones.
type ProvisionSettingsParams struct {
	Provider string            `json:"provider"`
	Settings map[string]string `json:"settings"` // empty: none
}

// Methods for rented machines. Machines are rented and deleted through tools, about which the person
// is asked: gsv__NodeProvision and gsv__NodeDeprovision.
var (
	ProvisionList     = Method[Empty, ProvisionListResult]{"provisioning.list", ScopeAdmin, clients, extension}
	ProvisionOfferOf  = Method[ProvisionParams, ProvisionOffer]{"provisioning.offer", ScopeAdmin, clients, extension}
	ProvisionSettings = Method[ProvisionSettingsParams, OK]{"provisioning.settings", ScopeAdmin, clients, extension}
)
