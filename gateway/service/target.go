package service

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"fairlead/gateway/protocol"
)

// Encodings of a target's address.
const (
	EncodingUTF8   = "utf8"
	EncodingBase64 = "base64"
)

// Target is the app that a service leads to, as its machine reaches it.
type Target struct {
	TLS  bool
	Host string // a name in ASCII or an IP address without brackets
	Port int
	Path string // where a visit without a path begins; "/" or longer
}

// portAlone matches what people type who mean an app of the machine itself: 3000, :3000/admin, or
// port 3000.
var portAlone = regexp.MustCompile(`^(?i:port\s*)?:?([0-9]+)(/.*)?$`)

// ParseTarget reads an address as people and programs write it: a whole one, or one without the
// scheme, the host or the port. The error is a *protocol.Fault that says what is wrong.
func ParseTarget(text, encoding string) (Target, error) {
	text, err := decode(text, encoding)
	if err != nil {
		return Target{}, err
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return Target{}, invalid("the target is empty: give an address such as http://127.0.0.1:3000")
	}
	if m := portAlone.FindStringSubmatch(text); m != nil {
		text = "http://127.0.0.1:" + m[1] + m[2]
	}
	if !strings.Contains(text, "://") {
		text = "http://" + bracket(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, invalid("the target %q is not an address such as http://127.0.0.1:3000", text)
	}
	return fromURL(u)
}

func decode(text, encoding string) (string, error) {
	switch encoding {
	case "", EncodingUTF8:
		return text, nil
	case EncodingBase64:
		text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimSpace(text)), "=")
		data, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil || !utf8.Valid(data) {
			return "", invalid("proxy_target_url is not base64 of an address: leave out proxy_target_encoding to give a plain one")
		}
		return string(data), nil
	}
	return "", invalid("proxy_target_encoding is %q; it can be %s or %s", encoding, EncodingUTF8, EncodingBase64)
}

// bracket puts a bare IPv6 address into brackets, as addresses need it.
func bracket(text string) string {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Is6() {
		return "[" + text + "]"
	}
	return text
}

func fromURL(u *url.URL) (Target, error) {
	// Two slashes at the beginning would be another host in a redirect.
	t := Target{Path: "/" + strings.TrimLeft(u.EscapedPath(), "/"), Port: 80}
	switch u.Scheme {
	case "http":
		t.TLS = u.Port() == "443"
	case "https":
		t.TLS = true
	default:
		return Target{}, invalid("the target has the scheme %s; a service leads to an http or https address", u.Scheme)
	}
	switch {
	case u.User != nil:
		return Target{}, invalid("the target contains a name or password: leave it out, the app asks its visitors itself")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Target{}, invalid("the target ends in ? or #: give only the address and, if you like, a path")
	}
	if t.TLS {
		t.Port = 443
	}
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return Target{}, invalid("the target has the port %s; ports are numbers from 1 to 65535", p)
		}
		t.Port = n
	}
	var err error
	t.Host, err = hostOf(u.Hostname())
	return t, err
}

// hostOf returns the host of an address; 0.0.0.0 and ::, on which apps listen, mean the machine itself.
func hostOf(name string) (string, error) {
	if name == "" {
		return "127.0.0.1", nil
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		switch {
		case ip.Zone() != "":
			return "", invalid("the target %s names a network interface: give an address without %%", name)
		case ip.IsUnspecified() && ip.Is6():
			return "::1", nil
		case ip.IsUnspecified():
			return "127.0.0.1", nil
		}
		return ip.Unmap().String(), nil
	}
	host, err := idna.Lookup.ToASCII(name)
	if err != nil || host == "" || len(host) > 253 || !utf8.ValidString(name) {
		return "", invalid("the target has the host %q, which is no host name", name)
	}
	return host, nil
}

// Address returns the host and port, as a machine dials them.
func (t Target) Address() string { return net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) }

// String returns the whole address.
func (t Target) String() string {
	scheme, usual := "http", 80
	if t.TLS {
		scheme, usual = "https", 443
	}
	host := t.Address()
	if t.Port == usual {
		host = bracket(t.Host)
	}
	return scheme + "://" + host + t.Path
}

func invalid(format string, args ...any) error {
	return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf(format, args...))
}
