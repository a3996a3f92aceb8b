// Package anthropic implements Anthropic's messages API through the official SDK, for Anthropic
// itself or a server with the same endpoint, such as llama-server.
//
// The SDK builds requests and decodes events. Three things are done here instead: retries (ours are
// reported to the person), credentials (only a key that the person set is used, never one from the
// environment or files), and the assembly of blocks, because some servers let blocks overlap and
// close all of them at the very end.
package anthropic
