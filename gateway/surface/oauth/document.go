package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/publicnet"
)

// Limits of client ID metadata documents and their cache.
const (
	fetchLimit = 5 * time.Second
	// defaultCacheTime applies to a document whose server does not say how long it may be cached.
	defaultCacheTime = 5 * time.Minute
	maxCacheTime     = time.Hour
	maxCached        = 100
)

// Document is a client ID metadata document.
type Document struct {
	Body      []byte
	CacheTime time.Duration // how long it may be cached; 0: not at all
}

// documentCache holds the programs whose documents were read and are valid. Errors and invalid
// documents are not cached (draft-ietf-oauth-client-id-metadata-document).
type documentCache struct {
	mu  sync.Mutex // guards all; never held while a document is read
	all map[string]cachedProgram
}

type cachedProgram struct {
	program
	expires time.Time
}

func (c *documentCache) get(id string) (program, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.all[id]
	return p.program, ok && time.Now().Before(p.expires)
}

// put caches a program. If the cache is full, it removes the one that expires first.
func (c *documentCache) put(p program, lifetime time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, p.id)
	if lifetime <= 0 {
		return
	}
	if len(c.all) >= maxCached {
		var first string
		for id, old := range c.all {
			if first == "" || old.expires.Before(c.all[first].expires) {
				first = id
			}
		}
		delete(c.all, first)
	}
	c.all[p.id] = cachedProgram{p, time.Now().Add(min(lifetime, maxCacheTime))}
}

// fetchProgram returns the program that the document at the address id describes, from the cache if
// it is there.
func (h *handler) fetchProgram(ctx context.Context, id string) (program, error) {
	if p, ok := h.documents.get(id); ok {
		return p, nil
	}
	u, err := url.Parse(id)
	if err != nil || !isPlainHost(u.Host) || u.User != nil || u.Fragment != "" || len(u.Path) < 2 {
		return program{}, failure{"invalid_client", "the client ID must be an https address with a path"}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	found, err := h.Fetch(ctx, id)
	if err != nil {
		return program{}, failure{"invalid_client", "the document of the client could not be read: " + err.Error()}
	}
	var doc struct {
		ClientID     string   `json:"client_id"`
		ClientName   string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		AuthMethod   string   `json:"token_endpoint_auth_method"`
	}
	switch {
	case json.Unmarshal(found.Body, &doc) != nil:
		return program{}, failure{"invalid_client", "the document of the client is not JSON"}
	case doc.ClientID != id:
		return program{}, failure{"invalid_client", "the document is that of another client"}
	case doc.AuthMethod != "" && doc.AuthMethod != "none":
		return program{}, failure{"invalid_client", "only public clients can sign in"}
	}
	if err := checkRedirects(doc.RedirectURIs); err != nil {
		return program{}, err
	}
	p := program{id: id, name: doc.ClientName, host: u.Host, redirects: doc.RedirectURIs}
	h.documents.put(p, found.CacheTime)
	return p, nil
}

// FetchDocument reads a document over HTTPS from a public address. It refuses private addresses,
// also those that a name leads to, and follows no redirects.
func FetchDocument(ctx context.Context, address string) (Document, error) {
	dialer := &net.Dialer{ControlContext: publicnet.Control}
	return fetchDocument(ctx, &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 16 << 10}, address)
}

// errUnreachable does not tell the cause: anybody may ask for an address, and would learn which
// names and machines this network has.
var errUnreachable = errors.New("it must be reachable over https at a public address, without redirects")

func fetchDocument(ctx context.Context, over http.RoundTripper, address string) (Document, error) {
	client := &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Document{}, errUnreachable
	}
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		slog.Info("The document of an app that wants to connect cannot be read", "err", err)
		return Document{}, errUnreachable
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Document{}, fmt.Errorf("status %s", resp.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return Document{}, errUnreachable
	case len(raw) > maxDocument:
		return Document{}, fmt.Errorf("it has more than %d bytes", maxDocument)
	}
	return Document{raw, cacheTime(resp.Header)}, nil
}

// cacheTime returns how long a response may be cached (RFC 9111, section 4.2). A value that cannot
// be read means not at all.
func cacheTime(h http.Header) time.Duration {
	lifetime := defaultCacheTime
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			lifetime = seconds(value)
		}
	}
	// Caches on the way had the response for this time already.
	return max(0, lifetime-seconds(h.Get("Age")))
}

// seconds returns a number of seconds of a header, at most a day, or 0 for an invalid one.
func seconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 24*60*60)) * time.Second
}
