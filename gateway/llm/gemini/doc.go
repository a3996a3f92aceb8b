// Package gemini speaks Google's Gemini API through the official SDK.
//
// Gemini gives whole function calls, mostly without ids, so that ids are made up here; it wants the signatures of its thoughts
// back with the parts they came with, which [protocol.Block.Opaque] keeps. Not left to the SDK: retries (ours tell the person),
// keys from the environment (only one that the person set is used), and its automatic continuation, which would
// repeat requests unseen.
package gemini
