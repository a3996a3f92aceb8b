package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"strings"

	"fairlead/gateway/catalog"
	"fairlead/gateway/surface/bearer"
	"fairlead/gateway/surface/rest"
)

// openCatalog opens the tools for programs.
func (g *Gateway) openCatalog() error {
	hostname, _ := os.Hostname()
	name := cmp.Or(hostname, "Fairlead")
	sum := sha256.Sum256([]byte(name))
	g.catalog = catalog.New(catalog.Options{
		Pipeline: g.calls, Machines: g.hub, Registry: g.tools, Config: g.config.Get, NetworkName: name, NetworkID: "net_" + hex.EncodeToString(sum[:8]),
		Version: Version, Used: g.apps.Used,
	})
	return nil
}

// programs returns the handler of MCP, REST and their sign-in.
func (g *Gateway) programs() http.Handler {
	mux := http.NewServeMux()
	api := rest.New(rest.Options{Tools: g.catalog, Guard: bearer.Guard{Verify: g.apps.Verify, Base: g.base, Path: resourcePath}, Version: Version})
	mux.Handle("/api", api)
	mux.Handle("/api/", api)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := g.config.Get().API
		if !c.Enabled || r.TLS != nil && !c.Network {
			http.NotFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// base returns the address of the gateway as a program sees it, without a path.
func (g *Gateway) base(r *http.Request) string {
	if public := g.config.Get().API.PublicURL; public != "" {
		return strings.TrimRight(public, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// resourcePath is the path of the resource that tokens are for: MCP and REST are one.
const resourcePath = "/mcp"
