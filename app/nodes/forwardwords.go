package nodes

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
)

// forwardLine is what the page of a machine shows of a forward.
type forwardLine struct {
	ID    protocol.ForwardID // empty for one of this program that is not open
	Local string             // the local address
	Here  bool               // the local address is one of this computer
	Title string
	Text  string
	// Problem says why its last connection failed, or why it is not open; empty for neither.
	Problem string
	URL     string // the local address for a browser; empty if it does not look like HTTP
}

// forwardLines lists the forwards of a machine, and last those of this program that are not open.
func forwardLines(v feed.View, all []protocol.Forward, own []forwards.Forward, node protocol.NodeID, now time.Time) []forwardLine {
	var lines []forwardLine
	for _, f := range all {
		if f.Node != node {
			continue
		}
		mine, isOwn := lists.Find(own, func(o forwards.Forward) bool { return o.ID == f.ID })
		line := forwardLine{
			ID: f.ID, Local: f.Listen, Here: isOwn || !v.Status.Remote && (f.Address == "" || publicnet.IsLoopback(f.Address)),
			Title: forwardTitle(f.Listen, f.Target),
			Text: wording.Join(" · ", openedBy(v, f, isOwn), format.Plural(f.Connections, "connection now", "connections now"),
				format.Size(f.Sent)+" sent, "+format.Size(f.Received)+" received", lastUse(f.LastUsedAt, now)),
		}
		if mine.Saved {
			line.Text += " · opens again when Fairlead starts"
		}
		if mine.At >= f.LastUsedAt { // else a connection has worked since
			line.Problem = mine.Problem
		}
		if line.Here {
			line.URL = browserURL(f.Listen, f.Target)
		}
		lines = append(lines, line)
	}
	for _, o := range own {
		if o.Node == node && o.Saved && !slices.ContainsFunc(all, func(f protocol.Forward) bool { return f.ID == o.ID }) {
			lines = append(lines, forwardLine{Local: o.Local(), Here: true, Title: forwardTitle(o.Local(), o.Target), Text: "Not open. Fairlead tries again.", Problem: o.Problem})
		}
	}
	return lines
}

// forwardTitle names a forward: 127.0.0.1:8080 leads to port 80.
func forwardTitle(local, target string) string {
	return local + " leads to " + forwardTarget(target)
}

func forwardTarget(target string) string {
	if host, port, err := net.SplitHostPort(target); err == nil && host == protocol.OwnHost {
		return "port " + port
	}
	return target
}

func openedBy(v feed.View, f protocol.Forward, isOwn bool) string {
	at := ""
	if f.Address != "" && !publicnet.IsLoopback(f.Address) {
		at = " at " + f.Address
	}
	if a, ok := v.Apps.App(f.App); ok && f.App != "" {
		name, _ := wording.Reveal(a.Name)
		return "Opened by " + name + at
	}
	if d, ok := v.Pairing.Device(f.Device); ok && f.Device != "" && !isOwn {
		return "Opened by " + d.Name + at
	}
	if isOwn {
		return "Opened here"
	}
	by, _ := wording.Reveal(wording.By(f.By))
	return "Opened" + by + at
}

func lastUse(at int64, now time.Time) string {
	if at == 0 {
		return "never used"
	}
	return "last used " + format.When(at, now)
}

// browserURL returns the address for a browser of a local port, if the target is a usual port of
// HTTP.
func browserURL(local, target string) string {
	_, text, err := net.SplitHostPort(target)
	port, portErr := strconv.Atoi(text)
	switch {
	case err != nil || portErr != nil:
	case port == 443 || port == 8443:
		return "https://" + local + "/"
	case port == 80, port >= 3000 && port < 3100, port >= 8000 && port < 9100, port == 5000, port == 5173, port == 4200:
		return "http://" + local + "/"
	}
	return ""
}

// parseForwardTarget reads what a forward leads to: a port of the machine, or host:port.
func parseForwardTarget(text string) (target string, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fmt.Errorf("enter a port of the machine, such as 8080")
	}
	target = text
	if port := strings.TrimPrefix(text, ":"); !strings.Contains(port, ":") {
		target = net.JoinHostPort(protocol.OwnHost, port)
	}
	if _, _, err := protocol.SplitTarget(target); err != nil {
		return "", fmt.Errorf("“%s” is not a port. Enter a number from 1 to 65535, or HOST:PORT such as db.lan:5432", format.Clip(text, 60))
	}
	return target, nil
}

// targetText says in full where a forward leads.
func targetText(target, machine string) string {
	host, port, _ := net.SplitHostPort(target) // parseForwardTarget returned it
	address, err := netip.ParseAddr(host)
	if host == protocol.OwnHost || err == nil && address.IsLoopback() {
		return "Leads to port " + port + " of " + machine + "."
	}
	return "Leads to port " + port + " of " + host + ", as " + machine + " reaches it. Fairlead asks once at " + machine + " whether that is allowed."
}

// defaultLocal returns the local port that a target gets unless the person chooses one. Systems
// reserve those below 1024.
func defaultLocal(target string) string {
	_, port, _ := protocol.SplitTarget(target) // parseForwardTarget returned it
	if port < 1024 {
		port += 8000
	}
	return strconv.Itoa(int(port))
}

// parseLocalPort reads the port of this computer.
func parseLocalPort(text string) (uint16, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("the port on this computer must be a number from 1 to 65535")
	}
	return uint16(n), nil
}
