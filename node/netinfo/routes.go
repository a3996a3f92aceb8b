package netinfo

import "net/netip"

// Families of routes.
const (
	ip4 = "ip4"
	ip6 = "ip6"
)

// Route is a line of the routing table. Fields that a system does not have are empty.
type Route struct {
	Family      string `json:"family"`      // ip4 or ip6
	Destination string `json:"destination"` // such as 10.0.0.0/24, or default
	Gateway     string `json:"gateway,omitempty"`
	Source      string `json:"source,omitempty"`
	Interface   string `json:"interface,omitempty"`
	Metric      int    `json:"metric"`
	Scope       string `json:"scope,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
}

// Routes is the result of net_routes.
type Routes struct {
	Routes []Route `json:"routes"`
	Count  int     `json:"count"`
	Duration
}

// destination formats a prefix.
func destination(p netip.Prefix) string {
	if p.Bits() == 0 {
		return "default"
	}
	return p.Masked().String()
}

// gateway formats the address of a router; none is empty.
func gateway(a netip.Addr) string {
	if !a.IsValid() || a.IsUnspecified() {
		return ""
	}
	return a.String()
}
