package address

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
)

// kind is what a listener is for.
type kind int

const (
	domainKind   kind = iota // all services below a domain
	redirectKind             // plain HTTP to that domain
	networkKind              // one service, for other computers
	localKind                // one service, for programs of this computer
)

// spec says which listener shall run. A listener is replaced when its spec changes.
type spec struct {
	kind    kind
	address string // host:port
	service string // name of the only one; empty for a domain

	domain      string
	certificate string // "acme", "file" or "proxy"
	certFile    string
	keyFile     string
	directory   string
	email       string
	trusted     string // addresses and networks of proxies, separated by spaces
}

func domainSpec(s config.Services) spec {
	x := spec{kind: domainKind, address: s.Listen, domain: s.Domain, certificate: s.Certificate}
	switch s.Certificate {
	case byFile:
		x.certFile, x.keyFile = s.CertificateFile, s.KeyFile
	case byProxy:
		x.trusted = strings.Join(s.TrustedProxies, " ")
	default:
		x.directory, x.email = s.ACME.Directory, s.ACME.Email
	}
	return x
}

func redirectSpec(s config.Services) spec {
	x := domainSpec(s)
	x.kind, x.address = redirectKind, s.RedirectListen
	return x
}

func networkSpec(listen string, v protocol.Service) spec {
	host, _, _ := net.SplitHostPort(listen) // checked when it was set
	return spec{kind: networkKind, address: net.JoinHostPort(host, strconv.Itoa(v.NetworkPort)), service: v.Name}
}

func localSpec(v protocol.Service) spec {
	return spec{kind: localKind, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(v.LocalPort)), service: v.Name}
}

// listener is one that was started, perhaps without success.
type listener struct {
	spec   spec
	server *http.Server
	at     net.Addr
	cert   certificate // nil without one of its own

	mu     sync.Mutex // guards the field below
	failed error      // why it does not accept connections
}

// Limits of connections. A visit takes as long as it takes; these are for what comes before.
const (
	headerLimit    = 10 * time.Second
	requestLimit   = 30 * time.Second
	idleLimit      = 2 * time.Minute
	maxHeaderBytes = 64 << 10
)

// start binds and serves. The listener that it returns says whether that worked.
func (a *Addresses) start(s spec) *listener {
	l := &listener{spec: s}
	var err error
	if l.cert, err = a.certificateOf(s); err != nil {
		l.fail(err)
		return l
	}
	bound, err := net.Listen("tcp", s.address)
	if err != nil {
		l.fail(err)
		return l
	}
	l.at = bound.Addr()
	l.server = newServer(service.RefuseForwarded(a.handler(s)))
	serve := func() error { return l.server.Serve(bound) }
	if l.cert != nil && s.kind != redirectKind {
		l.server.TLSConfig = l.cert.tlsConfig()
		serve = func() error { return l.server.ServeTLS(bound, "", "") }
	}
	crash.Go(func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			l.fail(err)
		}
	})
	return l
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerLimit, ReadTimeout: requestLimit, WriteTimeout: requestLimit, IdleTimeout: idleLimit,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
}

// certificateOf returns the certificate of a listener, or nil for one without.
func (a *Addresses) certificateOf(s spec) (certificate, error) {
	switch {
	case s.kind == networkKind:
		cert, _, err := auth.OpenCertificate(a.o.Secrets, time.Now())
		return ownCertificate{cert}, err
	case s.kind == localKind || s.certificate == byProxy:
		return nil, nil
	case s.certificate == byFile && s.kind == domainKind:
		return openFile(s)
	case s.certificate == byFile:
		return nil, nil
	}
	return a.certs.of(s), nil
}

func (l *listener) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
}

// works reports whether it accepts connections.
func (l *listener) works() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed == nil
}

// problem returns why visitors do not get through; empty if they do.
func (l *listener) problem() string {
	l.mu.Lock()
	err := l.failed
	l.mu.Unlock()
	if err == nil && l.cert != nil && l.spec.kind == domainKind {
		err = l.cert.problem()
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %v", cmp.Or(l.spec.domain, l.spec.service)+" at "+l.spec.address, err)
}

// close ends it with its connections. The address is free when it returns.
func (l *listener) close() {
	if l.server != nil {
		l.server.Close()
	}
}

// ownCertificate is the one that devices know from their pairing.
type ownCertificate struct{ tls.Certificate }

func (c ownCertificate) tlsConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: protocols}
}

func (ownCertificate) problem() error { return nil }

// protocols are what visitors may speak.
var protocols = []string{"h2", "http/1.1"}
