package address

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

const domain = "apps.example.com"

// withFile opens the domain with a certificate from files, and returns a browser for it.
func withFile(t *testing.T, p *place, name string, until time.Time) (*http.Client, authority) {
	t.Helper()
	a := newAuthority(t)
	cert, key := files(t)
	a.write(t, cert, key, name, until)
	listen := at(freePort(t))
	p.set(func(c *config.Config) {
		c.Services.Domain, c.Services.Listen, c.Services.Certificate, c.Services.CertificateFile, c.Services.KeyFile = domain, listen, "file", cert, key
	})
	return a.browser(listen), a
}

func TestADomainWithACertificateFromAFile(t *testing.T) {
	p := newPlace(t)
	v := p.publish("wiki")
	b, _ := withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	if list := p.Problems(); len(list) > 0 {
		t.Fatalf("got the problems %v, want none", list)
	}
	res, err := b.Get("https://wiki." + domain + "/page")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != http.StatusOK {
		t.Errorf("got %s %s, want HTTP/2 and 200", res.Proto, res.Status)
	}
	p.set(func(c *config.Config) { c.Services.PublicPort = 443 })
	if got := p.Of(v)[0]; got != (protocol.ServiceAddress{URL: "https://wiki." + domain, From: protocol.FromAnywhere}) {
		t.Errorf("the best address is %+v, want that of the domain", got)
	}
}

func TestAddressesBelowTheDomainHaveThePortForBrowsers(t *testing.T) {
	p := newPlace(t)
	v := p.publish("wiki")
	withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	plain := at(freePort(t))
	_, own, _ := net.SplitHostPort(p.config.Services.Listen)
	for _, c := range []struct {
		listen, certificate string
		public              int
		want                string // port in addresses
	}{
		{p.config.Services.Listen, "file", 0, ":" + own},
		{p.config.Services.Listen, "file", 443, ""},
		{p.config.Services.Listen, "file", 8443, ":8443"},
		{p.config.Services.Listen, "proxy", 0, ""},
		{p.config.Services.Listen, "proxy", 8443, ":8443"},
		{":443", "file", 0, ""},
		{"127.0.0.1:0", "file", 0, "chosen"},
	} {
		p.set(func(x *config.Config) {
			s := &x.Services
			s.Listen, s.Certificate, s.PublicPort, s.RedirectListen = c.listen, c.certificate, c.public, plain
		})
		if c.want == "chosen" {
			c.want = strings.TrimPrefix(p.open[domainSpec(p.config.Services)].at.String(), "127.0.0.1")
		}
		want := "https://wiki." + domain + c.want
		if got := p.Of(v)[0].URL; got != want {
			t.Errorf("%+v: the address is %s, want %s", c, got, want)
		}
		if got := p.URL("signin"); got != "https://signin."+domain+c.want {
			t.Errorf("%+v: the address of the sign-in is %s, want the same port", c, got)
		}
		r := get(t, "http://wiki."+domain+":80/a?b=1")
		if _, _, h := answerOf(t, authority{}.browser(plain), r); h.Get("Location") != want+"/a?b=1" {
			t.Errorf("%+v: a plain request is led to %s, want %s", c, h.Get("Location"), want)
		}
		if c.certificate == "proxy" {
			r.Header.Set("X-Forwarded-Proto", "http")
			if _, _, h := answerOf(t, authority{}.browser(c.listen), r); h.Get("Location") != want+"/a?b=1" {
				t.Errorf("%+v: a plain request to the proxy is led to %s, want %s", c, h.Get("Location"), want)
			}
		}
	}
}

// TestOnlyNamesOfTheDomainLeadToServices sends hosts in every spelling, and as the whole address.
func TestOnlyNamesOfTheDomainLeadToServices(t *testing.T) {
	p := newPlace(t)
	p.publish("wiki")
	b, _ := withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	for host, want := range map[string]string{
		"wiki." + domain: "wiki", "WIKI.Apps.Example.Com": "wiki", "wiki." + domain + ".": "wiki", "wiki." + domain + ":443": "wiki", "wiki." + domain + ":1": "wiki",
		domain: "", "a.wiki." + domain: "", "." + domain: "", "evil.example": "", "wiki." + domain + ".evil.example": "", "wikiapps.example.com": "",
		"127.0.0.1": "", "localhost:8787": "", "wiki.localhost:8787": "", "[::1]:443": "",
	} {
		p.mu.Lock()
		p.names = nil
		p.mu.Unlock()
		r := get(t, "https://any."+domain+"/ws")
		r.Host = host
		status, _, _ := answerOf(t, b, r)
		wanted := http.StatusMisdirectedRequest
		if want != "" {
			wanted = http.StatusOK
		}
		p.mu.Lock()
		got := strings.Join(p.names, " ")
		p.mu.Unlock()
		if status != wanted || got != want {
			t.Errorf("Host %s: got %d and the service %q, want %d and %q", host, status, got, wanted, want)
		}
	}
}

func TestProvidersComeBackToANameOfTheDomain(t *testing.T) {
	p := newPlace(t)
	b, _ := withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	if _, text, _ := answerOf(t, b, get(t, "https://signin."+domain+"/x")); text != "the sign-in" {
		t.Errorf("got %q, want the sign-in", text)
	}
}

func TestACertificateThatDoesNotFitIsAProblem(t *testing.T) {
	for want, c := range map[string]struct {
		name  string
		until time.Time
	}{
		"is for *.other.example: a certificate for *." + domain: {"*.other.example", time.Now().Add(time.Hour)},
		"is for " + domain + ": a certificate for *.":           {domain, time.Now().Add(time.Hour)},
		"the certificate expired on":                            {"*." + domain, time.Now().Add(-time.Hour)},
	} {
		p := newPlace(t)
		v := p.publish("wiki")
		withFile(t, p, c.name, c.until)
		if list := p.Problems(); len(list) != 1 || !strings.Contains(list[0], want) {
			t.Errorf("got the problems %q, want %q", list, want)
		}
		if got := p.Of(v)[0].Problem; !strings.Contains(got, want) {
			t.Errorf("the address says %q, want %q", got, want)
		}
	}
	p := newPlace(t)
	p.set(func(c *config.Config) {
		c.Services.Domain, c.Services.Listen, c.Services.Certificate = domain, ":0", "file"
	})
	if list := p.Problems(); len(list) != 1 || !strings.Contains(list[0], "set services.certificateFile") {
		t.Errorf("without files: got the problems %q, want what to set", list)
	}
}

func TestAReplacedCertificateIsUsedAtOnceIfItFits(t *testing.T) {
	p := newPlace(t)
	b, a := withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	cert, key := p.config.Services.CertificateFile, p.config.Services.KeyFile
	serial := func() string {
		t.Helper()
		b.CloseIdleConnections()
		res, err := b.Get("https://wiki." + domain)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.TLS.PeerCertificates[0].SerialNumber.String()
	}
	first := serial()
	a.write(t, cert, key, "*."+domain, time.Now().Add(2*time.Hour))
	second := serial()
	if second == first {
		t.Error("got the old certificate after its file changed, want the new one")
	}
	a.write(t, cert, key, "*.other.example", time.Now().Add(time.Hour))
	if got := serial(); got != second {
		t.Errorf("got the certificate %s after the file got one of another domain, want still %s", got, second)
	}
	if list := p.Problems(); len(list) != 1 || !strings.Contains(list[0], "is still in use") {
		t.Errorf("got the problems %q, want that the one before is still in use", list)
	}
	a.write(t, cert, key, "*."+domain, time.Now().Add(time.Hour))
	serial()
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("got the problems %q after a good certificate came, want none", list)
	}
}

func TestAnAddressInUseIsAProblemUntilItIsFree(t *testing.T) {
	p := newPlace(t)
	v := p.publish("wiki")
	other, err := net.Listen("tcp", at(v.LocalPort))
	if err != nil {
		t.Fatal(err)
	}
	p.set(func(c *config.Config) { c.Services.LocalPorts = true })
	if list := p.Problems(); len(list) != 1 || !strings.Contains(list[0], "address already in use") {
		t.Errorf("got the problems %q, want that the address is in use", list)
	}
	other.Close()
	p.Sync() // as Run does at intervals
	if list := p.Problems(); len(list) > 0 {
		t.Errorf("got the problems %q after the port became free, want none", list)
	}
}

func TestAChangedSettingOpensAndClosesAtOnce(t *testing.T) {
	p := newPlace(t)
	b, _ := withFile(t, p, "*."+domain, time.Now().Add(time.Hour))
	old := p.config.Services.Listen
	if _, err := b.Get("https://wiki." + domain); err != nil {
		t.Fatal(err)
	}
	p.set(func(c *config.Config) { c.Services.Listen = at(freePort(t)) })
	if c, err := net.Dial("tcp", old); err == nil {
		c.Close()
		t.Errorf("%s still accepts connections after the setting changed", old)
	}
	c, err := tls.Dial("tcp", p.config.Services.Listen, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatalf("the new address: got %v, want a connection", err)
	}
	c.Close()
}

func TestOnlyATrustedProxySaysWhereARequestCameFrom(t *testing.T) {
	p := newPlace(t)
	listen := at(freePort(t))
	var from, proto string
	p.serve = func(_ http.ResponseWriter, r *http.Request) {
		from, _, _ = net.SplitHostPort(r.RemoteAddr)
		if proto = "http"; r.TLS != nil {
			proto = "https"
		}
	}
	p.set(func(c *config.Config) {
		c.Services.Domain, c.Services.Listen, c.Services.Certificate, c.Services.TrustedProxies = domain, listen, "proxy", []string{"127.0.0.1", "10.0.0.0/8"}
	})
	b := authority{}.browser(listen)
	for header, want := range map[string]string{
		"": "127.0.0.1", "203.0.113.9": "203.0.113.9", "6.6.6.6, 203.0.113.9": "203.0.113.9", "6.6.6.6, 203.0.113.9, 10.1.1.1": "203.0.113.9", "10.1.1.1": "10.1.1.1",
		"nonsense": "127.0.0.1", "203.0.113.9, nonsense": "127.0.0.1", "2001:db8::1": "2001:db8::1",
	} {
		r := get(t, "http://wiki."+domain)
		r.Header.Set("X-Forwarded-For", header)
		if status, text, _ := answerOf(t, b, r); status != http.StatusOK || from != want || proto != "https" {
			t.Errorf("X-Forwarded-For %q: got %d %s from %s over %s, want %s over https", header, status, text, from, proto, want)
		}
	}
	r := get(t, "http://wiki."+domain+"//evil.example/a?b=1")
	r.Header.Set("X-Forwarded-Proto", "http")
	if status, _, h := answerOf(t, b, r); status != http.StatusPermanentRedirect || h.Get("Location") != "https://wiki."+domain+"/evil.example/a?b=1" {
		t.Errorf("a plain request to the proxy: got %d to %s, want the same address with https", status, h.Get("Location"))
	}
	p.set(func(c *config.Config) { c.Services.TrustedProxies = []string{"192.0.2.1"} })
	p.names = nil
	r = get(t, "http://wiki."+domain)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	if status, text, _ := answerOf(t, b, r); status != http.StatusForbidden || !strings.Contains(text, "services.trustedProxies") || len(p.names) > 0 {
		t.Errorf("another computer than the proxy: got %d %s, want 403 and what to set", status, text)
	}
}

func TestPlainRequestsAreLedToTheDomainAlone(t *testing.T) {
	p := newPlace(t)
	listen := at(freePort(t))
	p.set(func(c *config.Config) {
		c.Services.Domain, c.Services.RedirectListen, c.Services.Certificate = domain, listen, "file"
	})
	b := authority{}.browser(listen)
	if status, _, h := answerOf(t, b, get(t, "http://wiki."+domain+"/a%20b?c=1")); status != http.StatusPermanentRedirect || h.Get("Location") != "https://wiki."+domain+"/a%20b?c=1" {
		t.Errorf("got %d to %s, want the same address with https", status, h.Get("Location"))
	}
	for _, host := range []string{"evil.example", domain + ".evil.example", "evil.example/wiki." + domain, "evil@wiki." + domain, "evil:1@wiki." + domain, "a_b." + domain} {
		r := get(t, "http://x/")
		r.Host = host
		if status, _, h := answerOf(t, b, r); h.Get("Location") != "" {
			t.Errorf("Host %s: got %d to %q, want no redirect", host, status, h.Get("Location"))
		}
	}
}

func TestPortsAreOfTheirServiceAlone(t *testing.T) {
	p := newPlace(t)
	one, two := p.publish("one"), p.publish("two")
	p.set(func(c *config.Config) {
		c.Services.LocalPorts, c.Services.NetworkPorts, c.Network.Enabled, c.Network.Listen = true, true, true, "127.0.0.1:0"
	})
	if list := p.Problems(); len(list) > 0 {
		t.Fatalf("got the problems %q, want none", list)
	}
	for _, v := range []protocol.Service{one, two} {
		for _, address := range []string{"http://" + at(v.LocalPort), "https://" + at(v.NetworkPort)} {
			p.names = nil
			b := authority{}.browser(strings.SplitN(address, "://", 2)[1])
			b.Transport.(*http.Transport).TLSClientConfig.InsecureSkipVerify = true // whose pin devices know
			r := get(t, address+"/ws")
			if status, text, _ := answerOf(t, b, r); status != http.StatusOK || !slices.Equal(p.names, []string{v.Name}) {
				t.Errorf("%s: got %d %s of %v, want the app of %s", address, status, text, p.names, v.Name)
			}
			r = get(t, address+"/")
			r.Host = "evil.example" // a name of another site that leads to this address
			if status, _, _ := answerOf(t, b, r); status != http.StatusMisdirectedRequest {
				t.Errorf("%s with another host: got %d, want 421", address, status)
			}
		}
	}
	urls := func(v protocol.Service) (list []string) {
		for _, a := range p.Of(v) {
			list = append(list, a.From+" "+a.URL+a.Problem)
		}
		return list
	}
	want := []string{"network https://" + at(one.NetworkPort), "browser http://one.localhost:8787", "computer http://" + at(one.LocalPort)}
	if got := urls(one); !slices.Equal(got, want) {
		t.Errorf("addresses: got %q, want %q", got, want)
	}
	p.set(func(c *config.Config) { c.Services.LocalPorts, c.Services.NetworkPorts = false, false })
	for _, port := range []int{one.LocalPort, two.NetworkPort} {
		if c, err := net.Dial("tcp", at(port)); err == nil {
			c.Close()
			t.Errorf("port %d still accepts connections after ports were turned off", port)
		}
	}
}
