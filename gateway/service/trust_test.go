package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// TestAnUnknownCertificateIsUsedOnlyAfterAYes publishes an app whose certificate nobody vouches
// for.
func TestAnUnknownCertificateIsUsedOnlyAfterAYes(t *testing.T) {
	first := httptest.NewTLSServer(http.HandlerFunc(hello))
	t.Cleanup(first.Close)
	s := newSite(t)
	var asked []string
	s.site.OnUnknown(func(_ protocol.Service, e *UnknownCertificate) { asked = append(asked, e.Fingerprint()) })
	s.leadTo(first.Listener.Addr().String())
	target, err := ParseTarget("https://router.lan", "")
	if err != nil {
		t.Fatal(err)
	}
	unknown, ok := errors.AsType[*UnknownCertificate](s.site.Probe(t.Context(), "nas", target))
	if !ok {
		t.Fatal("Probe finds no unknown certificate, want that of the app")
	}
	for _, want := range []string{"Acme Co", "example.com", "2084", unknown.Fingerprint()} {
		if !strings.Contains(unknown.Error(), want) {
			t.Errorf("it says %s, want %s in it", unknown, want)
		}
	}
	v := s.publish(t, target.String(), nil)
	b := s.enter(t, v, "")
	if status, text := read(t)(b.Get(v.URL)); status != http.StatusBadGateway || !strings.Contains(text, "another certificate") || len(asked) != 1 {
		t.Errorf("without trust: got %d %s and %d questions, want 502, the reason and a question", status, text, len(asked))
	}
	for _, trusted := range []string{"", strings.Repeat("0", 64), unknown.Fingerprint()} {
		if _, err := s.Update(t.Context(), v.ID, Change{Certificate: &trusted}, "owner"); err != nil {
			t.Fatal(err)
		}
		if _, text := read(t)(b.Get(v.URL)); (text == "hello") != (trusted == unknown.Fingerprint()) {
			t.Errorf("with the fingerprint %q: got %s, want the app only with its own", trusted, text)
		}
	}
	if _, err := s.Update(t.Context(), v.ID, Change{Target: &target}, "owner"); err != nil {
		t.Fatal(err)
	}
	if _, text := read(t)(b.Get(v.URL)); text == "hello" {
		t.Error("got the app after the target was set again without trust, want the reason")
	}
}

func TestAChangedCertificateCutsTheServiceAndAsks(t *testing.T) {
	first := httptest.NewTLSServer(http.HandlerFunc(hello))
	t.Cleanup(first.Close)
	s := newSite(t)
	s.leadTo(first.Listener.Addr().String())
	trusted := (&UnknownCertificate{first.Certificate()}).Fingerprint()
	v := s.publish(t, "https://router.lan", func(d *Definition) { d.Certificate = trusted })
	b := s.enter(t, v, "")
	if _, text := read(t)(b.Get(v.URL)); text != "hello" {
		t.Fatalf("got %s, want the app", text)
	}
	asked := 0
	s.site.OnUnknown(func(protocol.Service, *UnknownCertificate) { asked++ })
	second := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	second.TLS = otherCertificate(t)
	second.StartTLS()
	t.Cleanup(second.Close)
	s.leadTo(second.Listener.Addr().String())
	first.CloseClientConnections()
	if status, text := read(t)(b.Get(v.URL)); status != http.StatusBadGateway || !strings.Contains(text, "another certificate") || asked != 1 {
		t.Errorf("got %d %s and %d questions, want 502, the reason and a question", status, text, asked)
	}
}

// otherCertificate returns settings with a new certificate.
func otherCertificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{"router.lan"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
