package config

// SignInProvider is a service at which visitors of published apps prove their email address: an
// OpenID Connect issuer, or GitHub. The names google, microsoft and github have an issuer and a
// title of their own.
type SignInProvider struct {
	Title    string `json:"title,omitempty"`
	Issuer   string `json:"issuer,omitempty" url:"true"`
	ClientID string `json:"clientId,omitempty"`
	// ClientSecret is in the keychain, and "***" here.
	ClientSecret string `json:"clientSecret,omitempty"`
}
