package protocol

// LocalModel is a model that this computer can get and run by itself (extension).
type LocalModel struct {
	ID     string `json:"id"` // also the model's ID at llama-server
	Title  string `json:"title"`
	Use    string `json:"use"`    // what it is good for
	Memory int64  `json:"memory"` // what it needs to run, in bytes
	Fits   bool   `json:"fits"`   // this computer has that much
	// Ollama is the model's name there; empty if Ollama does not have it.
	Ollama      string `json:"ollama,omitempty"`
	OllamaBytes int64  `json:"ollamaBytes,omitempty"`
	InOllama    bool   `json:"inOllama"` // a running Ollama has it
	File        string `json:"file,omitempty"`
	FileBytes   int64  `json:"fileBytes,omitempty"`
	HasFile     bool   `json:"hasFile"` // the file is in the data folder, complete and checked
}

// LocalProgram is a program that runs models on this computer.
type LocalProgram struct {
	Provider string `json:"provider"`       // ollama, lmstudio or llamacpp
	Path     string `json:"path,omitempty"` // empty if it is not installed, or not found
	BaseURL  string `json:"baseUrl,omitempty"`
	Running  bool   `json:"running"`
}

// States of a [ModelPull].
const (
	PullRunning = "running"
	PullStopped = "stopped" // by the person, or by the end of the gateway; it can be resumed
	PullFailed  = "failed"
	PullDone    = "done"
)

// ModelPull is the download of a model.
type ModelPull struct {
	Provider string `json:"provider"` // ollama or llamacpp
	Model    string `json:"model"`    // ID of a [LocalModel]
	State    string `json:"state"`
	Done     int64  `json:"done"`
	Total    int64  `json:"total"` // 0 as long as it is unknown
	Error    string `json:"error,omitempty"`
}

// LocalServer is the llama-server that the gateway runs.
type LocalServer struct {
	Model string `json:"model"` // ID of a [LocalModel], or the path of a GGUF file
	State string `json:"state"` // [ServerStarting], [ServerReady] or [ServerFailed]
	Error string `json:"error,omitempty"`
}

// LocalModelsResult says what this computer can run.
type LocalModelsResult struct {
	System   string         `json:"system"` // as in Go: linux, darwin, windows …
	Memory   int64          `json:"memory"` // of this computer, in bytes; 0 if unknown
	Programs []LocalProgram `json:"programs"`
	Models   []LocalModel   `json:"models"`
	Pulls    []ModelPull    `json:"pulls"`
	Server   *LocalServer   `json:"server,omitempty"`
}

// ModelPullParams names a download.
type ModelPullParams struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Discard, when a download is stopped, also deletes what it has. Only files have a remainder
	// here; that of Ollama belongs to Ollama.
	Discard bool `json:"discard,omitempty"`
}
