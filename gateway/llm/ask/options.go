// Package ask sends a request to a model server: it says what went wrong in terms that the agent and the person can act on,
// and tries again where that can help. It is what the hand-written wires share.
package ask

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
