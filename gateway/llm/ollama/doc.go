// Package ollama implements Ollama's own API: POST /api/chat with one JSON object per line, GET
// /api/tags, POST /api/show. Its OpenAI-compatible endpoint would be enough for text, but does not
// accept num_ctx, and Ollama's default context is too short for tools.
package ollama
