// Package netinfo is the tools with which programs look at a machine's network: its interfaces,
// routes and name servers, and the state of the node's own process. They change nothing.
package netinfo

import (
	"context"
	"net"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
)

// Tools makes the tools. started is when the node started.
func Tools(started time.Time) []toolkit.Tool[access.Call] {
	t := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapList}}
	return []toolkit.Tool[access.Call]{
		toolkit.Define("net_interfaces", "Lists the machine's network interfaces. For programs.", t, timed(interfaces)),
		toolkit.Define("net_metrics", "Describes the node's process. For programs.", t, timed(func() (Metrics, error) { return readMetrics(started), nil })),
		toolkit.Define("net_routes", "Lists the machine's routes. For programs.", t, timed(func() (Routes, error) {
			list, err := routes()
			return Routes{Routes: list, Count: len(list)}, err
		})),
		toolkit.Define("net_dns", "Lists the machine's name servers. For programs.", t, timed(dns)),
	}
}

// timer is a result that says how long the call took.
type timer interface{ took(ms int64) }

// Duration is how long the call took.
type Duration struct {
	Ms int64 `json:"duration_ms"`
}

func (d *Duration) took(ms int64) { d.Ms = ms }

// none are the arguments of a tool without arguments.
type none struct{}

func timed[R any, P interface {
	*R
	timer
}](f func() (R, error),
) func(context.Context, access.Call, none) (R, error) {
	return func(context.Context, access.Call, none) (R, error) {
		began := time.Now()
		r, err := f()
		P(&r).took(time.Since(began).Milliseconds())
		return r, err
	}
}

// Interface is a network interface.
type Interface struct {
	Name         string   `json:"name"`
	Index        int      `json:"index"`
	MTU          int      `json:"mtu"`
	HardwareAddr string   `json:"hardware_addr"`
	Flags        []string `json:"flags"`
	Addrs        []string `json:"addrs"` // with the length of the network's prefix: 10.0.0.2/24
}

// Interfaces is the result of net_interfaces.
type Interfaces struct {
	Interfaces []Interface `json:"interfaces"`
	Count      int         `json:"count"`
	Duration
}

func interfaces() (out Interfaces, err error) {
	list, err := net.Interfaces()
	if err != nil {
		return out, err
	}
	out.Interfaces = []Interface{}
	for _, i := range list {
		x := Interface{Name: i.Name, Index: i.Index, MTU: i.MTU, HardwareAddr: i.HardwareAddr.String(), Flags: strings.Split(i.Flags.String(), "|"), Addrs: []string{}}
		if i.Flags == 0 {
			x.Flags = []string{}
		}
		addrs, _ := i.Addrs() // an interface that has just gone has none
		for _, a := range addrs {
			x.Addrs = append(x.Addrs, a.String())
		}
		out.Interfaces = append(out.Interfaces, x)
	}
	out.Count = len(out.Interfaces)
	return out, nil
}

// Metrics is the result of net_metrics.
type Metrics struct {
	UptimeSecs     int64   `json:"uptime_secs"`
	Goroutines     int     `json:"goroutines"`
	HeapAllocBytes uint64  `json:"heap_alloc_bytes"`
	HeapSysBytes   uint64  `json:"heap_sys_bytes"`
	NumGC          uint64  `json:"num_gc"`
	GCPauseTotalMs float64 `json:"gc_pause_total_ms"`
	NumCPU         int     `json:"num_cpu"`
	GOMAXPROCS     int     `json:"gomaxprocs"`
	Version        string  `json:"version"`
	OS             string  `json:"os"`
	Arch           string  `json:"arch"`
	Duration
}

// readMetrics reads the state of the process without stopping it. The total of the pauses is
// estimated from a histogram.
func readMetrics(started time.Time) Metrics {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	m := Metrics{
		UptimeSecs: int64(time.Since(started).Seconds()), Goroutines: runtime.NumGoroutine(), NumCPU: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Version: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, HeapAllocBytes: samples[0].Value.Uint64(), NumGC: samples[4].Value.Uint64(),
	}
	for _, s := range samples[:4] {
		m.HeapSysBytes += s.Value.Uint64()
	}
	m.GCPauseTotalMs = 1000 * total(samples[5].Value.Float64Histogram())
	return m
}

// total estimates the sum of the values of a histogram by the lower ends of its buckets.
func total(h *metrics.Float64Histogram) (sum float64) {
	for i, n := range h.Counts {
		if low := h.Buckets[i]; low > 0 {
			sum += float64(n) * low
		}
	}
	return sum
}
