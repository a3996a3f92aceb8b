// Package openai implements the APIs of OpenAI and of all compatible servers: chat completions,
// which dozens of servers offer, and responses, which OpenAI prefers. It is one tolerant client:
// where servers differ (the name of thoughts, the choices of a usage chunk, the end of a stream),
// it accepts every known form, and it omits a parameter that a server has refused from then on.
//
// Data that a provider requires back unchanged (reasoning details, encrypted reasoning items,
// signatures of calls) is stored in [protocol.Block.Opaque] together with its API and model, and is
// sent to no other.
package openai
