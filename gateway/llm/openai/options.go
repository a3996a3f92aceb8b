package openai

import (
	"net/http"

	"fairlead/gateway/protocol"
)

// Options say where a model is and what is known of it.
type Options struct {
	BaseURL string
	Key     string
	Model   string
	Info    protocol.ModelInfo
	HTTP    *http.Client // nil: http.DefaultClient
	Headers map[string]string
}
