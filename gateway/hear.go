package gateway

import (
	"context"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/speech"
)

// transcribe transcribes a recording with the configured server. OpenAI's key is sent to OpenAI's
// address only; the key of another server is named "transcription".
func (g *Gateway) transcribe(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	cfg := g.config.Get()
	t := cfg.Transcription
	if t.Provider != "openai" {
		return "", protocol.ErrUnavailable.With("No server for it is set up: set transcription.provider to openai, and a key, or transcription.baseUrl.")
	}
	s := speech.Server{BaseURL: t.BaseURL, Model: t.Model}
	keyName := "apiKeys.transcription"
	if s.BaseURL == "" {
		s.BaseURL, keyName = cfg.Providers["openai"].BaseURL, "apiKeys.openai"
	}
	s.Key, _ = g.config.Secret(keyName)
	if s.BaseURL == "" && s.Key == "" {
		return "", protocol.ErrModelAuth.With("It needs a key: set " + keyName + ".")
	}
	text, err := s.Transcribe(ctx, name, mimeType, data)
	return text, keychain.Hide(err, s.Key)
}
