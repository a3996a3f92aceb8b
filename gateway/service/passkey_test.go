package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
)

// authenticator is a virtual authenticator with one passkey, and the browser around it.
type authenticator struct {
	key            *ecdsa.PrivateKey
	id, handle     []byte
	rpID, origin   string
	counter        uint32
	skipsPerson    bool // it does not check who uses it
	otherChallenge string
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// data returns the authenticator data of an answer (WebAuthn Level 3, section 6.1).
func (a *authenticator) data(attested []byte) []byte {
	rp := sha256.Sum256([]byte(a.rpID))
	flags := byte(0x05) // user present and verified
	if a.skipsPerson {
		flags = 0x01
	}
	if attested != nil {
		flags |= 0x40
	}
	return append(binary.BigEndian.AppendUint32(append(rp[:], flags), a.counter), attested...)
}

func (a *authenticator) client(kind, challenge string) []byte {
	if a.otherChallenge != "" {
		challenge = a.otherChallenge
	}
	data, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false}) // plain data
	return data
}

// create answers options with a new passkey.
func (a *authenticator) create(t *testing.T, options map[string]any) string {
	t.Helper()
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	a.id = []byte(rand.Text()[:16])
	if a.handle, err = base64.RawURLEncoding.DecodeString(options["user"].(map[string]any)["id"].(string)); err != nil {
		t.Fatal(err)
	}
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...) // a map in CBOR: EC2, ES256, P-256, x, y
	cose = append(append(cose, 0x22, 0x58, 32), point[33:]...)
	attested := append(binary.BigEndian.AppendUint16(make([]byte, 16), uint16(len(a.id))), a.id...)
	data := a.data(append(attested, cose...))
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return a.answer(map[string]any{"clientDataJSON": b64(a.client("webauthn.create", options["challenge"].(string))), "attestationObject": b64(append(object, data...))})
}

// get answers options with a signature of the passkey.
func (a *authenticator) get(t *testing.T, options map[string]any) string {
	t.Helper()
	data, client := a.data(nil), a.client("webauthn.get", options["challenge"].(string))
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return a.answer(map[string]any{"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64(a.handle)})
}

func (a *authenticator) answer(response map[string]any) string {
	data, _ := json.Marshal(map[string]any{"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "response": response, "clientExtensionResults": map[string]any{}}) // plain data
	return string(data)
}

// passkeyOptions asks for what a passkey is made or used by.
func passkeyOptions(t *testing.T, b *http.Client, site, kind string) (map[string]any, string) {
	t.Helper()
	status, text := read(t)(b.PostForm(site+signin.PasskeyPath+"/options", url.Values{"kind": {kind}}))
	var options struct {
		PublicKey map[string]any `json:"publicKey"`
	}
	if status != http.StatusOK || json.Unmarshal([]byte(text), &options) != nil {
		return nil, fmt.Sprint(status, " ", text)
	}
	return options.PublicKey, ""
}

// finish sends the answer of an authenticator, and returns what the visitor sees then.
func finish(t *testing.T, b *http.Client, site, answer, to string) (int, string) {
	t.Helper()
	return read(t)(b.PostForm(site+signin.PasskeyPath, url.Values{"answer": {answer}, "to": {to}}))
}

// enterByPage signs a visitor in by a link, as a browser does, up to the offer of a passkey.
func (s *site) enterByPage(t *testing.T, v protocol.Service, email string) (b *http.Client, next string) {
	t.Helper()
	link, err := s.visits.Link(t.Context(), v, email)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(link)
	r, _ := http.NewRequest("POST", link, strings.NewReader(u.Query().Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	b = s.browser(t)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	b.CheckRedirect = nil
	return b, answer.Header.Get("Location")
}

// withPasskey signs a visitor in and makes a passkey.
func (s *site) withPasskey(t *testing.T, v protocol.Service, email string) *authenticator {
	t.Helper()
	b, _ := s.enterByPage(t, v, email)
	u, _ := url.Parse(v.URL)
	a := &authenticator{rpID: u.Hostname(), origin: v.URL}
	options, problem := passkeyOptions(t, b, v.URL, "create")
	if problem != "" {
		t.Fatalf("got %s, want the options for a new passkey", problem)
	}
	if status, text := finish(t, b, v.URL, a.create(t, options), "/made"); text != "hello" {
		t.Fatalf("the new passkey leads to %d %s, want the app", status, text)
	}
	return a
}

// signIn signs in with a passkey in a new browser, and returns what the visitor sees then.
func (a *authenticator) signIn(t *testing.T, s *site, v protocol.Service) (int, string) {
	t.Helper()
	b := s.browser(t)
	options, problem := passkeyOptions(t, b, v.URL, "get")
	if problem != "" {
		t.Fatalf("got %s, want the options for a sign-in", problem)
	}
	return finish(t, b, v.URL, a.get(t, options), "/deep")
}

func page200(t *testing.T, b *http.Client, address string) (http.Header, string) {
	t.Helper()
	r, _ := http.NewRequest("GET", address, nil)
	r.Header.Set("Accept", "text/html")
	answer, err := b.Do(r)
	_, text := read(t)(answer, err)
	return answer.Header, text
}

func TestAPasskeySignsAVisitorInNextTime(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"ann@company.com"} })
	if _, text := page200(t, s.browser(t), v.URL); strings.Contains(text, "passkey") {
		t.Errorf("the sign-in page is %s; want no passkey, because nobody has one", text)
	}
	b, next := s.enterByPage(t, v, "ann@company.com")
	if next != "/.fairlead/passkey?to=%2F" {
		t.Fatalf("the link leads to %s, want the offer of a passkey", next)
	}
	h, text := page200(t, b, v.URL+next)
	if !strings.Contains(text, "Use a passkey next time?") || !strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self';") || strings.Contains(text, "<script>") {
		t.Errorf("got %s with the policy %s; want the offer, and scripts from the site alone", text, h.Get("Content-Security-Policy"))
	}
	if _, text := page200(t, b, v.URL+"/.fairlead/passkey.js"); !strings.Contains(text, "navigator.credentials") {
		t.Errorf("the script is %s, want the script", text)
	}
	for _, email := range []string{"ann@company.com", ""} {
		a := s.withPasskey(t, v, email)
		if _, next := s.enterByPage(t, v, email); next != "/" {
			t.Errorf("%q: the next link leads to %s, want the app: there is a passkey already", email, next)
		}
		if _, text := page200(t, s.browser(t), v.URL+"/deep"); !strings.Contains(text, `data-kind="get"`) || !strings.Contains(text, `value="/deep"`) {
			t.Errorf("the sign-in page is %s, want the passkey", text)
		}
		for a.counter = range uint32(3) {
			if status, text := a.signIn(t, s, v); text != "hello" {
				t.Errorf("%q: the passkey gets %d %s, want the app", email, status, text)
			}
		}
	}
}

func TestAPasskeyIsRefused(t *testing.T) {
	s := newSite(t)
	listed := func(d *Definition) { d.Visitors = []string{"ann@company.com"} }
	v, other := s.publish(t, app(t, hello).URL, listed), s.publish(t, app(t, hello).URL, listed)
	a := s.withPasskey(t, v, "ann@company.com")
	a.counter = 5
	if status, text := a.signIn(t, s, v); text != "hello" {
		t.Fatalf("got %d %s, want the app", status, text)
	}
	stranger := s.withPasskey(t, other, "ann@company.com")
	for what, change := range map[string]func(*authenticator){
		"without a check of the person":    func(a *authenticator) { a.skipsPerson = true },
		"at the origin of another service": func(a *authenticator) { a.origin = other.URL },
		"for the host of another service":  func(a *authenticator) { a.rpID = stranger.rpID },
		"with a challenge of its own":      func(a *authenticator) { a.otherChallenge = b64([]byte("0123456789abcdef0123456789abcdef")) },
		"by a copy of the authenticator":   func(a *authenticator) { a.counter = 4 },
		"with another key":                 func(a *authenticator) { a.key = stranger.key },
		"of another service":               func(a *authenticator) { a.id, a.handle, a.key = stranger.id, stranger.handle, stranger.key },
		"of another person":                func(a *authenticator) { a.handle = stranger.handle },
	} {
		bad := *a
		bad.counter = 9
		change(&bad)
		if status, text := bad.signIn(t, s, v); status != http.StatusForbidden || !strings.Contains(text, "This passkey does not work") {
			t.Errorf("%s: got %d %s, want 403", what, status, text)
		}
	}
	b := s.browser(t)
	options, _ := passkeyOptions(t, b, v.URL, "get")
	a.counter = 20
	answer := a.get(t, options)
	if status, _ := finish(t, s.browser(t), v.URL, answer, "/"); status != http.StatusForbidden {
		t.Errorf("the answer in another browser: got %d, want 403", status)
	}
	if status, text := finish(t, b, v.URL, answer, "//evil.example/"); text != "hello" {
		t.Errorf("the answer: got %d %s, want the app, and no other site", status, text)
	}
	if status, _ := finish(t, b, v.URL, answer, "/"); status != http.StatusForbidden {
		t.Errorf("the answer for the second time: got %d, want 403", status)
	}

	if _, err := s.Share(t.Context(), v.ID, ShareRevoke, nil, "owner"); err != nil {
		t.Fatal(err)
	}
	a.counter = 30
	if status, text := a.signIn(t, s, v); status != http.StatusForbidden || !strings.Contains(text, "ann@company.com") {
		t.Errorf("after Ann was removed: got %d %s, want 403 and her address", status, text)
	}
}

func TestOnlyWhoHasJustSignedInMakesAPasskey(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	if _, problem := passkeyOptions(t, s.browser(t), v.URL, "create"); !strings.HasPrefix(problem, "403") {
		t.Errorf("a stranger gets %q, want 403", problem)
	}
	b, _ := s.enterByPage(t, v, "")
	if status, text := read(t)(b.Get(v.URL)); text != "hello" {
		t.Fatalf("got %d %s, want the app", status, text)
	}
	if _, problem := passkeyOptions(t, b, v.URL, "create"); !strings.HasPrefix(problem, "403") {
		t.Errorf("a script of the app gets %q, want 403", problem)
	}
	b, _ = s.enterByPage(t, v, "")
	r, _ := http.NewRequest("POST", v.URL+signin.PasskeyPath+"/options", strings.NewReader("kind=create"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://evil.example")
	if status, text := read(t)(b.Do(r)); status != http.StatusForbidden {
		t.Errorf("another site gets %d %s, want 403", status, text)
	}
	a := &authenticator{origin: v.URL, rpID: "evil.example"}
	options, _ := passkeyOptions(t, b, v.URL, "create")
	if status, text := finish(t, b, v.URL, a.create(t, options), "/"); status != http.StatusForbidden {
		t.Errorf("a passkey for another host: got %d %s, want 403", status, text)
	}
}

func TestPasskeysGoWithTheirService(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"ann@company.com"} })
	s.withPasskey(t, v, "ann@company.com")
	for range 12 {
		list, err := s.db.Services.Passkeys(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		p := list[0]
		p.ID, p.CreatedAt = strings.ToLower(rand.Text()), p.CreatedAt+1
		if err := s.db.Services.PutPasskey(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.db.Services.Passkeys(t.Context(), v.ID); err != nil || len(list) != 10 {
		t.Errorf("got %d passkeys of one visitor, %v; want the 10 newest", len(list), err)
	}
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
		t.Fatal(err)
	}
	if list, err := s.db.Services.Passkeys(t.Context(), v.ID); err != nil || len(list) > 0 {
		t.Errorf("after the service was deleted: got %d passkeys, %v; want none", len(list), err)
	}
}

func TestOnlyHostsOfOneServiceHavePasskeys(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	for host, want := range map[string]bool{
		v.Name + ".localhost:8787": true, v.Name + ".localhost": true, "localhost:8801": false, "127.0.0.1:8801": false, "other.localhost:8787": false, v.Name + ".example.com": false,
	} {
		r, _ := http.NewRequest("POST", "http://"+host+"/.fairlead/enter", nil)
		r.Host = host
		if got := s.visits.signIn.OfferPasskey(discard{}, r, v, signin.Visitor{IsOwner: true}); got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
	}
}

// discard is an answer that nobody reads.
type discard struct{ http.ResponseWriter }

func (discard) Header() http.Header { return http.Header{} }
