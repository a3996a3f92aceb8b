package config

// APIKey returns the key of a model provider, or "".
func (s *Store) APIKey(provider string) string {
	key, _ := s.Secret("apiKeys." + provider)
	return key
}

// BaseURL returns the person's address of a model provider, or "".
func (s *Store) BaseURL(provider string) string { return s.Get().Providers[provider].BaseURL }

// Wire returns the API of a provider, "chat" or "responses", or "" for its default.
func (s *Store) Wire(provider string) string { return s.Get().Providers[provider].Wire }
