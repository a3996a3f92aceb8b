// Package gemini implements Google's Gemini API with a small client of its own: the official SDK
// depends on gRPC, protobuf and some 190 packages for one POST with server-sent events, and panics
// on JSON of an unexpected shape.
//
// Gemini sends complete function calls, mostly without IDs, so IDs are generated here. It requires
// the signatures of its thoughts back with the parts that they came with; [protocol.Block.Opaque]
// stores them.
package gemini
