package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// MCP configures the MCP servers whose tools the agent can use.
type MCP struct {
	// Servers are the servers by name. Secret values of their variables and headers are in the
	// keychain, and "***" here.
	Servers map[string]protocol.ServerSpec `json:"servers"`
	// ToolBudget is how many bytes the descriptions and schemas of their tools may have in a request
	// to a model. Tools beyond it are found by search.
	ToolBudget int `json:"toolBudget" min:"0" max:"10000000"`
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

// CheckServerName returns an error about a name that no server can have.
func CheckServerName(name protocol.ServerName) error {
	switch {
	case len(name) > 32 || !serverName.MatchString(string(name)):
		return bad("the name of a server has 1 to 32 letters, digits, hyphens and single underscores between them, not %.60q", string(name))
	case strings.EqualFold(string(name), string(protocol.NativePrefix)) || strings.EqualFold(string(name), string(protocol.Here)):
		return bad("the name %q is reserved: choose another name for the server", string(name))
	}
	return nil
}

// placeholder is what other programs replace in their settings of servers, such as ${input:key}.
var placeholder = regexp.MustCompile(`\$\{((input|env|command|config):[^}]*|workspaceFolder[^}]*|userHome)\}`)

func checkPlaceholder(path, text string) error {
	if p := placeholder.FindString(text); p != "" {
		return bad("%s has the placeholder %s of another program: write its value instead", path, p)
	}
	return nil
}

func checkServer(path string, s protocol.ServerSpec) error {
	name := path[strings.LastIndexByte(path, '.')+1:]
	if err := CheckServerName(protocol.ServerName(name)); err != nil {
		return err
	}
	switch {
	case s.Command == "" && s.URL == "":
		return bad("%s needs a command or a url", path)
	case s.Command != "" && s.URL != "":
		return bad("%s must have a command or a url, not both", path)
	case s.Command != "" && (s.ClientID != "" || s.ClientSecret != ""), s.ClientID == "" && s.ClientSecret != "":
		return bad("%s: clientId and clientSecret belong together, to a url", path)
	case s.URL != "" && (len(s.Env) > 0 || len(s.Args) > 0 || s.Cwd != "" || s.Node != "" || s.Network != ""):
		return bad("%s has a url: args, env, cwd, node and network belong to a command", path)
	case s.Command != "" && len(s.Headers) > 0:
		return bad("%s has a command: headers belong to a url", path)
	}
	if problem := s.CannotFetch(); s.Network == protocol.ServerNetworkFetch && problem != "" {
		return bad("%s.network: %s", path, problem)
	}
	for _, text := range append([]string{s.Command, s.Cwd, s.URL}, s.Args...) {
		if strings.ContainsRune(text, 0) {
			return bad("%s contains a zero byte", path)
		}
		if err := checkPlaceholder(path, text); err != nil {
			return err
		}
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return bad("%s.env: %q cannot be a variable", path, name)
		}
	}
	for name, value := range s.Headers {
		if name == "" || strings.ContainsAny(name, " :\r\n") || strings.ContainsAny(value, "\r\n\x00") || http.CanonicalHeaderKey(name) == "Host" {
			return bad("%s.headers: %q cannot be a header", path, name)
		}
	}
	return nil
}

var (
	secretName  = regexp.MustCompile(`(?i)key|token|secret|passw|pwd|auth|credential|cookie|private|dsn|(^|_)pat($|_)`)
	secretValue = regexp.MustCompile(`^(sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza|eyJ|Bearer )`)
)

// clientSecret is the name of a setting of a server, or of a sign-in provider, that is a secret.
const clientSecret = "clientSecret"

// isSecret reports whether a variable or a header of a server is stored in the keychain: every
// header, and each variable that looks like a secret.
func isSecret(kind, name, value string) bool {
	if kind == "headers" || secretName.MatchString(name) || secretValue.MatchString(value) {
		return value != ""
	}
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	_, hasPassword := u.User.Password()
	return hasPassword
}

// hasMasked reports whether values below a path can be secrets that read as "***" in their object.
func hasMasked(path string) bool {
	return path == "mcp" || path == "services" || strings.HasPrefix(path+".", "mcp.servers.") || strings.HasPrefix(path, "services.")
}

// hideSecrets replaces the secret values of servers and sign-in providers in a new value of a
// setting. It returns them by their paths. A value that is masked already must have a stored
// secret.
func (s *Store) hideSecrets(path string, value json.RawMessage) (json.RawMessage, map[string]string, error) {
	if !hasMasked(path) {
		return value, map[string]string{}, nil
	}
	var tree any
	if err := json.Unmarshal(value, &tree); err != nil {
		return nil, nil, bad("%s cannot be read", path) // do not repeat a value that may hold a secret
	}
	found := make(map[string]string)
	var problem error
	var hide func(at []string, v any) any
	hide = func(at []string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, part := range v {
				v[name] = hide(append(slices.Clone(at), name), part)
			}
		case string:
			name := strings.Join(at, ".")
			isWhole := len(at) == 4 && at[3] == clientSecret || name == mailPassword
			if !isWhole && (len(at) != 5 || at[3] != "env" && at[3] != "headers") {
				return v
			}
			if _, stored := s.Secret(name); v == protocol.MaskedSecret && !stored {
				problem = bad("%s must be the value itself, not its placeholder %s", name, protocol.MaskedSecret)
			}
			if err := checkPlaceholder(name, v); err != nil {
				problem = err
			}
			if v != protocol.MaskedSecret && v != "" && (isWhole || isSecret(at[3], at[len(at)-1], v)) {
				found[name] = v
				return protocol.MaskedSecret
			}
		}
		return v
	}
	tree = hide(strings.Split(path, "."), tree)
	if problem != nil {
		return nil, nil, problem
	}
	out, err := protocol.Marshal(tree)
	return out, found, err
}

// maskedSecrets returns the paths of the masked values of servers, sign-in providers and mail.
func maskedSecrets(c Config) map[string]bool {
	paths := make(map[string]bool)
	if c.Services.Mail.Password == protocol.MaskedSecret {
		paths[mailPassword] = true
	}
	for name, p := range c.Services.SignIn {
		if p.ClientSecret == protocol.MaskedSecret {
			paths[strings.Join([]string{"services.signIn", name, clientSecret}, ".")] = true
		}
	}
	for name, spec := range c.MCP.Servers {
		if spec.ClientSecret == protocol.MaskedSecret {
			paths[strings.Join([]string{"mcp.servers", name, clientSecret}, ".")] = true
		}
		for kind, values := range map[string]map[string]string{"env": spec.Env, "headers": spec.Headers} {
			for key, value := range values {
				if value == protocol.MaskedSecret {
					paths[strings.Join([]string{"mcp.servers", name, kind, key}, ".")] = true
				}
			}
		}
	}
	return paths
}

// unusedSecrets returns the paths of the secrets of servers and providers that a configuration does
// not have.
func (s *Store) unusedSecrets(now Config) []string {
	used := maskedSecrets(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	paths := slices.Concat(slices.Collect(maps.Keys(s.keys)), s.missing)
	return slices.DeleteFunc(paths, func(p string) bool { return !hasMasked(p) || used[p] })
}

// loadSecrets reads the secrets of servers and providers at the start.
func (s *Store) loadSecrets() (problems []error) {
	for path := range maskedSecrets(s.current) {
		v, err := s.secrets.Get(path)
		switch {
		case err == nil:
			s.keys[path] = v.Reveal()
		case errors.Is(err, keychain.ErrNotFound):
			s.missing = append(s.missing, path)
			problems = append(problems, fmt.Errorf("%s is missing in %s: enter it again", path, s.secrets.Where()))
		default:
			problems = append(problems, err)
		}
	}
	return problems
}

// Server returns the settings of a server with its secrets; false if there is no such server.
func (s *Store) Server(name protocol.ServerName) (protocol.ServerSpec, bool) {
	spec, ok := s.Get().MCP.Servers[string(name)]
	reveal := func(kind string, values map[string]string) map[string]string {
		out := make(map[string]string, len(values))
		for key, value := range values {
			if value == protocol.MaskedSecret {
				value, _ = s.Secret(strings.Join([]string{"mcp.servers", string(name), kind, key}, "."))
			}
			out[key] = value
		}
		return out
	}
	if spec.ClientSecret == protocol.MaskedSecret {
		spec.ClientSecret, _ = s.Secret(strings.Join([]string{"mcp.servers", string(name), clientSecret}, "."))
	}
	spec.Env, spec.Headers = reveal("env", spec.Env), reveal("headers", spec.Headers)
	return spec, ok
}

// isServer reports whether a path is that of a whole server or sign-in provider.
func isServer(path string) bool {
	return (strings.HasPrefix(path, "mcp.servers.") || strings.HasPrefix(path, "services.signIn.")) && strings.Count(path, ".") == 2
}
