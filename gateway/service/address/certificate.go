package address

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// Values of the setting services.certificate, beside "acme".
const (
	byFile  = "file"
	byProxy = "proxy"
)

// certificate is what a listener shows to browsers.
type certificate interface {
	tlsConfig() *tls.Config
	// problem returns why browsers would not accept it.
	problem() error
}

// fileCertificate is a wildcard certificate of the owner, which is read again when its file
// changes. Until the new one fits, the old one stays in use.
type fileCertificate struct {
	certFile, keyFile, domain string

	mu      sync.Mutex // guards the fields below
	cert    *tls.Certificate
	version string // of the files that were read last
	err     error  // of the last reading
}

func openFile(s spec) (certificate, error) {
	if s.certFile == "" || s.keyFile == "" {
		return nil, errors.New("set services.certificateFile and services.keyFile to the files of the wildcard certificate")
	}
	c := &fileCertificate{certFile: s.certFile, keyFile: s.keyFile, domain: s.domain}
	_, err := c.current()
	return c, err
}

// current returns the certificate of now, and reads it if its files have changed.
func (c *fileCertificate) current() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := fileVersion(c.certFile) + " " + fileVersion(c.keyFile)
	if version != c.version {
		c.version = version
		var cert tls.Certificate
		if cert, c.err = tls.LoadX509KeyPair(c.certFile, c.keyFile); c.err == nil {
			c.err = checkFits(cert, c.domain)
		}
		if c.err == nil {
			c.cert = &cert
		}
	}
	if c.cert == nil {
		return nil, c.err
	}
	return c.cert, nil
}

func fileVersion(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
}

// checkFits returns why a certificate is not one for all names of a domain now.
func checkFits(cert tls.Certificate, domain string) error {
	if err := cert.Leaf.VerifyHostname("any-name." + domain); err != nil {
		names := strings.Join(cert.Leaf.DNSNames, ", ")
		return fmt.Errorf("the certificate is for %s: a certificate for *.%s is needed", names, domain)
	}
	return checkTime(cert)
}

func checkTime(cert tls.Certificate) error {
	const day = "2 January 2006 15:04"
	switch now := time.Now(); {
	case now.After(cert.Leaf.NotAfter):
		return fmt.Errorf("the certificate expired on %s: replace its files", cert.Leaf.NotAfter.Format(day))
	case now.Before(cert.Leaf.NotBefore):
		return fmt.Errorf("the certificate is valid from %s: check the clock of this computer", cert.Leaf.NotBefore.Format(day))
	}
	return nil
}

func (c *fileCertificate) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: protocols, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current() }}
}

func (c *fileCertificate) problem() error {
	cert, err := c.current()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("%w; the one before it is still in use", c.err)
	}
	return checkTime(*cert)
}

// issuers get certificates by ACME. They are stored in a folder that only the owner can read.
type issuers struct {
	folder string
	allows func(name string) bool
	client *http.Client

	mu   sync.Mutex // guards the field below
	open map[spec]*issuer
}

// of returns the issuer for the domain and directory of a listener; the listener for plain HTTP has
// the same one, because it answers checks.
func (s *issuers) of(x spec) *issuer {
	key := spec{domain: x.domain, directory: x.directory, email: x.email}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[spec]*issuer)
	}
	if s.open[key] == nil {
		i := &issuer{failed: make(map[string]error)}
		i.manager = autocert.Manager{
			Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(s.folder), Email: x.email, Client: &acme.Client{DirectoryURL: x.directory, HTTPClient: s.client},
			HostPolicy: func(_ context.Context, host string) error {
				if name, ok := nameBelow(host, x.domain); !ok || !s.allows(name) {
					return errUnknownName
				}
				return nil
			},
		}
		s.open[key] = i
	}
	return s.open[key]
}

var errUnknownName = errors.New("no app has this name")

// issuer gets a certificate for each name at its first visit.
type issuer struct {
	manager autocert.Manager

	mu     sync.Mutex       // guards the field below
	failed map[string]error // by name, of the last attempt
}

func (i *issuer) tlsConfig() *tls.Config {
	config := i.manager.TLSConfig()
	get := config.GetCertificate
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		cert, err := get(hello)
		if !errors.Is(err, errUnknownName) && i.manager.HostPolicy(hello.Context(), hello.ServerName) == nil {
			i.record(hello.ServerName, err)
		}
		return cert, err
	}
	return config
}

func (i *issuer) record(name string, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		delete(i.failed, name)
		return
	}
	i.failed[name] = err
}

func (i *issuer) problem() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for name, err := range i.failed {
		if i.manager.HostPolicy(context.Background(), name) != nil { // its service was closed
			delete(i.failed, name)
			continue
		}
		return fmt.Errorf("no certificate for %s: %w", name, err)
	}
	return nil
}
