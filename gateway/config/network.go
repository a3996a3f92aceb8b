package config

// Network is how other machines reach this gateway. The loopback listener has nothing to do with it.
type Network struct {
	// Enabled opens the listener: TLS, for paired devices only.
	Enabled bool `json:"enabled"`
	// Listen is host:port; an empty host means every interface, port 0 a free one.
	Listen string `json:"listen"`
	// Discovery makes the gateway known on the local network by an opaque tag (mDNS), while the listener is open.
	Discovery bool `json:"discovery"`
}

// DefaultNetworkListen is every interface.
const DefaultNetworkListen = ":8788"
