package display

import (
	"fmt"

	"fairlead/gateway/protocol"
)

// LocalProgram describes a program that runs models, and how to get one that is missing.
func LocalProgram(p protocol.LocalProgram, system string) string {
	name := protocol.ProviderName(p.Provider)
	switch {
	case p.Running:
		return fmt.Sprintf("%s is running at %s.", name, p.BaseURL)
	case p.Path != "" && p.Provider == "llamacpp":
		return fmt.Sprintf("%s is installed (%s). Fairlead starts it for a model.", name, p.Path)
	case p.Path != "":
		return fmt.Sprintf("%s is installed, but not running. %s", name, startHint(p.Provider, system))
	}
	return fmt.Sprintf("%s is not installed. %s", name, installHint(p.Provider, system))
}

func startHint(provider, system string) string {
	switch {
	case provider == "lmstudio":
		return "Start it, and turn on its server under Developer."
	case system == "linux":
		return "To start it: ollama serve"
	}
	return "Open it from your programs."
}

// installHint says what to install, by provider and system (as in Go).
func installHint(provider, system string) string {
	hints := map[string]map[string]string{
		"ollama": {
			"linux":   "Get it at https://ollama.com/download/linux, or from your distribution.",
			"darwin":  "To install it: brew install ollama; or get it at https://ollama.com/download.",
			"windows": "To install it: winget install Ollama.Ollama; or get it at https://ollama.com/download.",
		},
		"lmstudio": {
			"linux":   "Get it at https://lmstudio.ai.",
			"darwin":  "To install it: brew install --cask lm-studio; or get it at https://lmstudio.ai.",
			"windows": "To install it: winget install ElementLabs.LMStudio; or get it at https://lmstudio.ai.",
		},
		"llamacpp": {
			"linux":   "On Debian 14 and Ubuntu: sudo apt install llama.cpp-tools; with Homebrew: brew install llama.cpp.",
			"darwin":  "To install it: brew install llama.cpp",
			"windows": "To install it: winget install ggml.llamacpp",
		},
	}
	if text := hints[provider][system]; text != "" {
		return text
	}
	return hints[provider]["linux"]
}

// LocalServer describes the llama-server that the gateway runs.
func LocalServer(s protocol.LocalServer) string {
	switch s.State {
	case protocol.ServerReady:
		return fmt.Sprintf("llama-server runs %s.", s.Model)
	case protocol.ServerFailed:
		return fmt.Sprintf("llama-server does not run %s: %s", s.Model, s.Error)
	}
	return fmt.Sprintf("llama-server is loading %s.", s.Model)
}
