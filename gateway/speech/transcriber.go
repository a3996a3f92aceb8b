package speech

import (
	"context"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Config provides the person's settings; *config.Store implements it.
type Config interface {
	Get() config.Config
	Secret(path string) (string, bool)
}

// Transcriber transcribes recordings with the server in the settings.
type Transcriber struct{ Config Config }

// Transcribe returns the text of a recording. OpenAI's key is sent to OpenAI's address only; the
// key of another server is named "transcription".
func (t Transcriber) Transcribe(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	cfg := t.Config.Get()
	if cfg.Transcription.Provider != "openai" {
		return "", protocol.ErrUnavailable.With("No transcription server is set up: set transcription.provider to openai, and a key or transcription.baseUrl.")
	}
	s := Server{BaseURL: cfg.Transcription.BaseURL, Model: cfg.Transcription.Model}
	keyName := "apiKeys.transcription"
	if s.BaseURL == "" {
		s.BaseURL, keyName = cfg.Providers["openai"].BaseURL, "apiKeys.openai"
	}
	s.Key, _ = t.Config.Secret(keyName)
	if s.BaseURL == "" && s.Key == "" {
		return "", protocol.ErrModelAuth.With("Transcription needs a key: set " + keyName + ".")
	}
	text, err := s.Transcribe(ctx, name, mimeType, data)
	return text, keychain.Hide(err, s.Key)
}
