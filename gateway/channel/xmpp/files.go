package xmpp

import (
	"mime"
	"net/url"
	"path"
	"strings"

	"fairlead/gateway/protocol"
)

// sharing describes a file and its sources (XEP-0385 media sharing, XEP-0447 file sharing).
type sharing struct {
	Name string   `xml:"file>name"`
	Type string   `xml:"file>media-type"`
	URLs []target `xml:"sources>url-data"`
	Refs []uri    `xml:"sources>reference"`
}

type target struct {
	At string `xml:"target,attr"`
}

type uri struct {
	At string `xml:"uri,attr"`
}

// reference is a reference in a message (XEP-0372).
type reference struct {
	Media *sharing `xml:"urn:xmpp:sims:1 media-sharing"`
}

// files extracts the addresses of files from a message: plain (XEP-0066), with a description
// (XEP-0385, XEP-0447), or as an aesgcm: address that is the whole text. Clients repeat the address
// as the text.
func files(m message, to *protocol.ChannelMessage) {
	for _, s := range m.Sharing {
		s.add(to)
	}
	for _, r := range m.References {
		if r.Media != nil {
			r.Media.add(to)
		}
	}
	for _, x := range m.OOB {
		add(to, x.URL, "", "")
	}
	if text := strings.TrimSpace(to.Text); strings.HasPrefix(text, "aesgcm://") && !strings.ContainsAny(text, " \n") {
		add(to, text, "", "")
	}
}

func (s sharing) add(to *protocol.ChannelMessage) {
	for _, u := range s.URLs {
		if add(to, u.At, s.Name, s.Type) {
			return
		}
	}
	for _, r := range s.Refs {
		if add(to, r.At, s.Name, s.Type) {
			return
		}
	}
}

// add adds a file once, and removes the text if it is nothing but its address. It reports whether
// the address is a web address.
func add(to *protocol.ChannelMessage, at, name, kind string) bool {
	at = strings.TrimSpace(at)
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "aesgcm" {
		return false
	}
	if strings.TrimSpace(to.Text) == at {
		to.Text = ""
	}
	for _, m := range to.Media {
		if m.URL == at {
			return true
		}
	}
	if name = path.Base(strings.TrimSpace(name)); name == "." || name == "/" {
		name = path.Base(u.Path)
	}
	if kind == "" {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	kind, _, _ = strings.Cut(kind, ";")
	major, _, _ := strings.Cut(kind, "/")
	if major != "image" && major != "audio" && major != "video" {
		major = "document"
	}
	to.Media = append(to.Media, protocol.Media{Type: major, MimeType: kind, URL: at, Filename: name})
	return true
}
