package display

import "testing"

func TestSecretsAreNamedForPeople(t *testing.T) {
	for path, want := range map[string]string{
		"apiKeys.compatible":                  "the key for “OpenAI-compatible server”",
		"apiKeys.mine":                        "the key for “mine”",
		"mcp.servers.github.env.GITHUB_TOKEN": "GITHUB_TOKEN of the MCP server “github”",
		"mcp.servers.github.headers.X-Key.2":  "X-Key.2 of the MCP server “github”",
		"mcp.servers.github.clientSecret":     "the client secret of the MCP server “github”",
		"auth.token":                          "auth.token",
	} {
		if got := SecretName(path); got != want {
			t.Errorf("SecretName(%q): got %q, want %q", path, got, want)
		}
	}
}
