package service

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTargetsAreUnderstoodAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"3000":                        "http://127.0.0.1:3000/",
		":3000":                       "http://127.0.0.1:3000/",
		"port 3000":                   "http://127.0.0.1:3000/",
		" Port:3000/admin ":           "http://127.0.0.1:3000/admin",
		"localhost:3000/admin":        "http://localhost:3000/admin",
		"localhost":                   "http://localhost/",
		"localhost//evil.example/":    "http://localhost/evil.example/",
		"http://127.0.0.1:8080":       "http://127.0.0.1:8080/",
		"HTTP://Nas.Local:80/x%20y/":  "http://nas.local/x%20y/",
		"https://10.0.0.7":            "https://10.0.0.7/",
		"10.0.0.7:443":                "https://10.0.0.7/",
		"https://10.0.0.7:8443/a?":    "",
		"0.0.0.0:5173":                "http://127.0.0.1:5173/",
		"http://[::]:5173":            "http://[::1]:5173/",
		"::1":                         "http://[::1]/",
		"[::1]:3000":                  "http://[::1]:3000/",
		"http://[::ffff:10.0.0.1]:81": "http://10.0.0.1:81/",
		"bücher.example:3000":         "http://xn--bcher-kva.example:3000/",
	} {
		got, err := ParseTarget(text, "")
		if want == "" {
			if err == nil {
				t.Errorf("%q: got %s, want an error", text, got)
			}
			continue
		}
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestWrongTargetsAreRefusedWithTheReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "empty",
		"   ":                          "empty",
		"0":                            "ports are numbers",
		"65536":                        "ports are numbers",
		"99999999999999999999":         "ports are numbers",
		"ftp://127.0.0.1":              "scheme ftp",
		"file:///etc/passwd":           "scheme file",
		"unix:///run/docker.sock":      "scheme unix",
		"http://ann:secret@127.0.0.1/": "name or password",
		"http://127.0.0.1/?next=/":     "? or #",
		"http://127.0.0.1/#top":        "? or #",
		"http://[fe80::1%25eth0]/":     "network interface",
		"http://a b/":                  "not an address",
		"http://a_b!/":                 "no host name",
		"http://127.0.0.1:80:80/":      "not an address",
		"::1:3000:":                    "not an address",
		"http://exa\u202emple.com/":    "no host name",
		"http://127.0.0.1\r\nHost: x/": "not an address",
		"http://" + strings.Repeat("a.", 200) + "b/": "no host name",
	} {
		got, err := ParseTarget(text, "")
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.FaultInvalidArgs || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %s, %v; want an error that says %q", text, got, err, want)
		}
	}
}

func TestTargetsInBase64AreDecoded(t *testing.T) {
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		got, err := ParseTarget(e.EncodeToString([]byte("http://localhost:3000/~ä")), EncodingBase64)
		if err != nil || got.String() != "http://localhost:3000/~%C3%A4" {
			t.Errorf("got %s, %v; want http://localhost:3000/~%%C3%%A4", got, err)
		}
	}
	for text, encoding := range map[string]string{"http://localhost:3000": EncodingBase64, "//79": EncodingBase64, "3000": "hex"} {
		if got, err := ParseTarget(text, encoding); err == nil {
			t.Errorf("%q in %s: got %s, want an error", text, encoding, got)
		}
	}
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"3000", ":3000", "localhost:3000/admin", "https://[::1]:8443/a", "port 80", "http://a@b/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, err := ParseTarget(text, "")
		if err != nil {
			return
		}
		again, err := ParseTarget(first.String(), "")
		if err != nil || again != first {
			t.Errorf("%q is %s, which is read as %s, %v; want the same", text, first, again, err)
		}
	})
}
