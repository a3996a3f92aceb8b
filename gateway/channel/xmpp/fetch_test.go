package xmpp

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/x509"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
)

// pixel is the beginning of a picture, enough to detect its type.
var pixel = []byte("\x89PNG\r\n\x1a\n and so on")

func TestAPictureIsFetchedFromTheOwnServerAndSeen(t *testing.T) {
	p := startWith(t, true)
	b := p.agent(t, `{"dmPolicy":"open"}`)
	ann := p.person(t, "ann")
	words := channel.Outgoing{Channel: "xmpp", To: "ann@town.test", Files: []protocol.Media{file("a.png", string(pixel)), file("plan.txt", "dig here")}}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err != nil {
		t.Fatal(err)
	}
	isFile := func(m message) bool { return len(m.OOB) > 0 }
	at := []string{ann.hears(t, "a picture", isFile).OOB[0], ann.hears(t, "a text", isFile).OOB[0]}
	say := func(text, more string) channeltest.Sent {
		t.Helper()
		n := len(b.Sent())
		ann.do(t, "<message to='agent@town.test' type='chat'><body>"+text+"</body>"+more+"</message>")
		polltest.Until(t, "it did not arrive", func() bool { return len(b.Sent()) > n })
		return b.Sent()[n]
	}
	got := say(at[0], "<x xmlns='jabber:x:oob'><url>"+at[0]+"</url></x>")
	if len(got.Attachments) != 1 || got.Attachments[0].MimeType != "image/png" || strings.Contains(got.Message, "http") {
		t.Errorf("got %q with %d pictures, want one without its address", got.Message, len(got.Attachments))
	}
	got = say("Read this.", "<file-sharing xmlns='urn:xmpp:sfs:0'><file xmlns='urn:xmpp:file:metadata:0'><name>plan.txt</name><media-type>text/plain</media-type></file>"+
		"<sources><url-data xmlns='http://jabber.org/protocol/url-data' target='"+at[1]+"'/></sources></file-sharing>")
	_, kept, _ := strings.Cut(got.Message, "stored in your workspace as ")
	if text := b.File(t, strings.TrimSuffix(kept, "]")); text != "dig here" {
		t.Errorf("%q: got %q, want dig here", got.Message, text)
	}
	for link, why := range map[string]string{
		"https://files.elsewhere.test/a.png":       "add it to the account's settings",
		strings.Replace(at[0], "https", "http", 1): "is not https",
		"https://127.0.0.1:1/a.png":                "only from the account's own server",
		p.web + "file_share/none/a.png":            "answered 404",
	} {
		got := say("Look.", "<x xmlns='jabber:x:oob'><url>"+link+"</url></x>")
		if len(got.Attachments) != 0 || !strings.Contains(got.Message, "it was not fetched: ") || !strings.Contains(got.Message, why) {
			t.Errorf("%s: got %q, want that it was not fetched because %s", link, got.Message, why)
		}
	}
}

func TestFilesAreFetchedForAllowedSendersOnly(t *testing.T) {
	p := startWith(t, true)
	b := p.agent(t, `{"dmPolicy":"allowlist","allowFrom":["bob@town.test"]}`)
	ann, bob := p.person(t, "ann"), p.person(t, "bob")
	asked := make(chan string, 4)
	s := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer s.Close()
	ann.do(t, "<message to='agent@town.test' type='chat'><body>x</body><x xmlns='jabber:x:oob'><url>"+s.URL+"/ann</url></x></message>")
	bob.do(t, "<message to='agent@town.test' type='chat'><body>x</body><x xmlns='jabber:x:oob'><url>"+s.URL+"/bob</url></x></message>")
	polltest.Until(t, "nothing arrived", func() bool { return len(b.Sent()) == 1 })
	if len(asked) > 0 {
		t.Errorf("got a request for %s, want none", <-asked)
	}
}

// web is a file server on this computer, over TLS.
func web(t *testing.T, h http.HandlerFunc) (g getter, at *url.URL) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL + "/a.png")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return getter{roots: roots, own: netip.MustParseAddr("127.0.0.1")}, at
}

func TestFilesElsewhereAreRefused(t *testing.T) {
	ok := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png; x=y")
		w.Write(pixel)
	}
	g, at := web(t, ok)
	if data, kind, err := g.get(t.Context(), at, 100); err != nil || !bytes.Equal(data, pixel) || kind != "image/png" {
		t.Errorf("got %q, %q, error %v, want the picture", data, kind, err)
	}
	for why, h := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		},
		"answered": http.NotFound,
		"it has 0": func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 101)) },
		"more than": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			w.Write(make([]byte, 101))
		},
	} {
		t.Run(why, func(t *testing.T) {
			g, at := web(t, h)
			if _, _, err := g.get(t.Context(), at, 100); !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: got %v; want the error channel.ErrRefused and an error that contains why", why, err)
			}
		})
	}
	g.own = netip.Addr{}
	if _, _, err := g.get(t.Context(), at, 100); !errors.Is(err, channel.ErrRefused) || !strings.Contains(err.Error(), "inside") {
		t.Errorf("this computer: %v", err)
	}
	at.Host = strings.Replace(at.Host, "127.0.0.1", "localhost", 1)
	if _, _, err := g.get(t.Context(), at, 100); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("this computer by its name: %v", err)
	}
	stranger, at := web(t, ok)
	stranger.roots = x509.NewCertPool()
	if _, _, err := stranger.get(t.Context(), at, 100); err == nil || errors.Is(err, channel.ErrRefused) || strings.Contains(err.Error(), "a.png") {
		t.Errorf("a certificate of nobody: %v", err)
	}
}

func TestHostsOfTheSettingsAreFetchedFrom(t *testing.T) {
	cfg := channel.Config(raw(t, "jid", "a@town.test", "password", "p", "files", "Up.other.test, *.wide.test"))
	set, err := settingsOf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(nil, set, nil)
	c.downloadHost = "files.town.test:5281"
	for at, want := range map[string]bool{
		"https://up.other.test/a": true, "https://other.test/a": false, "https://x.wide.test/a": true, "https://wide.test/a": false, "https://evilwide.test/a": false,
		"https://up.other.test.evil.test/a": false,
	} {
		t.Run(at, func(t *testing.T) {
			u, err := url.Parse(at)
			if err != nil {
				t.Fatal(err)
			}
			if g, err := c.mayFetch(t.Context(), u); (err == nil) != want || g.own.IsValid() {
				t.Errorf("%s: got %v; want success %v and no own address", at, err, want)
			}
		})
	}
	for _, wrong := range []string{"https://a.test", "a.test/x", "a*", "*a", "a.test:5"} {
		if _, err := settingsOf(channel.Config(raw(t, "jid", "a@town.test", "password", "p", "files", wrong))); err == nil {
			t.Errorf("%q: got no error, want one", wrong)
		}
	}
}

func TestEncryptedFileIsOpenedWithTheKeyInItsAddress(t *testing.T) {
	for _, n := range []int{12, 16} {
		key := bytes.Repeat([]byte{7}, n+32)
		block, err := aes.NewCipher(key[n:])
		if err != nil {
			t.Fatal(err)
		}
		gcm, err := cipher.NewGCMWithNonceSize(block, n)
		if err != nil {
			t.Fatal(err)
		}
		locked := gcm.Seal(nil, key[:n], pixel, nil)
		if got, err := unlock(locked, hex.EncodeToString(key)); err != nil || !bytes.Equal(got, pixel) {
			t.Errorf("got %q, error %v, want the picture", got, err)
		}
		locked[0] ^= 1
		if _, err := unlock(locked, hex.EncodeToString(key)); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("got %v; want the error channel.ErrRefused", err)
		}
	}
	for _, key := range []string{"", "00", "zz", strings.Repeat("0", 90)} {
		if _, err := unlock(pixel, key); !errors.Is(err, channel.ErrRefused) {
			t.Errorf("%q: got %v; want the error channel.ErrRefused", key, err)
		}
	}
}

func TestEveryWayToShareAFileIsRead(t *testing.T) {
	for text, want := range map[string]string{
		`<message><body>https://f.test/a.png</body><x xmlns='jabber:x:oob'><url>https://f.test/a.png</url></x></message>`: `"" [image image/png a.png https://f.test/a.png]`,
		`<message><body>aesgcm://f.test/a.jpg#00</body></message>`:                                                        `"" [image image/jpeg a.jpg aesgcm://f.test/a.jpg#00]`,
		`<message><body>see aesgcm://f.test/a.jpg#00</body></message>`:                                                    `"see aesgcm://f.test/a.jpg#00" []`,
		`<message><body>https://f.test/x</body><reference xmlns='urn:xmpp:reference:0' type='data'><media-sharing xmlns='urn:xmpp:sims:1'>` +
			`<file xmlns='urn:xmpp:jingle:apps:file-transfer:5'><media-type>audio/ogg</media-type><name>../voice.ogg</name></file>` +
			`<sources><reference xmlns='urn:xmpp:reference:0' type='data' uri='xmpp:a@b'/><reference xmlns='urn:xmpp:reference:0' type='data' uri='https://f.test/x'/></sources>` +
			`</media-sharing></reference><x xmlns='jabber:x:oob'><url>https://f.test/x</url></x></message>`: `"" [audio audio/ogg voice.ogg https://f.test/x]`,
		`<message><body>hi</body><x xmlns='jabber:x:oob'><url>file:///etc/passwd</url></x></message>`: `"hi" []`,
	} {
		var m message
		if err := xml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		to := protocol.ChannelMessage{Text: m.Body[0]}
		files(m, &to)
		var list []string
		for _, f := range to.Media {
			list = append(list, strings.Join([]string{f.Type, f.MimeType, f.Filename, f.URL}, " "))
		}
		if got := fmt.Sprintf("%q %s", to.Text, list); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}
