package fs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"fairlead/node/tooltest"
)

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A server or a name must not turn an allowed download into a request to this computer, to its
// network, or to the service with a cloud machine's keys.
func TestDownloadReachesPrivateAddressesOnlyIfNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, to string // the address that was allowed, and where it leads
		next, led string // where the server redirects, and where that leads
		ok        bool
	}{
		"public":                       {"http://files.example/", "8.8.8.8", "", "", true},
		"named":                        {"http://192.168.1.5/", "192.168.1.5", "", "", true},
		"named, this computer":         {"http://127.0.0.1:8080/", "127.0.0.1", "", "", true},
		"localhost":                    {"http://localhost/", "127.0.0.1", "", "", true},
		"this computer's name":         {"http://tower/", "127.0.1.1", "", "", true},
		"a name in the network":        {"http://mirror.lan/", "192.168.1.5", "", "", true},
		"a name that leads here":       {"http://rebound.example/", "127.0.0.1", "", "", false},
		"the same with a dot":          {"http://rebound.example./", "::1", "", "", false},
		"a name for keys of the cloud": {"http://rebound.example/", "169.254.169.254", "", "", false},
		"a name for no address":        {"http://rebound.example/", "0.0.0.0", "", "", false},
		"public to public":             {"http://files.example/", "8.8.8.8", "http://cdn.example/", "1.1.1.1", true},
		"public to here":               {"http://files.example/", "8.8.8.8", "http://127.0.0.1/", "127.0.0.1", false},
		"public to the network":        {"http://files.example/", "8.8.8.8", "http://router/", "192.168.1.1", false},
		"public to keys of the cloud":  {"http://files.example/", "8.8.8.8", "http://169.254.169.254/", "169.254.169.254", false},
		"public to IPv6 inside":        {"http://files.example/", "2001:4860::1", "http://[fd00::1]/", "fd00::1", false},
		"public, changed on the way":   {"http://files.example/", "8.8.8.8", "http://files.example/", "10.0.0.1", false},
		"inside to inside":             {"http://mirror.lan/", "192.168.1.5", "http://other.lan/", "192.168.1.6", true},
	} {
		d := &download{first: address(t, c.first)}
		err := d.check(d.first, netip.MustParseAddr(c.to))
		if err == nil && c.next != "" {
			err = d.check(address(t, c.next), netip.MustParseAddr(c.led))
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: got %v; want success %v", name, err, c.ok)
		}
	}
}

func TestRedirectsAreFollowedOnTheWebOnly(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/b": "https://files.example/b", "https://cdn.example/x": "https://cdn.example/x", "//cdn.example/x": "https://cdn.example/x", "https://ann:secret@cdn.example/x": "https://cdn.example/x",
		"http://files.example/a": "", "file:///etc/passwd": "", "gopher://x/": "", "https:opaque": "", "https:///etc": "",
	} {
		if next, err := follow(address(t, "https://files.example/a"), to); (err == nil) != (want != "") || err == nil && next.String() != want {
			t.Errorf("%s: got %v, error %v, want %q", to, next, err, want)
		}
	}
}

func TestHeadersStayWithTheirHost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("X-Key")+r.Header.Get("Authorization")+"!")
	}))
	t.Cleanup(thief.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief.URL, http.StatusFound) })
	mux.HandleFunc("/stay", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("X-Key")) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	for path, want := range map[string]string{"/away": "!", "/stay": "secret"} {
		at := in(b, strings.Trim(path, "/"))
		tooltest.Must[fetchOut](b, "fs_fetch", tooltest.Args{"path": at, "url": s.URL + path, "headers": map[string]string{"X-Key": "secret", "Authorization": "Bearer secret"}})
		if got := content(t, at); got != want {
			t.Errorf("%s: got %q at the last server, want %q", path, got, want)
		}
	}
}
