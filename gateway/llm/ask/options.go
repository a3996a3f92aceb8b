// Package ask sends a request to a model server: it says what went wrong in terms that the agent and the person can act on,
// and tries again where that can help. All wires share it.
package ask

import "fairlead/gateway/llm"

// Options say where a model is and what is known of it.
type Options = llm.Options
