package config

import "net/mail"

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

// Mail configures the server that sends links to visitors.
type Mail struct {
	Host     string `json:"host"` // empty sends no mail
	Port     int    `json:"port" min:"1" max:"65535"`
	Security string `json:"security" oneof:"starttls,tls,none"`
	User     string `json:"user"`
	// Password is in the keychain, and "***" here.
	Password string `json:"password,omitempty"`
	From     string `json:"from"`
}

// Works reports whether links can be mailed.
func (m Mail) Works() bool { return m.Host != "" && m.From != "" }

// mailPassword is the path of a secret that is masked in its object.
const mailPassword = "services.mail.password"

func (m Mail) check(path string) error {
	if _, err := mail.ParseAddress(m.From); m.From != "" && err != nil {
		return bad("%s.from must be an email address such as apps@example.com, not %q", path, m.From)
	}
	return nil
}
