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
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// TestAnUnknownCertificateIsUsedOnlyAfterAYes publishes an app whose certificate nobody vouches
// for.
func TestAnUnknownCertificateIsUsedOnlyAfterAYes(t *testing.T) {
	first := httptest.NewTLSServer(http.HandlerFunc(hello))
	t.Cleanup(first.Close)
	s := newSite(t)
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
	if status, text := read(t)(b.Get(v.URL)); status != http.StatusBadGateway || !strings.Contains(text, "another certificate") {
		t.Errorf("without trust: got %d %s, want 502 and the reason", status, text)
	}
	if e := <-s.unknown; e.Fingerprint() != unknown.Fingerprint() || e.IsValid {
		t.Errorf("got a question about %v, want the certificate of the app", e)
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
	trusted := (&UnknownCertificate{Leaf: first.Certificate()}).Fingerprint()
	v := s.publish(t, "https://router.lan", func(d *Definition) { d.Certificate = trusted })
	b := s.enter(t, v, "")
	if _, text := read(t)(b.Get(v.URL)); text != "hello" {
		t.Fatalf("got %s, want the app", text)
	}
	second := httptest.NewUnstartedServer(http.HandlerFunc(hello))
	second.TLS = otherCertificate(t)
	second.StartTLS()
	t.Cleanup(second.Close)
	for _, isValid := range []bool{false, true} { // whether an authority vouches for the second
		if isValid {
			s.reload(t)
			s.site.roots = x509.NewCertPool()
			s.site.roots.AddCert(second.Certificate())
		}
		s.leadTo(second.Listener.Addr().String())
		first.CloseClientConnections()
		if status, text := read(t)(b.Get(v.URL)); status != http.StatusBadGateway || !strings.Contains(text, "another certificate") {
			t.Errorf("valid %v: got %d %s, want 502 and the reason", isValid, status, text)
		}
		if e := <-s.unknown; e.IsValid != isValid || e.Fingerprint() == trusted {
			t.Errorf("valid %v: got a question about %v (%v), want the new certificate", isValid, e, e.IsValid)
		}
	}
	none := ""
	if _, err := s.Update(t.Context(), v.ID, Change{Certificate: &none}, "owner"); err != nil {
		t.Fatal(err)
	}
	if _, text := read(t)(b.Get(v.URL)); text != "hello" {
		t.Errorf("after the owner trusts valid certificates: got %s, want the app", text)
	}
}

func TestADeniedCertificateIsAskedAboutAgainAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answers := 0, make(chan bool)
		q := newCertificateQuestions(func(protocol.Service, *UnknownCertificate) bool { asked++; return <-answers })
		one, other := &UnknownCertificate{Leaf: &x509.Certificate{Raw: []byte("1")}}, &UnknownCertificate{Leaf: &x509.Certificate{Raw: []byte("2")}}
		v := protocol.Service{ID: "svc_1"}
		visit := func(e *UnknownCertificate, want int, when string) {
			t.Helper()
			q.begin(v, e)
			synctest.Wait()
			if asked != want {
				t.Errorf("%s: the owner was asked %d times, want %d", when, asked, want)
			}
		}
		visit(one, 1, "the first visit")
		visit(one, 1, "while the question waits")
		visit(other, 1, "another certificate while the question waits")
		answers <- true
		synctest.Wait()
		visit(one, 1, "after a denial")
		visit(other, 2, "another certificate after a denial")
		answers <- false // it was closed without an answer
		synctest.Wait()
		visit(other, 3, "after a question without an answer")
		answers <- true
		time.Sleep(deniedCertificateFor)
		visit(one, 4, "an hour after a denial")
		answers <- true
	})
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
