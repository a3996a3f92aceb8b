package netinfo

import (
	"bufio"
	"io"
	"net/netip"
	"strings"
)

// DNS is the result of net_dns.
type DNS struct {
	Nameservers []string `json:"nameservers"`
	Search      []string `json:"search"`
	Options     []string `json:"options"`
	Source      string   `json:"source"` // where this is configured, such as /etc/resolv.conf
	Stub        bool     `json:"stub"`   // a program on the machine forwards the questions
	Note        string   `json:"note,omitempty"`
	Duration
}

const stubNote = "A program on this machine answers the questions and forwards them. Its own name servers are not in this list."

// parseResolvConf reads a resolv.conf (resolv.conf(5)).
func parseResolvConf(r io.Reader) DNS {
	out := DNS{Nameservers: []string{}, Search: []string{}, Options: []string{}}
	for s := bufio.NewScanner(r); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		line, _, _ = strings.Cut(line, ";")
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "nameserver":
			out.Nameservers = append(out.Nameservers, f[1])
		case "domain", "search": // the last one counts
			out.Search = f[1:]
		case "options":
			out.Options = append(out.Options, f[1:]...)
		}
	}
	out.findStub()
	return out
}

// findStub reports in Stub and Note that a name server is on the machine itself.
func (d *DNS) findStub() {
	for _, server := range d.Nameservers {
		if a, err := netip.ParseAddr(server); err == nil && a.IsLoopback() {
			d.Stub, d.Note = true, stubNote
		}
	}
}
