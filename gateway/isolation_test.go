package gateway_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// servicesDomain is a domain that the certificate of package httptest is for.
const servicesDomain = "example.com"

// publish publishes an app of the laptop for everyone or for the owner alone.
func (f *forwarding) publish(target string, signIn bool) protocol.Service {
	f.t.Helper()
	result := f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"auth_required":%v}`, target, signIn))
	f.decide(protocol.DecisionAllow)
	var made struct {
		ID protocol.ServiceID `json:"service_id"`
	}
	if r := result(); r.Fault != nil || json.Unmarshal(r.Data, &made) != nil {
		f.t.Fatalf("publishing %s: got %s, %v; want the service", target, r.Data, r.Fault)
	}
	return f.service(made.ID)
}

func (f *forwarding) service(id protocol.ServiceID) protocol.Service {
	f.t.Helper()
	for _, v := range ask(f.accessGateway, protocol.ServicesList, protocol.Empty{}).Services {
		if v.ID == id {
			return v
		}
	}
	f.t.Fatalf("there is no service %s", id)
	return protocol.Service{}
}

// set changes a setting of published services.
func (f *forwarding) set(name string, value any) {
	f.t.Helper()
	ask(f.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "services." + name, Value: protocol.Encode(value)})
}

// openAddresses opens the domain, with a certificate from a file or behind a proxy, and all ports.
// It returns where the domain's listener is.
func (f *forwarding) openAddresses(certificate string) (listen string) {
	f.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	listen = l.Addr().String()
	l.Close()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		f.t.Fatal(err)
	}
	dir := f.t.TempDir()
	for name, block := range map[string]pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	f.set("certificate", certificate)
	f.set("certificateFile", filepath.Join(dir, "cert.pem"))
	f.set("keyFile", filepath.Join(dir, "key.pem"))
	f.set("domain", servicesDomain)
	f.set("listen", listen)
	f.set("networkPorts", true)
	f.set("localPorts", true)
	return listen
}

// door is a place at which a service is reached.
type door struct {
	address string // of the listener
	tls     bool
	host    string // that leads to the service
}

func (d door) connect(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	if d.tls {
		c = tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: "any." + servicesDomain})
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// send sends the head of a request, byte for byte, and returns the answer.
func (d door) send(t *testing.T, head ...string) (status int, text string, h http.Header) {
	t.Helper()
	c := d.connect(t)
	defer c.Close()
	if _, err := io.WriteString(c, strings.Join(append(head, "Connection: close", "", ""), "\r\n")); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q at %s: %v", head, d.address, err)
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(data), r.Header
}

// doors returns where a service is reached, with the domain's listener at listen.
func (f *forwarding) doors(v protocol.Service, listen, certificate string) []door {
	f.t.Helper()
	u, err := url.Parse(f.gw.URL())
	if err != nil {
		f.t.Fatal(err)
	}
	list := []door{{u.Host, false, v.Name + ".localhost:" + u.Port()}, {listen, certificate == "file", v.Name + "." + servicesDomain}}
	for _, a := range f.service(v.ID).Addresses {
		if a.Problem != "" {
			f.t.Fatalf("%s does not work: %s", a.URL, a.Problem)
		}
		if a.From == protocol.FromNetwork || a.From == protocol.FromComputer {
			u, _ := url.Parse(a.URL)
			list = append(list, door{u.Host, u.Scheme == "https", u.Host})
		}
	}
	if len(list) != 4 {
		f.t.Fatalf("got the addresses %+v, want four", list)
	}
	return list
}

// gatewayRequests are the first lines of requests that mean something to the gateway itself.
var gatewayRequests = []string{
	"GET /health", "GET /ws", "GET /tunnel", "GET /install.sh", "GET /install.ps1", "GET /api/v1/tools", "GET /api", "GET /mcp", "GET /oauth/authorize",
	"GET /oauth/register", "GET /.well-known/oauth-authorization-server", "GET /.well-known/oauth-protected-resource", "GET /pair",
}

// TestNoAddressOfAServiceLeadsToTheGateway sends requests for the gateway to each address of a
// service that everyone may visit and of one with a sign-in, with each spelling of the host.
func TestNoAddressOfAServiceLeadsToTheGateway(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "the app at "+r.URL.Path) }))
	t.Cleanup(app.Close)
	open, closed := f.publish(app.URL, false), f.publish(app.URL, true)
	for _, certificate := range []string{"file", "proxy"} {
		listen := f.openAddresses(certificate)
		for _, v := range []protocol.Service{open, closed} {
			doors := f.doors(v, listen, certificate)
			for _, d := range doors {
				name, port, hasPort := strings.Cut(d.host, ":")
				if hasPort {
					port = ":" + port
				}
				for _, request := range gatewayRequests {
					method, path, _ := strings.Cut(request, " ")
					upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="}
					for what, head := range map[string][]string{
						"plain":                 {method + " " + path + " HTTP/1.1", "Host: " + d.host},
						"upper case and a dot":  {method + " " + path + " HTTP/1.1", "Host: " + strings.ToUpper(name) + "." + port},
						"another port":          {method + " " + path + " HTTP/1.1", "Host: " + name + ":1"},
						"a whole address":       {method + " http://" + d.host + path + " HTTP/1.1", "Host: " + doors[0].address},
						"a WebSocket":           append([]string{method + " " + path + " HTTP/1.1", "Host: " + d.host}, upgrade...),
						"a token of the owner":  {method + " " + path + " HTTP/1.1", "Host: " + d.host, "Authorization: Bearer gateway-token-of-the-test"},
						"the gateway forwarded": {method + " " + path + " HTTP/1.1", "Host: " + d.host, "X-Forwarded-Host: 127.0.0.1", "Forwarded: host=127.0.0.1"},
					} {
						status, text, h := d.send(t, head...)
						isSignIn := status == http.StatusUnauthorized && strings.Contains(text, "Sign in") && h.Get("Www-Authenticate") == ""
						if isApp := status == http.StatusOK && text == "the app at "+path; v.SignIn && !isSignIn || !v.SignIn && !isApp {
							t.Errorf("%s %s at %s (%s, sign-in %v): got %d %.80q, want the app or the sign-in", what, request, d.host, certificate, v.SignIn, status, text)
						}
					}
				}
			}
		}
	}
}

// TestHostsOfOthersReachNothing sends hosts that are not a service's to each listener of services,
// and hosts of a service to the listeners of the gateway.
func TestHostsOfOthersReachNothing(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "the app at "+r.URL.Path) }))
	t.Cleanup(app.Close)
	v := f.publish(app.URL, false)
	listen := f.openAddresses("file")
	doors := f.doors(v, listen, "file")
	own := doors[0].address
	for _, d := range doors[1:] {
		for what, head := range map[string][]string{
			"no host":               {"GET /health HTTP/1.1", "Host:"},
			"two hosts":             {"GET /health HTTP/1.1", "Host: " + d.host, "Host: " + own},
			"another host":          {"GET /health HTTP/1.1", "Host: evil.example"},
			"a whole address":       {"GET http://evil.example/health HTTP/1.1", "Host: " + d.host},
			"the local name":        {"GET /health HTTP/1.1", "Host: " + doors[0].host},
			"a user":                {"GET /health HTTP/1.1", "Host: x@" + d.host},
			"a name of two parts":   {"GET /health HTTP/1.1", "Host: a." + d.host},
			"an escaped separator":  {"GET /health HTTP/1.1", "Host: x%2f" + d.host},
			"HTTP/1.0 without host": {"GET /health HTTP/1.0"},
		} {
			if status, text, _ := d.send(t, head...); status != http.StatusMisdirectedRequest && status != http.StatusBadRequest {
				t.Errorf("%s at %s: got %d %.80q, want 421 or 400", what, d.host, status, text)
			}
		}
	}
	network := door{address: f.list().Network.Addresses[0], tls: true}
	for _, d := range []door{{address: own}, network} {
		for _, host := range []string{d.address, "localhost", "127.0.0.1", "evil.example", doors[1].host, "x." + v.Name + ".localhost", v.Name + ".localhost.evil.example", v.Name, v.Name + ".localhost.."} {
			if status, text, _ := d.send(t, "GET /page HTTP/1.1", "Host: "+host); status == http.StatusOK || strings.Contains(text, "the app") {
				t.Errorf("Host %s at the gateway's own %s: got %d %.80q, want no app", host, d.address, status, text)
			}
		}
	}
	if status, text, _ := network.send(t, "GET /page HTTP/1.1", "Host: "+doors[0].host); status == http.StatusOK || strings.Contains(text, "the app") {
		t.Errorf("the local name at the network's listener: got %d %.80q, want no app", status, text)
	}
}

// TestAServiceNeverLeadsToTheGateway publishes each address of the gateway, of which some are
// refused at once, and visits it.
func TestAServiceNeverLeadsToTheGateway(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the app") }))
	t.Cleanup(app.Close)
	v := f.publish(app.URL, false)
	listen := f.openAddresses("file")
	doors := f.doors(v, listen, "file")
	_, port, _ := net.SplitHostPort(doors[0].address)
	network := f.list().Network.Addresses[0]
	for _, target := range []string{"127.0.0.1:" + port, "localhost:" + port, port, "[::1]:" + port, "127.0.0.2:" + port, doors[0].host, "https://" + network} {
		f.isRefused(target, f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q}`, target)))
		f.isRefused(target, f.tool("service_update", fmt.Sprintf(`{"service_id":%q,"proxy_target_url":%q}`, v.ID, target)))
	}
	// A port that leads to the gateway, as a container or a tunnel of the owner has one.
	for what, to := range map[string]door{"the gateway": doors[0], "the network's listener": {address: network, tls: true}, "the domain": doors[1], "a port": doors[3]} {
		scheme := "http"
		if to.tls {
			scheme = "https"
		}
		hidden := f.publish(scheme+"://"+relay(t, to.address), false)
		for _, request := range []string{"GET /health", "GET /api/v1/tools", "GET /oauth/authorize", "GET /ws", "GET /page"} {
			for _, more := range []string{"X-Nothing: 1", "Connection: Fairlead-Via", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="} {
				status, text, _ := door{address: doors[0].address}.send(t, request+" HTTP/1.1", "Host: "+hidden.Name+".localhost", more)
				if status != http.StatusLoopDetected || !strings.Contains(text, "leads to Fairlead itself") {
					t.Errorf("%s, %s with %q: got %d %.80q, want 508", what, request, more, status, text)
				}
			}
		}
	}
}

// TestAnAppOfAnotherGatewayCanBePublishedAgain sends requests as services of another gateway do, at
// first to an app, and then in a circle through both.
func TestAnAppOfAnotherGatewayCanBePublishedAgain(t *testing.T) {
	f := newForwarding(t)
	via := make(chan []string, 1)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		via <- r.Header.Values("Fairlead-Via")
		io.WriteString(w, "the app")
	}))
	t.Cleanup(app.Close)
	v := f.publish(app.URL, false)
	listen := f.openAddresses("file")
	for _, d := range f.doors(v, listen, "file") {
		if status, text, _ := d.send(t, "GET /page HTTP/1.1", "Host: "+d.host, "Fairlead-Via: another"); status != http.StatusOK || !strings.Contains(text, "the app") {
			t.Fatalf("%s: got %d %.80q, want the app", d.host, status, text)
		}
		passed := <-via
		if len(passed) != 2 || passed[0] != "another" {
			t.Fatalf("%s: the app gets the gateways %q, want the other and this one", d.host, passed)
		}
		circle := []string{"GET /page HTTP/1.1", "Host: " + d.host, "Fairlead-Via: " + passed[1], "Fairlead-Via: another"}
		if status, text, _ := d.send(t, circle...); status != http.StatusLoopDetected {
			t.Errorf("%s: a circle: got %d %.80q, want 508", d.host, status, text)
		}
	}
	own := door{address: f.doors(v, listen, "file")[0].address}
	for _, path := range []string{"/health", "/api/v1/tools", "/ws"} {
		if status, text, _ := own.send(t, "GET "+path+" HTTP/1.1", "Host: "+own.address, "Fairlead-Via: another"); status != http.StatusLoopDetected {
			t.Errorf("%s of the gateway itself through another: got %d %.80q, want 508", path, status, text)
		}
	}
}

// isRefused checks that a target is refused before the owner is asked.
func (f *forwarding) isRefused(target string, result func() protocol.CatalogCallResult) {
	f.t.Helper()
	done := make(chan protocol.CatalogCallResult, 1)
	go func() { done <- result() }()
	var r protocol.CatalogCallResult
	f.until("a result or a question", func() bool {
		select {
		case r = <-done:
			return true
		default:
			return len(f.questions(protocol.AskCall)) > 0
		}
	})
	if r.Fault == nil || !strings.Contains(r.Fault.Message, "is this gateway itself") {
		f.t.Fatalf("the target %s: got %s, %v; want it refused", target, r.Data, r.Fault)
	}
}

// relay passes connections on to an address, and returns its own.
func relay(t *testing.T, to string) string {
	t.Helper()
	return serveTCP(t, func(c *net.TCPConn) {
		out, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer out.Close()
		go func() {
			io.Copy(out, c)
			out.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(c, out)
	})
}

// TestTheProxyFollowsNoRedirect publishes an app that redirects to addresses that visitors cannot
// reach.
func TestTheProxyFollowsNoRedirect(t *testing.T) {
	f := newForwarding(t)
	var to string
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	t.Cleanup(app.Close)
	v := f.publish(app.URL, false)
	d := f.doors(v, f.openAddresses("file"), "file")[0]
	gateway := d.address
	for location, want := range map[string]string{
		"http://169.254.169.254/latest/meta-data/": "http://169.254.169.254/latest/meta-data/",
		"http://" + gateway + "/health":            "http://" + gateway + "/health",
		"//" + gateway + "/health":                 "//" + gateway + "/health",
		app.URL + "/page?a=1":                      "/page?a=1",
	} {
		to = location
		if status, text, h := d.send(t, "GET / HTTP/1.1", "Host: "+d.host); status != http.StatusTemporaryRedirect || h.Get("Location") != want || text != "" {
			t.Errorf("a redirect to %s: got %d to %q with %q, want it passed on as %q", location, status, h.Get("Location"), text, want)
		}
	}
}

// TestHeadersAreLimitedAtEachAddress sends headers below and above the limit of 64 KiB.
func TestHeadersAreLimitedAtEachAddress(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the app") }))
	t.Cleanup(app.Close)
	v := f.publish(app.URL, false)
	for _, d := range f.doors(v, f.openAddresses("file"), "file") {
		for size, want := range map[int]int{60 << 10: http.StatusOK, 80 << 10: http.StatusRequestHeaderFieldsTooLarge} {
			if status, text, _ := d.send(t, "GET / HTTP/1.1", "Host: "+d.host, "X-Long: "+strings.Repeat("x", size)); status != want {
				t.Errorf("%d bytes at %s: got %d %.80q, want %d", size, d.host, status, text, want)
			}
		}
	}
}
