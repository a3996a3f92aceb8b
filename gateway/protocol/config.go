package protocol

import "encoding/json"

// ConfigGetParams reads configuration (seed 004, config.get).
type ConfigGetParams struct {
	Path string `json:"path,omitempty"`
}

// ConfigGetResult holds Config without a path; with one, Path and (when it exists) Value. Secrets read as [MaskedSecret] in both.
type ConfigGetResult struct {
	Path   string          `json:"path,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

// MaskedSecret stands for a secret that is set.
const MaskedSecret = "***"

// ConfigSetParams writes configuration (seed 004, config.set). A missing value resets the path to its default.
type ConfigSetParams struct {
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// ConfigSetResult confirms.
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
	Group       string          `json:"group,omitempty"`   // of settings that belong together, in words
	Type        string          `json:"type"`              // string, integer, number, boolean or list
	Items       string          `json:"items,omitempty"`   // what a list holds: as Type, or object
	Unit        string          `json:"unit,omitempty"`    // what a number counts
	Default     json.RawMessage `json:"default,omitempty"` // absent: there is none
	Enum        []string        `json:"enum,omitempty"`    // the legal texts; the empty one means unset
	Min         *float64        `json:"min,omitempty"`
	Max         *float64        `json:"max,omitempty"`
	Format      string          `json:"format,omitempty"` // how to show it: a Format constant
	Description string          `json:"description"`
	Secret      bool            `json:"secret,omitempty"`  // kept in the keychain, reads as [MaskedSecret]
	Restart     bool            `json:"restart,omitempty"` // in force after the next start; else at once
}

// Values of ConfigField.Format.
const (
	FormatURL      = "url"
	FormatMillis   = "milliseconds"
	FormatDuration = "duration" // text such as 30m
	FormatTimeZone = "timezone" // such as Europe/Berlin
	FormatLines    = "lines"    // text of several lines
)

// ProviderIDs are the known model providers, in the order a window shows them.
var ProviderIDs = []string{"anthropic", "openai", "google", "openrouter", "ollama", "lmstudio", "llamacpp", "compatible", "operator"}

// Provider describes a model provider for the settings window (extension).
type Provider struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	BaseURL  string `json:"baseUrl,omitempty"` // default or as set
	NeedsKey bool   `json:"needsKey"`
	KeySet   bool   `json:"keySet"`
	KeyURL   string `json:"keyUrl,omitempty"` // page where a person gets a key
	Local    bool   `json:"local,omitempty"`
	// EnvKey is the environment variable that holds a key right now, empty when none does.
	EnvKey string `json:"envKey,omitempty"`
}

// ProvidersResult lists providers in the order a window shows them.
type ProvidersResult struct {
	Providers []Provider `json:"providers"`
}

// ModelsListParams asks a provider for its models (extension).
type ModelsListParams struct {
	Provider string `json:"provider"`
}

// ModelInfo describes a model. Zero numbers are unknown; prices are US dollars per million tokens.
type ModelInfo struct {
	ID            string   `json:"id"`
	Name          string   `json:"name,omitempty"`
	ContextWindow int64    `json:"contextWindow,omitempty"`
	MaxOutput     int64    `json:"maxOutput,omitempty"`
	Tools         bool     `json:"tools"`
	Images        bool     `json:"images"`
	Thinking      bool     `json:"thinking"`
	PriceIn       *float64 `json:"priceIn,omitempty"`
	PriceOut      *float64 `json:"priceOut,omitempty"`
	PriceRead     *float64 `json:"priceCacheRead,omitempty"`
	PriceWrite    *float64 `json:"priceCacheWrite,omitempty"`
}

// ModelsListResult holds the provider's own list.
type ModelsListResult struct {
	Models []ModelInfo `json:"models"`
}

// ModelsTestParams tries a provider and, if given, a model with one short request (extension).
type ModelsTestParams struct {
	Provider string `json:"provider"`
	Model    string `json:"model,omitempty"`
}

// ModelsTestResult says how it went. Message is a sentence for the person.
type ModelsTestResult struct {
	OK         bool   `json:"ok"`
	Message    string `json:"message"`
	DurationMs int64  `json:"durationMs"`
}

// DetectedServer is a model server that answered on this machine (extension).
type DetectedServer struct {
	Provider string      `json:"provider"` // id of a [Provider]
	Name     string      `json:"name"`
	BaseURL  string      `json:"baseUrl"`
	State    string      `json:"state"` // ready, loading or needs-key
	Models   []ModelInfo `json:"models,omitempty"`
}

// ModelsDetectResult lists what was found.
type ModelsDetectResult struct {
	Servers []DetectedServer `json:"servers"`
}
