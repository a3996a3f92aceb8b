package llm

import (
	"net/http"

	"fairlead/gateway/protocol"
)

// Options say where a model is and what is known of it. Every provider's package takes them.
type Options struct {
	BaseURL string // empty is the provider's own
	Key     string
	Model   string
	Info    protocol.ModelInfo
	HTTP    *http.Client      // nil is http.DefaultClient; its Timeout must allow for a long answer
	Headers map[string]string // sent with every request, over those that the wire sets
}

// Client is the client to use.
func (o Options) Client() *http.Client {
	if o.HTTP == nil {
		return http.DefaultClient
	}
	return o.HTTP
}
