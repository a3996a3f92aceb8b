package address

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"fairlead/gateway/config"
)

// pebble is a certificate authority for tests, by Let's Encrypt.
type pebble struct {
	directory string
	client    *http.Client // that trusts its directory
	roots     *x509.CertPool
}

// startPebble starts one that checks names at two ports of this computer.
func startPebble(t *testing.T, httpPort, tlsPort int) pebble {
	t.Helper()
	program, err := exec.LookPath("pebble")
	if err != nil {
		t.Skip("needs pebble, which packaging/deps.sh test installs")
	}
	a := newAuthority(t)
	cert, key := files(t)
	a.write(t, cert, key, "localhost", time.Now().Add(time.Hour))
	port, management := freePort(t), freePort(t)
	settings, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": at(port), "managementListenAddress": at(management), "certificate": cert, "privateKey": key, "httpPort": httpPort, "tlsPort": tlsPort,
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pebble.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-config", file, "-dnsserver", startNames(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	p := pebble{
		directory: "https://localhost/dir", roots: x509.NewCertPool(),
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}},
	}
	p.directory = strings.Replace(p.directory, "localhost", at(port), 1)
	for deadline := time.Now().Add(20 * time.Second); ; {
		res, err := p.client.Get("https://" + at(management) + "/roots/0")
		if err != nil {
			if time.Now().After(deadline) {
				t.Fatalf("pebble does not answer: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil || !p.roots.AppendCertsFromPEM(data) {
			t.Fatalf("got %q, %v; want the root of pebble", data, err)
		}
		return p
	}
}

// startNames starts a name server that finds every name on this computer, and returns its address.
func startNames(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		data := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(data)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(data[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			answer := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true}, Questions: m.Questions}
			if q.Type == dnsmessage.TypeA {
				head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}
				answer.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
			}
			if out, err := answer.Pack(); err == nil {
				c.WriteTo(out, from)
			}
		}
	}()
	return c.LocalAddr().String()
}

// connect makes a handshake for a name, and returns the certificate's names and serial number.
func connect(p pebble, address, name string) (names []string, serial string, err error) {
	c, err := tls.Dial("tcp", address, &tls.Config{ServerName: name, RootCAs: p.roots})
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	leaf := c.ConnectionState().PeerCertificates[0]
	return leaf.DNSNames, leaf.SerialNumber.String(), nil
}

// TestCertificatesOnDemand lets pebble check the name by TLS, and then only by plain HTTP.
func TestCertificatesOnDemand(t *testing.T) {
	for _, byHTTP := range []bool{false, true} {
		p := newPlace(t)
		listen, plain := freePort(t), freePort(t)
		tlsPort := listen
		if byHTTP {
			tlsPort = freePort(t) // where nobody listens
		}
		ca := startPebble(t, plain, tlsPort)
		p.certs.client = ca.client
		p.publish("wiki")
		off := p.publish("off")
		p.mu.Lock()
		p.services[1].Enabled = false
		p.mu.Unlock()
		p.set(func(c *config.Config) {
			s := &c.Services
			s.Domain, s.Listen, s.ACME.Directory = domain, at(listen), ca.directory
			if byHTTP {
				s.RedirectListen = at(plain)
			}
		})
		names, serial, err := connect(ca, at(listen), "wiki."+domain)
		if err != nil || len(names) != 1 || names[0] != "wiki."+domain {
			t.Fatalf("by HTTP %v: got a certificate for %v, %v, with the problems %q; want one for the name", byHTTP, names, err, p.Problems())
		}
		for _, name := range []string{off.Name + "." + domain, "none." + domain, domain, "wiki.evil.example", "a.wiki." + domain} {
			if names, _, err := connect(ca, at(listen), name); err == nil {
				t.Errorf("%s: got a certificate for %v, want none: no app has this name", name, names)
			}
		}
		if list := p.Problems(); len(list) > 0 {
			t.Errorf("got the problems %q, want none", list)
		}
		p.certs.client, p.certs.open = &http.Client{Transport: http.NewFileTransport(http.Dir(t.TempDir()))}, nil // a new start without the authority
		p.set(func(c *config.Config) { c.Services.ACME.Email = "ann@example.com" })
		if _, again, err := connect(ca, at(listen), "wiki."+domain); err != nil || again != serial {
			t.Errorf("after a restart: got the certificate %s, %v; want the stored one, %s", again, err, serial)
		}
		checkModes(t, p.certs.folder)
	}
}

// checkModes checks that only the owner can read what is in a folder.
func checkModes(t *testing.T, folder string) {
	t.Helper()
	files := 0
	filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			t.Error(err)
			return nil
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v, want it readable by the owner alone", path, info.Mode())
		}
		if !d.IsDir() {
			files++
		}
		return nil
	})
	if files < 2 {
		t.Errorf("got %d files, want the account's key and a certificate", files)
	}
}

func TestAnAuthorityThatDoesNotAnswerIsAProblem(t *testing.T) {
	p := newPlace(t)
	p.publish("wiki")
	listen := at(freePort(t))
	p.set(func(c *config.Config) {
		c.Services.Domain, c.Services.Listen, c.Services.ACME.Directory = domain, listen, "https://"+at(freePort(t))+"/dir"
	})
	if _, _, err := connect(pebble{}, listen, "wiki."+domain); err == nil {
		t.Fatal("got a certificate, want none")
	}
	if list := p.Problems(); len(list) != 1 || !strings.Contains(list[0], "no certificate for wiki."+domain) {
		t.Errorf("got the problems %q, want the name without a certificate", list)
	}
}
