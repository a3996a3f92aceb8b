package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Services configures published services.
type Services struct {
	// Domain is the domain below which each service has a name; empty without one.
	Domain string `json:"domain"`
	// Listen is host:port of the listener for the domain; empty means that it is closed.
	Listen string `json:"listen"`
	// PublicPort is the port at which browsers reach the domain; 0 means the listener's own, or 443
	// behind a reverse proxy.
	PublicPort int `json:"publicPort" min:"0" max:"65535"`
	// Certificate says where the listener's certificate comes from: ACME, or the files below. With
	// "proxy" it has none: the person's own reverse proxy has it.
	Certificate     string `json:"certificate" oneof:"acme,file,proxy"`
	CertificateFile string `json:"certificateFile"`
	KeyFile         string `json:"keyFile"`
	ACME            ACME   `json:"acme"`
	// RedirectListen is host:port of a listener for plain HTTP, which leads to the domain and answers
	// the checks of ACME; empty means that it is closed.
	RedirectListen string `json:"redirectListen"`
	// TrustedProxies are the addresses and networks of the person's own reverse proxies.
	TrustedProxies []string `json:"trustedProxies"`
	// NetworkPorts gives each service a port for other computers, while the network listener is open.
	NetworkPorts bool `json:"networkPorts"`
	// LocalPorts gives each service a port for the programs of this computer.
	LocalPorts bool `json:"localPorts"`
	// SignIn are the providers at which visitors can sign in, by name.
	SignIn map[string]SignInProvider `json:"signIn"`
	Mail   Mail                      `json:"mail"`
}

// ACME configures who issues certificates.
type ACME struct {
	Directory string `json:"directory" url:"true"`
	Email     string `json:"email"` // the issuer writes to it; may be empty
}

// DefaultServices opens no listener, and has no provider.
func DefaultServices() Services {
	return Services{
		Certificate: "acme", ACME: ACME{Directory: "https://acme-v02.api.letsencrypt.org/directory"}, TrustedProxies: []string{"127.0.0.1", "::1"},
		SignIn: map[string]SignInProvider{}, Mail: Mail{Port: 587, Security: "starttls"},
	}
}

func (s Services) check(path string) error {
	if name, err := idna.Lookup.ToASCII(s.Domain); s.Domain != "" && (err != nil || !strings.Contains(name, ".") || name != s.Domain || net.ParseIP(name) != nil || strings.HasSuffix(name, ".localhost")) {
		return bad("%s.domain must be a domain in small letters such as apps.example.com, not %q", path, s.Domain)
	}
	for name, text := range map[string]string{"listen": s.Listen, "redirectListen": s.RedirectListen} {
		if text != "" && !isListenAddress(text) {
			return bad("%s.%s must be empty or HOST:PORT such as :443, with a port from 0 to 65535, not %q", path, name, text)
		}
	}
	for _, text := range s.TrustedProxies {
		if _, err := ParseNetwork(text); err != nil {
			return bad("%s.trustedProxies must be addresses or networks such as 10.0.0.2 or 10.0.0.0/8, not %q", path, text)
		}
	}
	return nil
}

func isListenAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, no := strconv.ParseUint(port, 10, 16)
	return err == nil && no == nil
}

// ParseNetwork reads a network, or an address as a network of one.
func ParseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.Prefix(a.BitLen())
	}
	return netip.ParsePrefix(text)
}
