//go:build conformance

// Command conformance runs a gateway whose MCP server also has the tools, resources and prompts that
// the conformance suite of MCP uses. packaging/conformance.sh adds them from the SDK's own fixture,
// as fixture.go of this package. Requests take the same way as those of programs: checks of Host and
// Origin, the token, the scopes, and the choice of the protocol version. The suite sends no token,
// so that a proxy in front adds the owner's.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, with FAIRLEAD_HOME as data folder and FAIRLEAD_TOKEN as token. It prints
// the address of the proxy.
func run(ctx context.Context) error {
	g, err := gateway.Open(ctx, gateway.Options{
		Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
		ExtendMCP: func(s *mcp.Server) []string {
			registerTools(s)
			registerResources(s)
			registerPrompts(s)
			go watchedResourceUpdater(ctx, s)
			return []string{watchedResourceURI}
		},
	})
	if err != nil {
		return err
	}
	defer g.Close()
	ran := make(chan error, 1)
	go func() { ran <- g.Run(ctx) }()
	to, err := url.Parse(g.URL())
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	// Connections that are used again make the proxy lose answers now and then.
	transport := &http.Transport{DisableKeepAlives: true}
	go http.Serve(l, &httputil.ReverseProxy{FlushInterval: -1, Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: to.Host})
		r.Out.Host = r.In.Host // the suite tests the checks of the gateway with it
		r.Out.Header.Set("Authorization", "Bearer "+os.Getenv("FAIRLEAD_TOKEN"))
	}})
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return <-ran
}
