// Package detect finds model servers on this machine. It connects to loopback addresses only,
// identifies servers by their responses instead of their ports, and never makes one load or
// download a model.
//
// On a shared computer, any user may listen on a port. So a found server is only a proposal, to be
// used after the person has agreed.
package detect

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// The states of a [protocol.DetectedServer].
const (
	Ready    = "ready"
	Loading  = "loading"
	NeedsKey = "needs-key"
)

const (
	connectTimeout = 300 * time.Millisecond
	readTimeout    = 2 * time.Second
	scanTimeout    = 8 * time.Second // a server with many models gets a request for each
)

// Addresses returns the usual addresses of servers: OLLAMA_HOST if that is this machine, then the
// default ports of Ollama, LM Studio, llama.cpp (old and new), Jan (app and command) and vLLM.
func Addresses() []string {
	list := []string{
		"127.0.0.1:11434", "127.0.0.1:1234", "127.0.0.1:8080", "127.0.0.1:9931", "127.0.0.1:1337", "127.0.0.1:6767", "127.0.0.1:8000",
	}
	if a := ollamaHost(os.Getenv("OLLAMA_HOST")); a != "" {
		list = append([]string{a}, list...)
	}
	return list
}

// ollamaHost parses OLLAMA_HOST as Ollama does. An address that means "all interfaces" is replaced
// by the loopback one.
func ollamaHost(value string) string {
	if value == "" || strings.HasPrefix(value, "https://") {
		return ""
	}
	value, plain := strings.CutPrefix(value, "http://")
	value, _, _ = strings.Cut(value, "/")
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		host, port = strings.Trim(value, "[]"), "11434"
		if plain {
			port = "80"
		}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// Scan queries all addresses (host:port) concurrently and returns the model servers among them, in
// the order of the addresses. It skips addresses that are not loopback. It returns within eight
// seconds, with the information that each server has sent by then.
func Scan(ctx context.Context, addresses []string) []protocol.DetectedServer {
	ctx, cancel := context.WithTimeout(ctx, scanTimeout)
	defer cancel()
	transport := &http.Transport{
		Proxy:                 nil, // requests to this machine never use a proxy
		DialContext:           (&net.Dialer{Timeout: connectTimeout}).DialContext,
		ResponseHeaderTimeout: readTimeout,
		DisableCompression:    true,
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		Timeout:       connectTimeout + readTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	found := make([]*protocol.DetectedServer, len(addresses))
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for i, a := range addresses {
		if !loopback(a) || seen[a] {
			continue
		}
		seen[a] = true
		wg.Go(func() {
			p := prober{client: client, root: "http://" + a, address: a}
			found[i] = p.probe(ctx)
		})
	}
	wg.Wait()
	var out []protocol.DetectedServer
	for _, s := range found {
		if s != nil {
			out = append(out, *s)
		}
	}
	return out
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
