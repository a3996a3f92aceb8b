// Package anthropic speaks Anthropic's messages wire through the official SDK, to Anthropic itself or to a server that has the
// same endpoint, such as llama-server.
//
// The SDK builds requests and decodes events. Not left to it: retries (ours tell the person), its search for credentials in
// environment and files (only a key that the person set is used), and putting blocks together, because some servers let
// blocks overlap and close all of them at the very end.
package anthropic
