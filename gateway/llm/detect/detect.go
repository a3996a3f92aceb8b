// Package detect finds model servers on this machine. It connects to loopback addresses only,
// identifies servers by their responses instead of their ports, and never makes one load or
// download a model.
//
// On a shared computer, any user may listen on a port. So a found server is only a proposal, to be
// used after the person has agreed.
package detect

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ollama"
	"fairlead/gateway/llm/openai"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/publicnet"
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
	var wg crash.Group
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
	return err == nil && publicnet.IsLoopback(host)
}

type prober struct {
	client  *http.Client
	root    string
	address string
}

// reply is a response of which only the beginning was read.
type reply struct {
	status int
	server string
	body   []byte
}

// get returns nil if there was no response in time.
func (p *prober) get(ctx context.Context, path string) *reply {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.root+path, nil)
	if err != nil {
		return nil
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return nil
	}
	return &reply{resp.StatusCode, resp.Header.Get("Server"), body}
}

// probe identifies the server at the address; nil if no model server answers there.
func (p *prober) probe(ctx context.Context) *protocol.DetectedServer {
	first := p.get(ctx, "/v1/models")
	if first == nil {
		return nil
	}
	switch {
	case strings.HasPrefix(first.server, "llama.cpp"):
		return p.llamacpp(ctx)
	case p.isOllama(ctx):
		return p.list(ctx, &protocol.DetectedServer{Provider: "ollama", Name: "Ollama", BaseURL: p.root, State: Ready}, ollama.Models)
	}
	owner, isList := owners(first)
	switch {
	case strings.HasPrefix(owner, "organization") || isList && owner == "" && p.isStudio(ctx):
		return p.compatible(ctx, "lmstudio", "LM Studio")
	case owner == "llamacpp":
		return p.llamacpp(ctx)
	case owner == "vllm":
		return p.compatible(ctx, "compatible", "vLLM")
	case isList:
		return p.compatible(ctx, "compatible", p.anonymous())
	case json.Unmarshal(first.body, &map[string]json.RawMessage{}) != nil: // such as a login page of another program
	case first.status == http.StatusUnauthorized || first.status == http.StatusForbidden:
		return &protocol.DetectedServer{Provider: "compatible", Name: p.anonymous(), BaseURL: p.root + "/v1", State: NeedsKey}
	case first.status == http.StatusServiceUnavailable:
		return &protocol.DetectedServer{Provider: "compatible", Name: p.anonymous(), BaseURL: p.root + "/v1", State: Loading}
	}
	return nil
}

func (p *prober) anonymous() string {
	_, port, err := net.SplitHostPort(p.address)
	if err != nil {
		return "Model server"
	}
	return "Model server on port " + port
}

// owners reports whether r is a list of models, and the owner of the first one that has an owner.
func owners(r *reply) (owner string, isList bool) {
	var list struct {
		Data *[]struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if r.status != http.StatusOK || json.Unmarshal(r.body, &list) != nil || list.Data == nil {
		return "", false
	}
	for _, m := range *list.Data {
		if m.ID == "" {
			return "", false
		}
		if m.Owner != "" {
			return m.Owner, true
		}
	}
	return "", true
}

// decodes reports whether the answer to a path is JSON that into takes.
func (p *prober) decodes(ctx context.Context, path string, into any) bool {
	r := p.get(ctx, path)
	return r != nil && r.status == http.StatusOK && json.Unmarshal(r.body, into) == nil
}

func (p *prober) isOllama(ctx context.Context) bool {
	var version struct{ Version string }
	var tags struct{ Models *[]json.RawMessage }
	return p.decodes(ctx, "/api/version", &version) && version.Version != "" && p.decodes(ctx, "/api/tags", &tags) && tags.Models != nil
}

// isStudio identifies an LM Studio with an empty list.
func (p *prober) isStudio(ctx context.Context) bool {
	var list struct {
		Models *[]struct{ Key string }
	}
	return p.decodes(ctx, "/api/v1/models", &list) && list.Models != nil
}

// llamacpp also queries an endpoint that needs the key, because its list of models is public.
func (p *prober) llamacpp(ctx context.Context) *protocol.DetectedServer {
	s := &protocol.DetectedServer{Provider: "llamacpp", Name: "llama.cpp", BaseURL: p.root + "/v1", State: Ready}
	if r := p.get(ctx, "/health"); r == nil || r.status == http.StatusServiceUnavailable {
		s.State = Loading
		return s
	}
	if r := p.get(ctx, "/props"); r != nil && r.status == http.StatusUnauthorized {
		s.State = NeedsKey
		return s
	}
	return p.list(ctx, s, openai.Models)
}

func (p *prober) compatible(ctx context.Context, provider, name string) *protocol.DetectedServer {
	return p.list(ctx, &protocol.DetectedServer{Provider: provider, Name: name, BaseURL: p.root + "/v1", State: Ready}, openai.Models)
}

// list adds the models; a server without models is still returned.
func (p *prober) list(
	ctx context.Context, s *protocol.DetectedServer, models func(context.Context, llm.Options) ([]protocol.ModelInfo, error),
) *protocol.DetectedServer {
	if list, err := models(ctx, llm.Options{BaseURL: s.BaseURL, HTTP: p.client}); err == nil {
		s.Models = list
	}
	return s
}
