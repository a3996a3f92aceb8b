package local

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pbnjay/memory"

	"fairlead/gateway/event"
	"fairlead/gateway/llm/detect"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// Providers whose models this package gets.
const (
	Ollama   = "ollama"
	LlamaCPP = "llamacpp"
	studio   = "lmstudio"
)

// Settings are the person's settings.
type Settings interface {
	// Provider returns the key, the address and the API of a provider; "" for a missing one.
	Provider(id string) (key, baseURL, wire string)
	// LocalModels returns the model that llama-server runs, empty for none, its context in tokens,
	// and the address of the mirror with GGUF files.
	LocalModels() (serve string, contextTokens int, mirror string)
}

// Options are what a [Models] works with.
type Options struct {
	Folder   string // for GGUF files; it need not exist yet
	Settings Settings
	Bus      *event.Bus // gets the progress of downloads and the state of llama-server
}

// Models are the models of this computer. It is safe for concurrent use.
type Models struct {
	o    Options
	list []entry
	http *http.Client
	wake wake.Signal // the settings changed

	mu     sync.Mutex // guards the following
	ctx    context.Context
	pulls  map[string]*pull // by model
	work   crash.Group      // downloads
	server server
}

// New returns the models of this computer. Nothing happens before Run.
func New(o Options) *Models {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	return &Models{
		o: o, list: catalogue(), http: &http.Client{Transport: transport},
		wake: wake.New(), pulls: make(map[string]*pull),
	}
}

// Run runs llama-server as the settings say, and the downloads, until ctx ends.
func (m *Models) Run(ctx context.Context) {
	m.mu.Lock()
	m.ctx = ctx
	m.mu.Unlock()
	defer m.work.Wait()
	m.serve(ctx)
}

// ConfigChanged makes Run follow a changed setting. It does not wait.
func (m *Models) ConfigChanged(string) { m.reload() }

// reload makes Run check again what llama-server should do.
func (m *Models) reload() {
	m.wake.Send()
}

// Address returns the key and the address of the llama-server that the gateway runs; "" for other
// providers, and without one.
func (m *Models) Address(provider string) (key, baseURL string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if provider != LlamaCPP || m.server.address == "" {
		return "", ""
	}
	return m.server.key, m.server.address + "/v1"
}

// List says what this computer can run. It searches for programs that run models, and returns within
// eight seconds.
func (m *Models) List(ctx context.Context) protocol.LocalModelsResult {
	found := detect.Scan(ctx, detect.Addresses())
	r := protocol.LocalModelsResult{
		System: runtime.GOOS, Memory: int64(memory.TotalMemory()), //nolint:gosec // it is below 2^63
		Programs: []protocol.LocalProgram{program(Ollama, found, "ollama"), program(studio, found, "lms"), program(LlamaCPP, found, serverName)},
		Pulls:    []protocol.ModelPull{},
	}
	inOllama := map[string]bool{}
	for _, s := range found {
		if s.Provider == Ollama {
			for _, x := range s.Models {
				inOllama[strings.TrimSuffix(x.ID, ":latest")] = true
			}
		}
	}
	for _, e := range m.list {
		_, err := os.Stat(m.path(e))
		r.Models = append(r.Models, protocol.LocalModel{
			ID: e.ID, Title: e.Title, Use: e.Use, Memory: e.Memory, Fits: r.Memory == 0 || e.Memory <= r.Memory,
			Ollama: e.Ollama, OllamaBytes: e.OllamaBytes, InOllama: inOllama[e.Ollama],
			File: e.File, FileBytes: e.FileBytes, HasFile: err == nil,
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.list {
		if p := m.pulls[e.ID]; p != nil {
			r.Pulls = append(r.Pulls, p.ModelPull)
		}
	}
	if m.server.state.State != "" {
		state := m.server.state
		r.Server = &state
	}
	return r
}

func (m *Models) path(e entry) string { return filepath.Join(m.o.Folder, e.File) }

// program describes a program: whether it answers, and where its file is.
func program(provider string, found []protocol.DetectedServer, name string) protocol.LocalProgram {
	p := protocol.LocalProgram{Provider: provider}
	if path, err := exec.LookPath(name); err == nil {
		p.Path = path
	}
	if i := slices.IndexFunc(found, func(s protocol.DetectedServer) bool { return s.Provider == provider }); i >= 0 {
		p.Running, p.BaseURL = true, found[i].BaseURL
	}
	return p
}
