// Package gemini speaks the wire of Google's Gemini through the official SDK.
//
// The SDK builds requests and decodes chunks. Not left to it: retries (ours tell the person), its search for credentials and
// addresses in the environment (only a key that the person set is used), and the ids of calls, which the wire often lacks.
//
// Gemini wants the signature of a thought back on exactly the part it came with. It is kept in [protocol.Block.Opaque] together
// with the model and is sent to no other.
package gemini
