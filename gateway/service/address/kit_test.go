package address

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// place has the addresses of services that a handler of the test serves.
type place struct {
	*Addresses
	t *testing.T

	mu       sync.Mutex // guards the fields below
	config   config.Config
	services []protocol.Service
	serve    http.HandlerFunc
	names    []string // of the services that got a request
}

func newPlace(t *testing.T) *place {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	p := &place{t: t, config: config.Default(), serve: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the app") }}
	home := t.TempDir()
	p.Addresses = New(Options{
		Home: home, Secrets: keychain.Open(home), Changed: func() {},
		Config:   func() config.Config { p.mu.Lock(); defer p.mu.Unlock(); return p.config },
		Services: func() []protocol.Service { p.mu.Lock(); defer p.mu.Unlock(); return p.services },
		Gateway:  func() *net.TCPAddr { return &net.TCPAddr{Port: 8787} },
		Network:  func() protocol.NetworkStatus { return protocol.NetworkStatus{Addresses: []string{"127.0.0.1:8788"}} },
		Callback: func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the sign-in") },
		Serve: func(name string, w http.ResponseWriter, r *http.Request) {
			p.mu.Lock()
			p.names = append(p.names, name)
			serve := p.serve
			p.mu.Unlock()
			serve(w, r)
		},
	})
	p.setRunning(true)
	t.Cleanup(func() {
		p.setRunning(false)
		p.Sync()
	})
	return p
}

// set changes the settings.
func (p *place) set(change func(*config.Config)) {
	p.t.Helper()
	p.mu.Lock()
	change(&p.config)
	p.mu.Unlock()
	p.Sync()
}

// publish adds a service with two free ports.
func (p *place) publish(name string) protocol.Service {
	p.t.Helper()
	v := protocol.Service{ID: protocol.ServiceID("svc_" + name), Name: name, Enabled: true, NetworkPort: freePort(p.t), LocalPort: freePort(p.t)}
	p.mu.Lock()
	p.services = append(p.services, v)
	p.mu.Unlock()
	p.Sync()
	return v
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// authority signs certificates that a client trusts.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{cert, key}
}

// write writes a certificate for a name and its key into files.
func (a authority) write(t *testing.T, certFile, keyFile, name string, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// browser returns a client that finds every host at one address and trusts the authority.
func (a authority) browser(address string) *http.Client {
	roots := x509.NewCertPool()
	if a.cert != nil {
		roots.AddCert(a.cert)
	}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Dial: func(string, string) (net.Conn, error) { return net.Dial("tcp", address) }, TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		},
	}
}

// answerOf is what a browser gets.
func answerOf(t *testing.T, b *http.Client, r *http.Request) (status int, text string, h http.Header) {
	t.Helper()
	res, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data), res.Header
}

func get(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// files returns the paths of a certificate and its key.
func files(t *testing.T) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

func at(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
