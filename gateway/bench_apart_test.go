//go:build unix

package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// In the benchmarks below, the ends of the connections are in another process, so that only the
// gateway is measured.
const (
	childEnds  = "FAIRLEAD_TEST_ENDS"  // the gateway's address
	childCalls = "FAIRLEAD_TEST_CALLS" // how many calls it makes
	childNodes = "FAIRLEAD_TEST_NODES" // or the number of nodes
)

// runEnds is the main function of that process. It reports when it is connected, begins with the
// next line of its input, and reports the result.
func runEnds(url string) {
	in := bufio.NewScanner(os.Stdin)
	number := func(name string) int {
		n, _ := strconv.Atoi(os.Getenv(name))
		return n
	}
	if n := number(childNodes); n > 0 {
		ctx, cancel := context.WithCancel(context.Background())
		var wg, up sync.WaitGroup
		for i := range n {
			up.Add(1)
			c := client.New(client.Options{
				URL: url, Token: "fl_bench", OnUp: func(context.Context, protocol.ConnectResult) { up.Done() },
				Connect: func() protocol.ConnectParams { return benchNode(fmt.Sprint("mass-", i), protocol.EffectRead) },
			})
			wg.Go(func() { c.Run(ctx) })
		}
		up.Wait()
		fmt.Println("connected")
		in.Scan()
		cancel()
		wg.Wait()
		return
	}
	c, stop := connectNodeAndClient(url, protocol.EffectRead)
	defer stop()
	ctx := context.Background()
	call := func() {
		if err := echo(ctx, c); err != nil {
			panic(err)
		}
	}
	for range 100 {
		call()
	}
	fmt.Println("connected")
	in.Scan()
	began := time.Now()
	took := paced(number(childCalls), call)
	all := time.Since(began)
	raw, err := json.Marshal(loadReport{Took: took, All: all})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(raw))
	in.Scan()
}

type loadReport struct {
	Took []time.Duration
	All  time.Duration
}

// startLoadProcess starts the process and waits until it is connected.
func startLoadProcess(b *testing.B, env ...string) (tell func(), hear func() []byte) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	hear = func() []byte {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			b.Fatal("the other process ended: ", err)
		}
		return line
	}
	hear()
	return func() { fmt.Fprintln(in) }, hear
}

// BenchmarkGatewayAlone makes 5,000 calls a second of a read-only tool, and measures the gateway's
// own cost of each. The ends share the processors with it, so the durations are those of all three.
func BenchmarkGatewayAlone(b *testing.B) {
	url := benchGateway(b)
	tell, hear := startLoadProcess(b, childEnds+"="+url, fmt.Sprint(childCalls, "=", b.N))
	spent := spending()
	b.ResetTimer()
	tell()
	line := hear()
	b.StopTimer()
	spent(b, b.N)
	var got loadReport
	if err := json.Unmarshal(line, &got); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/got.All.Seconds(), "calls/s")
	report(b, got.Took)
}

// BenchmarkNodeAlone measures the memory of a connected node at the gateway (goal: at most 100 KB):
// heap and stacks.
func BenchmarkNodeAlone(b *testing.B) {
	const nodes = 1000
	url := benchGateway(b)
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := used()
	startLoadProcess(b, childEnds+"="+url, fmt.Sprint(childNodes, "=", nodes))
	for b.Loop() {
		b.ReportMetric(float64(used()-before)/nodes/1024, "KiB/node")
	}
}
