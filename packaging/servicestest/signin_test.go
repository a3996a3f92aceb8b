package servicestest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/oauth2-proxy/mockoidc"
)

func TestVisitorsSignInWithAnIssuer(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	issuer, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { issuer.Shutdown() })
	c := issuer.Config()
	provider, _ := json.Marshal(map[string]string{"title": "Company", "issuer": c.Issuer, "clientId": c.ClientID, "clientSecret": c.ClientSecret})
	s.run("config", "set", "services.signIn.company", string(provider))
	v := s.publish("Workshop", newLiveReload(t, "Workshop").address, map[string]any{"authorized_emails": []string{"ann@company.com"}})
	for _, person := range []struct {
		email    string
		verified bool
		sees     string
	}{
		{"ann@company.com", true, "Workshop"},
		{"eve@evil.example", true, "You are not among the visitors"},
		{"ann@company.com", false, "verified"},
	} {
		issuer.QueueUser(&mockoidc.MockUser{Subject: person.email, Email: person.email, EmailVerified: person.verified})
		w := newVisitor(t, b)
		w.open(v.URL)
		w.sees("Continue with Company")
		w.picture("sign-in-with-company")
		w.click("a.button")
		if person.sees == "Workshop" {
			w.skipPasskey()
		}
		w.sees(person.sees)
	}
}

func TestVisitorsSignInWithAPasskeyAfterTheFirstTime(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	v := s.publish("Workshop", newLiveReload(t, "Workshop").address, map[string]any{"authorized_emails": []string{"ann@company.com"}})
	ann := newVisitor(t, b)
	if _, err := chromedp.Call(ann.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ann.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}}); err != nil {
		t.Fatal(err)
	}
	ann.open(s.run("services", "link", v.ID, "ann@company.com"))
	ann.click("button")
	ann.sees("Use a passkey next time?")
	ann.picture("passkey")
	ann.click("#passkey button")
	ann.sees("Workshop")
	ann.waits("location.pathname == '/'")

	ann.open(v.URL + "/.fairlead/signout")
	ann.picture("sign-out")
	ann.click("button")
	ann.waits("location.pathname == '/'")
	ann.sees("Use a passkey")
	ann.picture("sign-in-with-passkey")
	ann.click("#passkey button")
	ann.sees("Workshop")
	ann.waits("location.pathname == '/'")

	s.call("service_share", map[string]any{"service_id": v.ID, "action": "remove", "emails": []string{"ann@company.com"}})
	ann.open(v.URL)
	ann.sees("You are not among the visitors")
}

func TestOwnerLetsAVisitorInWhoAsks(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	v := s.publish("Workshop", newLiveReload(t, "Workshop").address, nil)
	for _, c := range []struct{ email, answer, sees string }{
		{"ann@company.com", "allow", "Workshop"}, {"eve@evil.example", "deny", "The owner said no"},
	} {
		w := newVisitor(t, b)
		w.open(v.URL)
		w.sees("Ask for access")
		w.do(chromedp.SendKeys(chromedp.CSS("[name=email]"), c.email), chromedp.SendKeys(chromedp.CSS("[name=message]"), "It is me"))
		w.picture("ask")
		w.click("form[action='/.fairlead/ask'] button")
		w.sees("The owner has been asked")
		w.picture("asked")
		var open []struct{ ID, Text string }
		until(t, "the owner has a question", func() bool {
			return json.Unmarshal([]byte(s.run("questions", "--json")), &open) == nil && len(open) > 0
		})
		if text := open[0].Text; !strings.Contains(text, c.email) || !strings.Contains(text, "Workshop") {
			t.Errorf("question: got %q, want one that names %s and Workshop", text, c.email)
		}
		args := []string{"questions", c.answer, open[0].ID}
		if c.answer == "allow" {
			args = append(args, "--for", "day")
		}
		s.run(args...)
		w.sees(c.sees) // the page looks again by itself
		w.picture("asked-" + c.answer)
	}
}

// writeCertificate writes a wildcard certificate for a domain that nobody vouches for, and its key.
func writeCertificate(t testing.TB, dir, domain string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "*." + domain}, DNSNames: []string{"*." + domain},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "certificate.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func TestAppsWorkBelowADomain(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	port := freePort(t) // to which a router would lead port 443
	b := newBrowser(t, "", chromedp.Flag("host-resolver-rules", "MAP *.fair.test 127.0.0.1:"+port), chromedp.IgnoreCertErrors)
	certificate, key := writeCertificate(t, t.TempDir(), "fair.test")
	for _, set := range [][2]string{
		{"services.certificate", "file"}, {"services.certificateFile", certificate}, {"services.keyFile", key},
		{"services.domain", "fair.test"}, {"services.listen", "127.0.0.1:" + port}, {"services.publicPort", "443"},
	} {
		s.run("config", "set", set[0], set[1])
	}
	events, desktop := s.publish("Events", newLiveReload(t, "Workshop").address, nil), s.publish("Desktop", newRemoteDesktop(t).address, nil)
	for _, v := range []service{events, desktop} {
		if u, err := url.Parse(v.URL); err != nil || u.Scheme != "https" || !strings.HasSuffix(u.Host, ".fair.test") {
			t.Fatalf("public_url: got %s, want https://NAME.fair.test", v.URL)
		}
	}
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", events.ID))
	owner.sees("Workshop")
	owner.waits("window.events && events.readyState == 1")
	if got := eval[string](owner, `performance.getEntriesByType("navigation")[0].nextHopProtocol`); got != "h2" {
		t.Errorf("protocol of the page: got %s, want h2", got)
	}
	if !eval[bool](owner, "isSecureContext") {
		t.Error("the page is no secure context, want one")
	}
	owner.enter(s.run("services", "link", desktop.ID))
	if !eval[bool](owner, openEcho) {
		t.Fatal("the WebSocket was not opened")
	}
	eval[any](owner, `void socket.send(new TextEncoder().encode("over TLS"))`)
	owner.waits(`got.join("") == "over TLS"`)
}
