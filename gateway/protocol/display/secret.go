package display

import (
	"strings"

	"fairlead/gateway/protocol"
)

// SecretName names the secret at a path of the configuration, such as the key for “OpenAI”. Another
// path is returned unchanged.
func SecretName(path string) string {
	if id, ok := strings.CutPrefix(path, "apiKeys."); ok {
		return "the key for “" + protocol.ProviderName(id) + "”"
	}
	if rest, ok := strings.CutPrefix(path, "mcp.servers."); ok {
		server, of, _ := strings.Cut(rest, ".")
		kind, name, _ := strings.Cut(of, ".")
		switch {
		case kind == "clientSecret":
			name = "the client secret"
		case name == "":
			return path
		}
		return name + " of the MCP server “" + server + "”"
	}
	return path
}
