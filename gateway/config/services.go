package config

// Services configures published apps.
type Services struct {
	// SignIn are the providers at which visitors can sign in, by name.
	SignIn map[string]SignInProvider `json:"signIn"`
}

// DefaultServices has no provider.
func DefaultServices() Services { return Services{SignIn: map[string]SignInProvider{}} }
