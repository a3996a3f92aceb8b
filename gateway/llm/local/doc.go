// Package local gets and runs models on this computer: it lists those of a short catalogue with
// what they need, downloads them through Ollama or as GGUF files, and runs llama-server for one of
// them while the gateway runs.
//
// Every download is checked against the SHA-256 of the catalogue before it gets its name, so the
// address it comes from need not be trusted. llama-server listens on the loopback address only, and
// requires a key that is new at each start, because any user of the computer can connect to that.
package local
