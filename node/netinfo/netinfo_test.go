package netinfo

import (
	"net"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/access"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func newBench(t *testing.T) *tooltest.Bench {
	return tooltest.New(t, func(*workspace.Root) []toolkit.Tool[access.Call] { return Tools(time.Now().Add(-time.Hour)) })
}

func TestInterfacesAreThoseOfTheMachine(t *testing.T) {
	out := tooltest.Must[Interfaces](newBench(t), "net_interfaces", tooltest.Args{})
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if out.Count != len(list) || len(out.Interfaces) != len(list) {
		t.Fatalf("got %d interfaces, want %d", out.Count, len(list))
	}
	for i, x := range list {
		if got := out.Interfaces[i]; got.Name != x.Name || got.HardwareAddr != x.HardwareAddr.String() || got.MTU != x.MTU || got.Index != x.Index {
			t.Errorf("got %+v, want %+v", got, x)
		}
	}
	i := slices.IndexFunc(out.Interfaces, func(i Interface) bool { return slices.Contains(i.Flags, "loopback") })
	if i < 0 {
		t.Fatalf("got %+v, want a loopback interface among them", out.Interfaces)
	}
	lo := out.Interfaces[i]
	if lo.MTU == 0 || lo.Index == 0 || lo.Name == "" || !slices.Contains(lo.Addrs, "127.0.0.1/8") {
		t.Errorf("got %+v, want the loopback interface", lo)
	}
}

func TestMetricsDescribeThisProcess(t *testing.T) {
	runtime.GC()
	out := tooltest.Must[Metrics](newBench(t), "net_metrics", tooltest.Args{})
	if out.UptimeSecs < 3600 || out.Goroutines < 1 || out.HeapAllocBytes == 0 || out.HeapSysBytes < out.HeapAllocBytes || out.NumGC == 0 || out.GCPauseTotalMs <= 0 || out.NumCPU != runtime.NumCPU() ||
		out.GOMAXPROCS != runtime.GOMAXPROCS(0) || out.Version != runtime.Version() || out.OS != runtime.GOOS || out.Arch != runtime.GOARCH {
		t.Errorf("got %+v, want the values of this process", out)
	}
	h := &metrics.Float64Histogram{Buckets: []float64{0, 1, 2, 4}, Counts: []uint64{5, 2, 1}}
	if got := total(h); got != 4 {
		t.Errorf("total: got %v, want 4", got)
	}
}

func TestCallsSayHowLongTheyTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := timed(func() (Routes, error) {
			time.Sleep(7 * time.Millisecond)
			return Routes{}, nil
		})
		if out, err := slow(t.Context(), access.Call{}, none{}); err != nil || out.Ms != 7 {
			t.Errorf("got %+v, error %v, want 7 ms", out, err)
		}
	})
}

func TestRoutesOfThisMachineAreRead(t *testing.T) {
	out := tooltest.Must[Routes](newBench(t), "net_routes", tooltest.Args{})
	if out.Routes == nil || out.Count != len(out.Routes) {
		t.Errorf("got %+v, want a list with its length", out)
	}
}

func TestNameServersOfThisMachineAreRead(t *testing.T) {
	want := "/etc/resolv.conf"
	if runtime.GOOS == "windows" {
		want = "network interfaces"
	} else if _, err := os.Stat(want); err != nil {
		t.Skip(err)
	}
	if out := tooltest.Must[DNS](newBench(t), "net_dns", tooltest.Args{}); out.Source != want || out.Nameservers == nil || out.Search == nil || out.Options == nil {
		t.Errorf("got %+v, want source %s and lists", out, want)
	}
}

func TestNameServersAreParsed(t *testing.T) {
	out := parseResolvConf(strings.NewReader("# comment\nnameserver 192.0.2.53 ; main\nnameserver ::1\nsearch a.example\nsearch b.example c.example\noptions ndots:2 rotate\noptions edns0\nnameserver\n"))
	if !slices.Equal(out.Nameservers, []string{"192.0.2.53", "::1"}) || !slices.Equal(out.Search, []string{"b.example", "c.example"}) || !slices.Equal(out.Options, []string{"ndots:2", "rotate", "edns0"}) || !out.Stub || out.Note == "" {
		t.Errorf("got %+v, want the last search list, the options and a note about the stub", out)
	}
	if old := parseResolvConf(strings.NewReader("domain a.example\n")); !slices.Equal(old.Search, []string{"a.example"}) {
		t.Errorf("got %+v, want the domain as search list", old)
	}
	if plain := parseResolvConf(strings.NewReader("nameserver 192.0.2.53\n")); plain.Stub || plain.Note != "" || plain.Search == nil {
		t.Errorf("got %+v, want no stub", plain)
	}
}

func FuzzResolvConf(f *testing.F) {
	f.Add("nameserver 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		parseResolvConf(strings.NewReader(text))
	})
}
