package xmpp

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

func file(name, text string) protocol.Media {
	return protocol.Media{Type: "document", MimeType: "text/plain", Filename: name, Size: int64(len(text)), Data: base64.StdEncoding.EncodeToString([]byte(text))}
}

func TestAFileIsPutOnTheServerAndItsAddressSent(t *testing.T) {
	p := startWith(t, true)
	b := p.agent(t, `{"dmPolicy":"open"}`)
	ann := p.person(t, "ann")
	words := channel.Outgoing{Text: "Here it is.", Channel: "xmpp", To: "ann@town.test", Files: []protocol.Media{file("a plan & more.txt", "dig here"), file("b.txt", "and there")}}
	said, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words)
	if err != nil || !said.Sent || said.MessageID == "" {
		t.Fatalf("got %+v, error %v, want it sent", said, err)
	}
	ann.hearsText(t, "Here it is.")
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.roots}}}
	defer client.CloseIdleConnections()
	for _, want := range []string{"dig here", "and there"} {
		m := ann.hears(t, "a file", func(m message) bool { return len(m.OOB) > 0 })
		if m.OOB[0] != m.Body[0] || !strings.HasPrefix(m.OOB[0], p.web) {
			t.Errorf("got %+v, want the address of the file", m)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.OOB[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, error %v, want %q", res.Status, got, err, want)
		}
	}
	words.Text, words.Files = "", []protocol.Media{file("big.bin", strings.Repeat("x", 1001))}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err == nil || !strings.Contains(err.Error(), "does not take big.bin (1001 bytes)") {
		t.Errorf("too large: %v", err)
	}
	words.Files = []protocol.Media{file("only.txt", "alone")}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err != nil {
		t.Error(err)
	}
	if m := ann.hears(t, "the file alone", func(m message) bool { return len(m.Body) > 0 }); len(m.OOB) == 0 {
		t.Errorf("got %+v, want the file alone", m)
	}
}

func TestAServerWithoutUploadSaysSo(t *testing.T) {
	p := startServer(t)
	b := p.agent(t, `{"dmPolicy":"open"}`)
	ann := p.person(t, "ann")
	words := channel.Outgoing{Text: "Here it is.", Channel: "xmpp", To: "ann@town.test", Files: []protocol.Media{file("a.txt", "x")}}
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err == nil || !strings.Contains(err.Error(), "takes no files") {
		t.Errorf(`got %v; want an error with "takes no files"`, err)
	}
	words.Files = nil
	words.Text = "Without it, then."
	if _, err := b.Messenger.SendMessage(t.Context(), protocol.MainSession, words); err != nil {
		t.Error(err)
	}
	if m := ann.hears(t, "a text", func(m message) bool { return len(m.Body) > 0 }); m.Body[0] != "Without it, then." {
		t.Errorf("got %q, want the text without its file", m.Body)
	}
}

func TestFilesGoOverTLSAlone(t *testing.T) {
	var s slot
	s.Put.URL, s.Get.URL = "http://127.0.0.1:1/x", "https://127.0.0.1:1/x"
	c := &client{}
	if err := c.put(t.Context(), &s, file("a", "b"), nil); !errors.Is(err, channel.ErrRefused) {
		t.Errorf("got %v; want the error channel.ErrRefused", err)
	}
}
