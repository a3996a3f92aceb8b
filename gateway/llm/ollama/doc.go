// Package ollama speaks Ollama's own wire: POST /api/chat with one JSON object a line, GET /api/tags, POST /api/show. Its
// OpenAI-compatible endpoint would do for text, but takes no num_ctx, and Ollama's default context is too short for tools.
package ollama
