package protocol

import (
	"encoding/json"
	"strings"
)

// ConfigGetParams reads the configuration.
type ConfigGetParams struct {
	Path string `json:"path,omitempty"`
}

// ConfigGetResult holds Config when the request had no path; otherwise Path and, if it exists,
// Value. Secrets read as "***" in both.
type ConfigGetResult struct {
	Path   string          `json:"path,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

// MaskedSecret replaces the value of a secret that is set.
const MaskedSecret = "***"

// ConfigSetParams changes the configuration. A missing value resets the path to its default.
type ConfigSetParams struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// ConfigSetResult confirms the change.
type ConfigSetResult struct {
	OK   bool   `json:"ok"`
	Path string `json:"path"`
}

// ConfigSchemaResult describes every setting, in the order of config.get (extension).
type ConfigSchemaResult struct {
	Fields []ConfigField `json:"fields"`
}

// ConfigField is one setting (extension). A "*" in Path stands for a name that the person chooses.
type ConfigField struct {
	Path        string          `json:"path"`
	Title       string          `json:"title,omitempty"`   // a few words for a window
	Group       string          `json:"group,omitempty"`   // title of the group of settings to which it belongs
	Type        string          `json:"type"`              // string, integer, number, boolean or list
	Items       string          `json:"items,omitempty"`   // type of the items of a list: as Type, or object
	Unit        string          `json:"unit,omitempty"`    // unit of a number
	Default     json.RawMessage `json:"default,omitempty"` // missing: no default
	Enum        []string        `json:"enum,omitempty"`    // the valid values; an empty one means unset
	Min         *float64        `json:"min,omitempty"`
	Max         *float64        `json:"max,omitempty"`
	Format      string          `json:"format,omitempty"` // how to display it: url, milliseconds, duration, timezone or lines
	Description string          `json:"description"`
	Secret      bool            `json:"secret,omitempty"`  // stored in the keychain; reads as "***"
	Restart     bool            `json:"restart,omitempty"` // takes effect after the next start; otherwise at once
}

// Values of ConfigField.Format.
const (
	FormatURL      = "url"
	FormatMillis   = "milliseconds"
	FormatDuration = "duration" // text such as 30m
	FormatTimeZone = "timezone" // such as Europe/Berlin
	FormatLines    = "lines"    // text of several lines
)

// ProviderIDs are the known model providers, in the order in which a window shows them.
var ProviderIDs = []string{"anthropic", "openai", "google", "openrouter", "ollama", "lmstudio", "llamacpp", "compatible", "operator"}

var providerNames = map[string]string{
	"anthropic": "Anthropic", "openai": "OpenAI", "google": "Google Gemini", "openrouter": "OpenRouter", "ollama": "Ollama", "lmstudio": "LM Studio",
	"llamacpp": "llama.cpp", "compatible": "OpenAI-compatible server", "operator": "Built-in operator",
}

// ProviderName returns the name of a provider for people. An unknown ID is its own name.
func ProviderName(id string) string {
	if name := providerNames[id]; name != "" {
		return name
	}
	return id
}

// ProviderID returns the ID of a provider with an ID or a name. Another text is returned unchanged.
func ProviderID(text string) string {
	for id, name := range providerNames {
		if strings.EqualFold(text, name) || strings.EqualFold(text, id) {
			return id
		}
	}
	return text
}

// Provider describes a model provider for the settings (extension).
type Provider struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	BaseURL  string `json:"baseUrl,omitempty"` // the default, or the configured one
	NeedsKey bool   `json:"needsKey"`
	KeySet   bool   `json:"keySet"`
	KeyURL   string `json:"keyUrl,omitempty"` // web page where a person gets a key
	Local    bool   `json:"local,omitempty"`
	// EnvKey is the environment variable that holds a key now; empty if none does.
	EnvKey string `json:"envKey,omitempty"`
}

// ProvidersResult lists providers in the order in which a window shows them.
type ProvidersResult struct {
	Providers []Provider `json:"providers"`
}

// ModelsListParams asks a provider for its models (extension).
type ModelsListParams struct {
	Provider string `json:"provider"`
}

// ModelInfo describes a model. A number that is 0 is unknown; prices are US dollars per million
// tokens.
type ModelInfo struct {
	ID            string   `json:"id"`
	Name          string   `json:"name,omitempty"`
	ContextWindow int64    `json:"contextWindow,omitempty"`
	MaxOutput     int64    `json:"maxOutput,omitempty"`
	MaxTools      int      `json:"maxTools,omitempty"` // in one request; 0: no known limit (extension)
	Tools         bool     `json:"tools"`
	Images        bool     `json:"images"`
	Thinking      bool     `json:"thinking"`
	PriceIn       *float64 `json:"priceIn,omitempty"`
	PriceOut      *float64 `json:"priceOut,omitempty"`
	PriceRead     *float64 `json:"priceCacheRead,omitempty"`
	PriceWrite    *float64 `json:"priceCacheWrite,omitempty"`
}

// ModelsListResult is the provider's own list.
type ModelsListResult struct {
	Models []ModelInfo `json:"models"`
}

// ModelsTestParams tests a provider and, if given, a model with one short request (extension).
type ModelsTestParams struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// ModelsTestResult is the result of the test. Message is a sentence for the person.
type ModelsTestResult struct {
	OK         bool   `json:"ok"`
	Message    string `json:"message"`
	DurationMs int64  `json:"durationMs"`
}

// DetectedServer is a model server that answered on this machine (extension).
type DetectedServer struct {
	Provider string      `json:"provider"` // ID of a [Provider]
	Name     string      `json:"name"`
	BaseURL  string      `json:"baseUrl"`
	State    string      `json:"state"` // ready, loading or needs-key
	Models   []ModelInfo `json:"models,omitempty"`
}

// ModelsDetectResult lists the servers that were found.
type ModelsDetectResult struct {
	Servers []DetectedServer `json:"servers"`
}
