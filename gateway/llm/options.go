package llm

import (
	"net/http"

	"fairlead/gateway/protocol"
)

// Options hold the address and the known properties of a model. Every provider's package uses them.
type Options struct {
	BaseURL string // empty means the provider's own
	Key     string
	Model   string
	Info    protocol.ModelInfo
	// nil means http.DefaultClient; its Timeout must allow for a long answer
	HTTP *http.Client
	// sent with every request; they override those of the provider's package
	Headers map[string]string
}

// Client returns the HTTP client to use.
func (o Options) Client() *http.Client {
	if o.HTTP == nil {
		return http.DefaultClient
	}
	return o.HTTP
}
