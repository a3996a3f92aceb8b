package xmpp

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/peer/publicnet"
)

// getLimit is the time limit for fetching one file.
const getLimit = 45 * time.Second

// gcmTag is the number of bytes that encryption adds to a file.
const gcmTag = 16

// Fetch implements channel.Fetcher. It fetches files over TLS, only from the account's own server
// or from hosts in the settings. It follows no redirects, and connects to no local networks, except
// to the account's own server.
func (t transport) Fetch(ctx context.Context, address string, max int64) ([]byte, string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, "", channel.NewRefusal("its address cannot be used")
	}
	key := ""
	if u.Scheme == "aesgcm" {
		u.Scheme, key, max = "https", u.Fragment, max+gcmTag
	}
	u.Fragment = ""
	if u.Scheme != "https" {
		return nil, "", channel.NewRefusal("its address is not https")
	}
	g, err := t.c.mayFetch(ctx, u)
	if err != nil {
		return nil, "", err
	}
	data, kind, err := g.get(ctx, u, max)
	if err != nil || key == "" {
		return data, kind, err
	}
	data, err = unlock(data, key)
	return data, "", err
}

// mayFetch returns the getter for an address, or an error when its host is not allowed.
func (c *client) mayFetch(ctx context.Context, u *url.URL) (getter, error) {
	host := strings.ToLower(u.Hostname())
	if own := c.ownWeb(ctx); own != "" && strings.EqualFold(own, u.Host) {
		return getter{roots: c.set.roots, own: remote(c.s.conn)}, nil
	}
	for _, from := range c.set.files {
		if from == "*" || from == host || strings.HasPrefix(from, "*.") && strings.HasSuffix(host, from[1:]) {
			return getter{}, nil
		}
	}
	return getter{}, channel.NewRefusal("files are fetched only from the account's own server; to allow %s too, add it to the account's settings", host)
}

// ownWeb returns the host and port of the account server's downloads, or "". It learns them by
// requesting a slot for an upload that never happens.
func (c *client) ownWeb(ctx context.Context) string {
	c.mu.Lock()
	known := c.downloadHost
	c.mu.Unlock()
	if known != "" {
		return known
	}
	service, err := c.uploads(ctx)
	if err != nil {
		return ""
	}
	q, err := c.query(ctx, service, "<request xmlns='"+nsUpload+"' filename='place.txt' size='1' content-type='text/plain'/>")
	if err != nil || q.Slot == nil {
		return ""
	}
	at, err := url.Parse(q.Slot.Get.URL)
	if err != nil || at.Scheme != "https" {
		return ""
	}
	c.mu.Lock()
	c.downloadHost = at.Host
	c.mu.Unlock()
	return at.Host
}

// remote returns the remote address of a connection.
func remote(conn net.Conn) netip.Addr {
	if conn == nil {
		return netip.Addr{}
	}
	at, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return at.Addr().Unmap()
}

// getter fetches files. It connects only to public addresses and to own.
type getter struct {
	roots *x509.CertPool // nil means the system's certificates
	own   netip.Addr
}

var errInside = errors.New("the address is inside the local network")

// guard checks the address that a name resolved to, just before connecting to it.
func (g getter) guard(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if a := at.Addr().Unmap(); err != nil || !publicnet.Has(a) && a != g.own {
		return errInside
	}
	return nil
}

func (g getter) get(ctx context.Context, u *url.URL, max int64) ([]byte, string, error) {
	ctx, cancel := context.WithTimeout(ctx, getLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", channel.NewRefusal("its address cannot be used")
	}
	req.Header.Set("User-Agent", "Fairlead")
	// no proxy, because guard must see the real address
	dialer := &net.Dialer{Timeout: 15 * time.Second, Control: g.guard}
	web, stop := webClient(g.roots, &http.Transport{DisableCompression: true, DialContext: dialer.DialContext})
	defer stop()
	res, err := web.Do(req)
	if errors.Is(err, errInside) {
		return nil, "", channel.NewRefusal("its address is inside the local network")
	}
	if err != nil {
		// Leave out the address, because everybody who knows it can read the file.
		return nil, "", fmt.Errorf("fetch from %s: %w", u.Host, errors.Unwrap(err))
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode/100 == 3:
		return nil, "", channel.NewRefusal("its server redirects to another address")
	case res.StatusCode != http.StatusOK:
		return nil, "", channel.NewRefusal("its server answered %d", res.StatusCode)
	case res.ContentLength > max:
		return nil, "", channel.NewRefusal("it has %d MB; at most %d are fetched", res.ContentLength>>20, max>>20)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, max+1))
	if err != nil {
		return nil, "", fmt.Errorf("fetch from %s: %w", u.Host, err)
	}
	if int64(len(data)) > max {
		return nil, "", channel.NewRefusal("it has more than %d MB, the most that is fetched", max>>20)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return data, strings.TrimSpace(kind), nil
}

// webClient returns a client for one request that uses TLS and does not follow redirects.
func webClient(roots *x509.CertPool, t *http.Transport) (c *http.Client, stop func()) {
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, t.CloseIdleConnections
}

// unlock decrypts a file whose key is part of its address: a nonce of 12 or 16 bytes and a key of
// 32 bytes (XEP-0454).
func unlock(data []byte, key string) ([]byte, error) {
	raw, err := hex.DecodeString(key)
	if err != nil || len(raw) != 44 && len(raw) != 48 {
		return nil, channel.NewRefusal("the key in its address cannot be used")
	}
	nonce := raw[:len(raw)-32]
	block, err := aes.NewCipher(raw[len(nonce):])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, len(nonce))
	if err != nil {
		return nil, err
	}
	if data, err = gcm.Open(nil, nonce, data, nil); err != nil {
		return nil, channel.NewRefusal("it cannot be decrypted with the key in its address")
	}
	return data, nil
}
