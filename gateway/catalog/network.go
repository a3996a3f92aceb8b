package catalog

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

type directoryIn struct {
	NetworkName  string `json:"network_name,omitempty" jsonschema:"only this one"`
	Online       *bool  `json:"online,omitempty" jsonschema:"true: only these; false: only others"`
	NodeNameGlob string `json:"node_name_glob,omitempty" jsonschema:"such as web-*"`
	HostnameGlob string `json:"hostname_glob,omitempty" jsonschema:"such as db*"`
	PlatformGlob string `json:"platform_glob,omitempty" jsonschema:"such as debian"`
	Brief        bool   `json:"brief,omitempty" jsonschema:"without services"`
}

type directoryOut struct {
	Networks []networkOut `json:"networks"`
}

type networkOut struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	FilesURL string    `json:"files_url"`
	Nodes    []nodeOut `json:"nodes"`
}

type nodeOut struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Online   bool            `json:"online"`
	Info     *infoOut        `json:"info,omitempty" jsonschema:"absent for a machine that was never connected"`
	TaskID   protocol.TaskID `json:"task_id,omitempty" jsonschema:"of a rented machine, for deprovision_node"`
	Services *[]serviceOut   `json:"services,omitempty" jsonschema:"published apps; absent with brief"`
}

type infoOut struct {
	Hostname        string `json:"hostname"`
	AgentVersion    string `json:"agent_version"`
	VersionStatus   string `json:"version_status" jsonschema:"current, behind, ahead, or empty if the versions cannot be compared"`
	ChannelVersion  string `json:"channel_version" jsonschema:"the version of the gateway"`
	Platform        string `json:"platform"`
	PlatformVersion string `json:"platform_version"`
	KernelArch      string `json:"kernel_arch"`
	Virtualization  string `json:"virtualization,omitempty"`
	Workspace       string `json:"workspace,omitempty" jsonschema:"folder in which reading needs no question"`
}

type serviceOut struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	URL       string `json:"url"`
	PublicURL string `json:"public_url"`
	Command   string `json:"command"`
}

type whoamiOut struct {
	UserID string `json:"user_id" jsonschema:"the same for all tokens of the user"`
	Email  string `json:"email"`
}

type targetIn struct {
	Target *Target `json:"target" jsonschema:"the machine"`
}

type none struct{}

// entries returns the tools about machines and their networks.
func (w machines) entries(o Options, published services) []*entry {
	read := func(name, title, description string, scopes ...protocol.Scope) protocol.CatalogTool {
		return protocol.CatalogTool{Name: name, Title: title, Description: description, Mode: OneShot, ReadOnly: true, Idempotent: true, Scopes: scopes}
	}
	net := protocol.ScopeNetRead
	return []*entry{
		newEntry(read("network_directory", "List machines", "Lists your machines with system, workspace and whether they are online. Call it first.", protocol.ScopeNetworkRead), nil, published.directory),
		newEntry(read("whoami", "Who am I", "Returns the user of the token."), nil, func(context.Context, *call, none) (whoamiOut, string, error) {
			out := whoamiOut{UserID: o.OwnerID, Email: cmp.Or(o.Config().Owner.Email, "owner@localhost")}
			return out, "You act for " + out.Email, nil
		}),
		newEntry(read("net_peers", "List peers", "Lists the machines in a machine's network.", net), nil, w.peers),
		forward[interfacesOut](w, read("net_interfaces", "List network interfaces", "Lists the network interfaces of a machine.", net)),
		forward[metricsOut](w, read("net_metrics", "Show process metrics", "Returns uptime and memory of the Fairlead process on a machine.", net)),
		forward[routesOut](w, read("net_routes", "List routes", "Lists the routing table of a machine.", net)),
		forward[dnsOut](w, read("net_dns", "List name servers", "Returns the DNS configuration of a machine.", net)),
	}
}

// forward returns a tool that calls the machine's tool of the same name.
func forward[Out any](w machines, t protocol.CatalogTool) *entry {
	return newEntry(t, nil, func(ctx context.Context, x *call, in targetIn) (out Out, message string, err error) {
		node, err := w.resolve(x.principal, in.Target)
		if err == nil {
			err = x.run(ctx, node, t.Name, none{}, &out)
		}
		return out, summary(t.Name, out), err
	})
}

func (s services) directory(_ context.Context, x *call, in directoryIn) (out directoryOut, message string, err error) {
	for _, glob := range []string{in.NodeNameGlob, in.HostnameGlob, in.PlatformGlob} {
		if _, err := path.Match(glob, ""); err != nil {
			return out, "", protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("the pattern %q is not valid", glob))
		}
	}
	list := s.net.registry.NetworksOf(x.principal)
	if in.NetworkName != "" {
		n, err := s.net.network(x.principal, in.NetworkName)
		if err != nil {
			return directoryOut{[]networkOut{}}, "No network has this name", nil
		}
		list = []protocol.Network{n}
	}
	out.Networks = make([]networkOut, len(list))
	found, online := 0, 0
	nodes := s.net.registry.MachinesOf(x.principal)
	for i, w := range list {
		out.Networks[i] = networkOut{ID: string(w.ID), Name: w.Name, Nodes: []nodeOut{}}
		for _, n := range nodes {
			node := describe(n, s.net.version)
			if n.Network != w.ID || !in.includes(node) {
				continue
			}
			if s.taskOf != nil {
				node.TaskID = s.taskOf(n.ID)
			}
			if !in.Brief {
				node.Services = s.of(n.ID)
			}
			if found++; n.Online {
				online++
			}
			out.Networks[i].Nodes = append(out.Networks[i].Nodes, node)
		}
	}
	return out, fmt.Sprintf("%s, %d online", format.Plural(found, "machine"), online), nil
}

// includes reports whether the filters let a machine through.
func (in directoryIn) includes(node nodeOut) bool {
	var info infoOut
	if node.Info != nil {
		info = *node.Info
	}
	return (in.Online == nil || *in.Online == node.Online) && matches(in.NodeNameGlob, node.Name) && matches(in.HostnameGlob, info.Hostname) &&
		matches(in.PlatformGlob, info.Platform)
}

func matches(glob, text string) bool {
	ok, _ := path.Match(glob, text)
	return glob == "" || ok
}

// describe describes a machine to programs; version is that of the gateway.
func describe(n protocol.NodeInfo, version string) nodeOut {
	node := nodeOut{ID: string(n.ID), Name: n.DisplayName(), Online: n.Online}
	if n.ConnectedAt == 0 && n.LastSeenAt == 0 && n.Host == nil {
		return node
	}
	platform, _, _ := strings.Cut(n.Platform, "-") // an older node sends linux-x64 and nothing else
	node.Info = &infoOut{AgentVersion: n.Version, VersionStatus: compareVersions(n.Version, version), ChannelVersion: version, Platform: platform}
	if h := n.Host; h != nil {
		node.Info.Hostname, node.Info.Workspace = h.Hostname, h.Workspace
		if x := h.System; x != nil {
			node.Info.Platform, node.Info.PlatformVersion, node.Info.KernelArch, node.Info.Virtualization = x.Platform, x.PlatformVersion, x.KernelArch, x.Virtualization
		}
	}
	return node
}

// compareVersions compares the version of a machine with that of the gateway.
func compareVersions(node, gateway string) string {
	var a, b [3]int
	for text, to := range map[string]*[3]int{node: &a, gateway: &b} {
		text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "-")
		if n, err := fmt.Sscanf(text, "%d.%d.%d", &to[0], &to[1], &to[2]); n < 2 && err != nil {
			return ""
		}
	}
	if node == gateway {
		return "current"
	}
	for i := range a {
		switch {
		case a[i] < b[i]:
			return "behind"
		case a[i] > b[i]:
			return "ahead"
		}
	}
	return "current"
}

type peerOut struct {
	Name       string `json:"name"`
	InternalIP string `json:"internal_ip" jsonschema:"address of the machine, if it is known"`
	DstIP      string `json:"dst_ip" jsonschema:"the same address: Fairlead translates none"`
	RemoteID   string `json:"remote_id"`
	Local      bool   `json:"local" jsonschema:"it is the target itself"`
}

type peersOut struct {
	Peers      []peerOut `json:"peers"`
	Count      int       `json:"count"`
	DurationMs int64     `json:"duration_ms"`
}

// peers lists the machines in the network of the target that the caller may use, as the gateway
// knows them.
func (w machines) peers(_ context.Context, x *call, in targetIn) (out peersOut, message string, err error) {
	began := time.Now()
	target, err := w.find(x.principal, in.Target)
	if err != nil {
		return out, "", err
	}
	out.Peers = []peerOut{}
	for _, n := range w.registry.MachinesOf(x.principal) {
		if n.Network != target.Network {
			continue
		}
		p := peerOut{Name: n.DisplayName(), RemoteID: string(n.ID), Local: n.ID == target.ID}
		if n.Host != nil {
			p.InternalIP = n.Host.Address
			if host, _, err := net.SplitHostPort(p.InternalIP); err == nil {
				p.InternalIP = host
			}
			p.DstIP = p.InternalIP
		}
		out.Peers = append(out.Peers, p)
	}
	out.Count, out.DurationMs = len(out.Peers), milliseconds(began)
	return out, fmt.Sprintf("Machines: %d", out.Count), nil
}

type interfacesOut struct {
	Interfaces []struct {
		Name         string   `json:"name"`
		Index        int      `json:"index"`
		MTU          int      `json:"mtu"`
		HardwareAddr string   `json:"hardware_addr"`
		Flags        []string `json:"flags"`
		Addrs        []string `json:"addrs" jsonschema:"with the length of the network's prefix"`
	} `json:"interfaces"`
	Count      int   `json:"count"`
	DurationMs int64 `json:"duration_ms"`
}

type metricsOut struct {
	UptimeSecs     int64   `json:"uptime_secs"`
	Goroutines     int     `json:"goroutines"`
	HeapAllocBytes uint64  `json:"heap_alloc_bytes"`
	HeapSysBytes   uint64  `json:"heap_sys_bytes"`
	NumGC          uint64  `json:"num_gc"`
	GCPauseTotalMs float64 `json:"gc_pause_total_ms" jsonschema:"estimated"`
	NumCPU         int     `json:"num_cpu"`
	GOMAXPROCS     int     `json:"gomaxprocs"`
	Version        string  `json:"version" jsonschema:"of Go"`
	OS             string  `json:"os"`
	Arch           string  `json:"arch"`
	DurationMs     int64   `json:"duration_ms"`
}

type routesOut struct {
	Routes []struct {
		Family      string `json:"family" jsonschema:"ip4 or ip6"`
		Destination string `json:"destination" jsonschema:"such as 10.0.0.0/24, or default"`
		Gateway     string `json:"gateway,omitempty"`
		Source      string `json:"source,omitempty"`
		Interface   string `json:"interface,omitempty"`
		Metric      int    `json:"metric"`
		Scope       string `json:"scope,omitempty"`
		Protocol    string `json:"protocol,omitempty"`
	} `json:"routes"`
	Count      int   `json:"count"`
	DurationMs int64 `json:"duration_ms"`
}

type dnsOut struct {
	Nameservers []string `json:"nameservers"`
	Search      []string `json:"search"`
	Options     []string `json:"options"`
	Source      string   `json:"source"`
	Stub        bool     `json:"stub" jsonschema:"a local program hides the real name servers"`
	Note        string   `json:"note,omitempty"`
	DurationMs  int64    `json:"duration_ms"`
}
