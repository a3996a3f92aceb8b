// Package openai speaks the wire of OpenAI and of everything that imitates it: chat completions, which dozens of servers
// offer, and responses, which OpenAI prefers. It is one tolerant client: what servers disagree on (how a thought is
// called, whether a usage chunk has choices, whether a stream says that it is done) is accepted in every known form, and a
// parameter that a server refuses is left out from then on.
//
// What a provider wants back unchanged (reasoning details, encrypted reasoning items, signatures on calls) is kept in
// [protocol.Block.Opaque] together with the wire and the model it came from, and is sent to no other.
package openai
