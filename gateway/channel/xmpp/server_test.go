package xmpp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/channel/channeltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
)

// prosody is a real server on loopback, for the domain town.test with rooms at rooms.town.test and
// the accounts agent, ann and bob, whose passwords are "secret of NAME".
type prosody struct {
	addr, cert string
	roots      *x509.CertPool
	cmd        *exec.Cmd
	dir        string
	shares     bool   // it accepts uploads
	ports, web string // of its web server
}

func startServer(t *testing.T) *prosody { return startWith(t, false) }

func startWith(t *testing.T, shares bool) *prosody {
	t.Helper()
	bin, err := exec.LookPath("prosody")
	if err != nil {
		t.Skip("SKIPPED: the XMPP server prosody is not installed; packaging/deps.sh test installs it")
	}
	p := &prosody{dir: t.TempDir(), shares: shares, ports: "http_ports = {}\nhttps_ports = {}\nmodules_disabled = { \"s2s\", \"http\" }\n"}
	p.certificate(t)
	p.addr = porttest.Free(t)
	_, port, _ := net.SplitHostPort(p.addr)
	share := ""
	if p.shares {
		_, web, _ := net.SplitHostPort(porttest.Free(t))
		p.web = "https://127.0.0.1:" + web + "/"
		share = fmt.Sprintf(`Component "share.town.test" "http_file_share"
  http_file_share_size_limit = 1000
  http_external_url = %q
`, p.web)
		p.ports = fmt.Sprintf("http_ports = {}\nhttps_ports = { %s }\nhttps_interfaces = { \"127.0.0.1\" }\nhttp_default_host = \"share.town.test\"\nmodules_disabled = { \"s2s\" }\n", web)
	}
	accounts := filepath.Join(p.dir, "data", "town%2etest", "accounts")
	if err := os.MkdirAll(accounts, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent", "ann", "bob"} {
		p.file(t, filepath.Join("data", "town%2etest", "accounts", name+".dat"), fmt.Sprintf("return { [\"password\"] = \"secret of %s\" };\n", name))
	}
	p.file(t, "prosody.cfg.lua", fmt.Sprintf(`run_as_root = true
data_path = %q
pidfile = %q
log = { info = %q }
interfaces = { "127.0.0.1" }
c2s_ports = { %s }
s2s_ports = {}
c2s_direct_tls_ports = {}
%splugin_paths = {}
modules_enabled = { "roster", "saslauth", "tls", "disco", "ping", "posix", "offline" }
authentication = "internal_plain"
storage = "internal"
c2s_require_encryption = true
ssl = { certificate = %q, key = %q }
VirtualHost "town.test"
Component "rooms.town.test" "muc"
  modules_enabled = { "muc_mam" }
  restrict_room_creation = false
  muc_room_default_public_jids = true
  muc_room_locking = false
%s`, filepath.Join(p.dir, "data"), filepath.Join(p.dir, "pid"), filepath.Join(p.dir, "log"), port, p.ports, filepath.Join(p.dir, "cert.pem"), filepath.Join(p.dir, "key.pem"), share))
	p.cmd = exec.Command(bin, "--config", filepath.Join(p.dir, "prosody.cfg.lua"), "-F")
	p.start(t)
	t.Cleanup(func() { p.stop() })
	return p
}

func (p *prosody) start(t *testing.T) {
	t.Helper()
	p.cmd = exec.Command(p.cmd.Path, p.cmd.Args[1:]...)
	out := &strings.Builder{}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); ; {
		if c, err := net.Dial("tcp", p.addr); err == nil {
			c.Close()
			return
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			p.stop()
			t.Fatalf("prosody: got no port, want it listening\n%s\n%s", out, log)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (p *prosody) stop() {
	if p.cmd.Process != nil {
		p.cmd.Process.Signal(syscall.SIGKILL)
		p.cmd.Wait()
	}
}

func (p *prosody) file(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *prosody) certificate(t *testing.T) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "town.test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"town.test", "rooms.town.test", "share.town.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p.cert = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	p.file(t, "cert.pem", p.cert)
	p.file(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	p.roots = x509.NewCertPool()
	p.roots.AppendCertsFromPEM([]byte(p.cert))
}

func raw(t *testing.T, kv ...string) map[string]json.RawMessage {
	t.Helper()
	m := make(map[string]json.RawMessage)
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]], _ = json.Marshal(kv[i+1])
	}
	return m
}

// agent returns a hub whose XMPP account is connected.
func (p *prosody) agent(t *testing.T, policy string) *channeltest.Bench {
	t.Helper()
	b := channeltest.Open(t, t.TempDir(), Driver{})
	t.Cleanup(b.Close)
	b.Set(t, "channels.xmpp", policy)
	b.Begin()
	_, err := b.Accounts.Start(t.Context(), protocol.ChannelStartParams{Channel: "xmpp", Config: raw(t, "jid", "Agent@Town.test", "password", "secret of agent", "server", p.addr,
		"certificate", p.cert, "rooms", "square@rooms.town.test")})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// mustOpen returns a stream over TLS before login.
func mustOpen(t *testing.T, p *prosody) *stream {
	t.Helper()
	l := login{local: "ann", domain: "town.test", server: p.addr, roots: p.roots}
	conn, err := connect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	s := new(stream)
	s.use(conn)
	if err := s.secure(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, err := s.open(l.domain); err != nil {
		t.Fatal(err)
	}
	return s
}

func otherCertificate(t *testing.T) string {
	t.Helper()
	p := &prosody{dir: t.TempDir()}
	p.certificate(t)
	return p.cert
}
