package config

// Network configures how other machines reach this gateway. It does not affect the loopback
// listener.
type Network struct {
	// Enabled opens the listener: TLS, for paired devices only.
	Enabled bool `json:"enabled"`
	// Listen is host:port; an empty host means every interface, port 0 a free one.
	Listen string `json:"listen"`
	// Discovery announces the gateway on the local network (mDNS) by an opaque tag, while the
	// listener is open.
	Discovery bool `json:"discovery"`
}

// DefaultNetworkListen listens on every interface.
const DefaultNetworkListen = ":8788"
