package xmpp

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/channel"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// transport sends over a client.
type transport struct{ c *client }

// Send implements channel.Transport.
func (t transport) Send(ctx context.Context, m protocol.ChannelOutbound) (string, error) {
	to, kind, err := t.address(m.Peer)
	if err != nil {
		return "", err
	}
	// Uploads come first: if one fails, the hub sends the whole message again.
	files, err := t.c.upload(ctx, m.Message.Media)
	if err != nil {
		return "", err
	}
	var texts []string
	if m.Message.Text != "" || len(files) == 0 {
		texts = parts(m.Message.Text, maxBody)
	}
	id := ""
	for i, part := range append(texts, files...) {
		id = protocol.NewID()
		extra := ""
		if m.Message.ReplyToID != "" && i == 0 {
			extra = "<reply xmlns='" + nsReply + "' id='" + esc(m.Message.ReplyToID) + "'/>"
		}
		if i >= len(texts) {
			extra += "<x xmlns='jabber:x:oob'><url>" + esc(part) + "</url></x>"
		}
		text := "<message to='" + esc(to) + "' type='" + kind + "' id='" + id + "'><body>" + esc(part) + "</body>" + extra + "<active xmlns='" + nsStates + "'/></message>"
		if err := t.c.ask(ctx, id, text); err != nil {
			return "", err
		}
	}
	return id, nil
}

// Typing implements channel.Transport.
func (t transport) Typing(_ context.Context, y protocol.ChannelTyping) error {
	to, kind, err := t.address(y.Peer)
	if err != nil {
		return err
	}
	state := "paused"
	if y.Typing {
		state = "composing"
	}
	return t.c.s.send("<message to='" + esc(to) + "' type='" + kind + "'><" + state + " xmlns='" + nsStates + "'/><no-store xmlns='urn:xmpp:hints'/></message>")
}

func (t transport) address(p protocol.Peer) (to, kind string, err error) {
	if _, _, ok := splitJID(p.ID); !ok {
		return "", "", channel.NewRefusal("%q is not an XMPP address", p.ID)
	}
	if p.Kind == protocol.PeerDM {
		return p.ID, "chat", nil
	}
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	r := t.c.rooms[bare(p.ID)]
	switch {
	case r == nil:
		return "", "", channel.NewRefusal("the agent is not in the room %s: add it to the account's rooms", bare(p.ID))
	case !r.joined:
		return "", "", fmt.Errorf("the agent has not entered the room %s", bare(p.ID))
	}
	return bare(p.ID), "groupchat", nil
}

// parts splits a text into pieces of at most n bytes, at the end of a line where possible.
func parts(s string, n int) []string {
	var list []string
	for len(s) > n {
		i := strings.LastIndexByte(s[:n], '\n')
		if i < n/2 {
			i = len(format.Head(s, n))
		}
		list = append(list, s[:i])
		s = strings.TrimPrefix(s[i:], "\n")
	}
	return append(list, s)
}

const (
	nsItems  = "http://jabber.org/protocol/disco#items" // XEP-0030
	nsUpload = "urn:xmpp:http:upload:0"                 // XEP-0363
)

// putLimit is the time limit for uploading one file.
const putLimit = 50 * time.Second

// query sends a query to the server, or to a service of it, and waits for the response.
func (c *client) query(ctx context.Context, to, inner string) (iq, error) {
	id := "q-" + protocol.NewID()
	return c.await(ctx, "<iq type='get' id='"+id+"' to='"+esc(to)+"'>"+inner+"</iq>", id)
}

// uploads returns the server's service for uploads.
func (c *client) uploads(ctx context.Context) (string, error) {
	c.mu.Lock()
	known := c.uploadService
	c.mu.Unlock()
	if known != "" {
		return known, nil
	}
	items, err := c.query(ctx, c.set.domain, "<query xmlns='"+nsItems+"'/>")
	if err != nil {
		return "", err
	}
	services := []string{c.set.domain}
	for _, i := range items.Items[:min(len(items.Items), 50)] {
		services = append(services, i.JID)
	}
	for _, service := range services {
		info, err := c.query(ctx, service, "<query xmlns='"+nsDisco+"'/>")
		if err != nil {
			return "", err
		}
		if info.Disco != nil && slices.Contains(info.Disco.Features, feature{nsUpload}) {
			c.mu.Lock()
			c.uploadService = service
			c.mu.Unlock()
			return service, nil
		}
	}
	return "", channel.NewRefusal("the XMPP server %s takes no files: it has no HTTP upload (XEP-0363). Send the text, or the file another way", c.set.domain)
}

// upload uploads files to the server and returns their download addresses.
func (c *client) upload(ctx context.Context, files []protocol.Media) (urls []string, err error) {
	for _, f := range files {
		data, err := base64.StdEncoding.DecodeString(f.Data)
		if err != nil || f.Data == "" {
			return nil, channel.NewRefusal("the file %s has no content", f.Filename)
		}
		service, err := c.uploads(ctx)
		if err != nil {
			return nil, err
		}
		q, err := c.query(ctx, service, fmt.Sprintf("<request xmlns='%s' filename='%s' size='%d' content-type='%s'/>", nsUpload, esc(f.Filename), len(data), esc(f.MimeType)))
		switch {
		case err != nil:
			return nil, err
		case q.Slot == nil && q.Error != nil && q.Error.Type == "wait":
			return nil, fmt.Errorf("the server postponed the upload of %s: %s", f.Filename, q.Error)
		case q.Slot == nil:
			return nil, channel.NewRefusal("the server does not take %s (%d bytes): %s", f.Filename, len(data), q.Error)
		}
		if err := c.put(ctx, q.Slot, f, data); err != nil {
			return nil, err
		}
		urls = append(urls, q.Slot.Get.URL)
	}
	return urls, nil
}

// put uploads a file to its slot, only over TLS.
func (c *client) put(ctx context.Context, s *slot, f protocol.Media, data []byte) error {
	for _, at := range []string{s.Put.URL, s.Get.URL} {
		if u, err := url.Parse(at); err != nil || u.Scheme != "https" || u.Host == "" {
			return channel.NewRefusal("the server wants %s at an address that is not https", f.Filename)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, putLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.Put.URL, bytes.NewReader(data))
	if err != nil {
		return channel.NewRefusal("the server's address for %s cannot be used: %v", f.Filename, err)
	}
	for _, h := range s.Put.Headers { // other headers are not allowed (XEP-0363, 5)
		if value := strings.NewReplacer("\r", "", "\n", "").Replace(h.Value); slices.Contains([]string{"authorization", "cookie", "expires"}, strings.ToLower(h.Name)) {
			req.Header.Set(h.Name, value)
		}
	}
	req.Header.Set("Content-Type", f.MimeType)
	web, stop := webClient(c.set.roots, &http.Transport{Proxy: http.ProxyFromEnvironment})
	defer stop()
	res, err := web.Do(req)
	if err != nil {
		return fmt.Errorf("put %s on the server: %w", f.Filename, err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 4096))
	switch {
	case res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated || res.StatusCode == http.StatusNoContent:
		return nil
	case res.StatusCode/100 == 5 || res.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("put %s on the server: it answered %s", f.Filename, strconv.Itoa(res.StatusCode))
	}
	return channel.NewRefusal("the server did not take %s: it answered %d", f.Filename, res.StatusCode)
}
