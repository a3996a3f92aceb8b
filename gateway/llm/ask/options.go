// Package ask sends requests to model servers: it converts failures to errors that the agent and
// the person can act on, and retries requests if that can help. All providers use it.
package ask

import "fairlead/gateway/llm"

// Options hold the address and the known properties of a model.
type Options = llm.Options
