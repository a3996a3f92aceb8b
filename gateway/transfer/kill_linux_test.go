package transfer_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
)

// TestNoKillCorruptsAFile kills gateway and nodes by signal 9 in the middle of transfers, and
// cuts their wires: every transfer must end with equal files, and a sent name must never hold other
// content. While one of the processes is dead, its unfinished files are changed. FAIRLEAD_ROUNDS is
// the number of transfers. FAIRLEAD_KILLS=often gives a busy machine no more time than an idle one.
// FAIRLEAD_NETNS names the network namespaces of gateway and nodes, as "GATEWAY,A,B,ADDRESS,HERE",
// where the last one is this process's own address: see packaging/transfer-test.sh.
func TestNoKillCorruptsAFile(t *testing.T) {
	rounds := 4
	if n, err := strconv.Atoi(os.Getenv("FAIRLEAD_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		t.Skip("starts and kills processes")
	}
	addr, here := porttest.Free(t), "127.0.0.1"
	spaces := []string{"", "", ""}
	if s := strings.Split(os.Getenv("FAIRLEAD_NETNS"), ","); len(s) == 5 {
		spaces, addr, here = s[:3], s[3], s[4]
	}
	rng := rand.New(rand.NewPCG(uint64(rounds), 7))
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	wires := []*badNetworkProxy{nil, newBadNetworkProxy(t, here, addr, 1), newBadNetworkProxy(t, here, addr, 2)}
	var all []*process
	for i, role := range []string{"gateway", "node", "node"} {
		p := &process{ns: spaces[i], env: []string{childRole + "=" + role, childDir + "=" + dirs[i], childAddr + "=" + addr, childID + "=" + []string{"", "a", "b"}[i]}}
		if wires[i] != nil {
			p.env = append(p.env, childVia+"="+wires[i].l.Addr().String())
		}
		p.start(t)
		t.Cleanup(func() { p.kill() })
		all = append(all, p)
	}
	s := &stressRun{
		t: t, c: clientOf(t, addr), want: make(map[string][]string), ends: make(map[string]int),
		dirs: map[protocol.NodeID]string{protocol.NativePrefix: filepath.Join(dirs[0], "agents", "main"), "a": dirs[1], "b": dirs[2]},
	}
	s.createTrees()

	began := time.Now()
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			for n := s.round.Add(1); n <= int64(rounds) && !t.Failed(); n = s.round.Add(1) {
				s.runTransfer(n, rand.New(rand.NewPCG(uint64(n), 11)))
				if n%20 == 0 {
					t.Logf("transfer %d after %s", n, time.Since(began).Round(time.Second))
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { wg.Wait(); close(over) }()
	var kills [3]int
	spoiled := 0
	slow := time.Duration(0) // duration of the last start: a busy machine needs more time for everything
	often := os.Getenv("FAIRLEAD_KILLS") == "often"
	for running := true; running; {
		select {
		case <-over:
			running = false
			continue
		case <-time.After(5*slow + time.Second + time.Duration(rng.IntN(4000))*time.Millisecond):
		}
		i := rng.IntN(3)
		kills[i]++
		all[i].kill()
		spoiled += s.corruptUnfinished([]protocol.NodeID{protocol.NativePrefix, "a", "b"}[i], rng)
		time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
		again := time.Now()
		all[i].start(t)
		if !often {
			slow = time.Since(again)
		}
	}
	s.waitIdle()
	t.Logf("%d transfers in %s: %d MiB in %d attempts; killed: gateway %d, a %d, b %d; unfinished files changed: %d; connections cut: a %d, b %d; the longest took %s; ends: %v",
		rounds, time.Since(began).Round(time.Second), s.bytes>>20, s.attempts, kills[0], kills[1], kills[2], spoiled, wires[1].cuts.Load(), wires[2].cuts.Load(),
		s.longest.Round(time.Millisecond), s.ends)
}
