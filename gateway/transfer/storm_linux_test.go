package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// parallel is the number of transfers that run at once.
const parallel = 4

// stressRun is a gateway and two nodes, each a process that is killed repeatedly, on wires that are
// cut.
type stressRun struct {
	t     *testing.T
	c     *client.Client
	dirs  map[protocol.NodeID]string
	trees []string // in "src" of each end
	want  map[string][]string
	round atomic.Int64

	mu       sync.Mutex // guards the fields below
	attempts int
	bytes    int64
	longest  time.Duration
	ends     map[string]int
}

// createTrees creates the same trees at each end: one small file, many small ones, some of medium
// size with small ones between them, one large one.
func (s *stressRun) createTrees() {
	s.trees = []string{"tiny", "many", "mixed", "large"}
	r := &testGateway{t: s.t, nodes: make(map[protocol.NodeID]*machine)}
	for id, dir := range s.dirs {
		r.nodes[id] = &machine{dir: dir}
		r.createFile(id, "src/tiny/empty", 0)
		r.createFile(id, "src/tiny/one", 1)
		for i := range 150 {
			r.createFile(id, fmt.Sprintf("src/many/%d/%d", i%7, i), int64(i*97))
		}
		for i := range 8 {
			r.createFile(id, fmt.Sprintf("src/mixed/%d.bin", i), int64(i)<<20+int64(i))
			r.createFile(id, fmt.Sprintf("src/mixed/%d/small", i), int64(i)*7000)
		}
		r.createFile(id, "src/large/large.bin", 70<<20+5) // more than a block, so that a transfer can resume
	}
	for _, tree := range s.trees {
		s.want[tree] = describeTree(s.t, filepath.Join(s.dirs["a"], "src", tree))
	}
}

// ask makes a call with a time limit.
func ask[P, R any](s *stressRun, m protocol.Method[P, R], p P) (R, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer cancel()
	return client.Call(ctx, s.c, m, p)
}

// A transfer may stand still for stuck, and last for tooLong in total: on a busy machine the wires
// of the test are slow, and a part that was changed is sent again.
const (
	stuck   = 5 * time.Minute
	tooLong = 30 * time.Minute
)

// runTransfer runs one transfer until it ends or is cancelled.
func (s *stressRun) runTransfer(n int64, rng *rand.Rand) {
	ways := [][2]protocol.NodeID{{"a", "b"}, {"b", "a"}, {"a", "b"}, {"a", "gsv"}, {"gsv", "b"}}
	way, tree := ways[n%int64(len(ways))], s.trees[rng.IntN(len(s.trees))]
	began, limit := time.Now(), time.Now().Add(stuck)
	var tr protocol.Transfer
	var dest string
	for try := 0; tr.ID == ""; try++ {
		// A start whose response was lost may have started a transfer anyway, so the next one uses
		// another destination.
		dest = fmt.Sprintf("in/%s/%d.%d", tree, n, try)
		var err error
		tr, err = ask(s, protocol.TransferStart, protocol.TransferStartParams{
			Sources: []string{string(way[0]) + ":src/" + tree}, Destination: string(way[1]) + ":" + dest, Later: true,
		})
		if err != nil && time.Now().After(limit) {
			s.t.Errorf("transfer %d does not start: %v", n, err)
			return
		}
		if err != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
	pause, cancel := rng.IntN(10) == 0, rng.IntN(15) == 0
	was := tr
	for polls := 0; ; polls++ {
		time.Sleep(time.Duration(20+rng.IntN(150)) * time.Millisecond)
		if polls%8 == 7 && !s.isIntact(way[1], dest, tree) {
			return
		}
		now, err := ask(s, protocol.TransferGet, protocol.TransferParams{ID: tr.ID})
		if err == nil {
			if now.BytesDone > was.BytesDone && time.Since(began) < tooLong {
				limit = time.Now().Add(stuck)
			}
			was = now
		}
		if time.Now().After(limit) {
			s.t.Errorf("transfer %d: got %+v, error %v, want an end", n, now, err)
			return
		}
		switch {
		case err != nil:
		case now.State == protocol.TransferPaused:
			ask(s, protocol.TransferResume, protocol.TransferParams{ID: tr.ID})
		case now.State == protocol.TransferRunning && pause:
			_, err := ask(s, protocol.TransferPause, protocol.TransferParams{ID: tr.ID})
			pause = err != nil
		case now.State == protocol.TransferRunning && cancel:
			ask(s, protocol.TransferCancel, protocol.TransferParams{ID: tr.ID})
		case now.State == protocol.TransferFailed: // a clean failure: no wrong files, and it can be resumed
			if now.Error == "" {
				s.t.Errorf("transfer %d: got %+v, want a reason", n, now)
			}
			s.countEnd("failed: " + now.Error)
			s.isIntact(way[1], dest, tree)
			ask(s, protocol.TransferRetry, protocol.TransferParams{ID: tr.ID})
		case now.Over():
			s.checkEnded(way, dest, tree, now, time.Since(began))
			return
		}
	}
}

func (s *stressRun) countEnd(end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends[end]++
}

// checkEnded checks the files of a transfer that is done or cancelled.
func (s *stressRun) checkEnded(way [2]protocol.NodeID, dest, tree string, tr protocol.Transfer, took time.Duration) {
	s.countEnd(tr.State)
	s.mu.Lock()
	s.attempts += tr.Attempts
	s.bytes += tr.BytesDone
	s.longest = max(s.longest, took)
	s.mu.Unlock()
	if !s.isIntact(way[1], dest, tree) || tr.State != protocol.TransferDone {
		return
	}
	if got := describeTree(s.t, filepath.Join(s.dirs[way[1]], dest)); !slices.Equal(got, s.want[tree]) {
		s.t.Errorf("%s to %s is done: %+v\ngot\n%s\nwant\n%s", way[0], dest, tr, strings.Join(got, "\n"), strings.Join(s.want[tree], "\n"))
	}
}

// isIntact reports whether every file under a sent name has the sent content.
func (s *stressRun) isIntact(id protocol.NodeID, dest, tree string) bool {
	ok, top := true, filepath.Join(s.dirs[id], dest)
	filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".part") {
			return nil // it may be gone by now
		}
		got, err := sumOf(p)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		rel, _ := filepath.Rel(top, p)
		if line := fmt.Sprintf("%s %x", rel, got); err != nil || !slices.Contains(s.want[tree], line) {
			s.t.Errorf("%s: got another content at %s, error %v, want that of the source", id, p, err)
			ok = false
		}
		return nil
	})
	return ok
}

// corruptUnfinished changes a byte in some of the unfinished files of a dead end, and returns the
// number of files.
func (s *stressRun) corruptUnfinished(id protocol.NodeID, rng *rand.Rand) (n int) {
	filepath.WalkDir(filepath.Join(s.dirs[id], "in"), func(p string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".part") || rng.IntN(10) > 0 {
			return nil
		}
		f, err := os.OpenFile(p, os.O_RDWR, 0)
		if err != nil {
			s.t.Error(err)
			return nil
		}
		defer f.Close()
		var b [1]byte
		info, err := f.Stat()
		if err == nil && info.Size() > 0 {
			at := rng.Int64N(info.Size())
			if _, err = f.ReadAt(b[:], at); err == nil {
				b[0] ^= 0xff
				_, err = f.WriteAt(b[:], at)
			}
			n++
		}
		if err != nil {
			s.t.Error(err)
		}
		return nil
	})
	return n
}

// waitIdle waits until no transfers run and no unfinished files are left, and checks all files.
func (s *stressRun) waitIdle() {
	var left []string
	// A transfer without messages from either end resumes after a minute.
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		left = left[:0]
		open, err := ask(s, protocol.TransferList, protocol.TransferListParams{})
		for _, tr := range open.Transfers {
			if !tr.Over() {
				left = append(left, fmt.Sprintf("%s %s %s", tr.ID, tr.State, tr.Destination))
			}
		}
		for _, dir := range s.dirs {
			filepath.WalkDir(filepath.Join(dir, "in"), func(p string, _ os.DirEntry, _ error) error {
				if strings.HasSuffix(p, ".part") {
					left = append(left, p)
				}
				return nil
			})
		}
		if err == nil && len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			s.t.Errorf("left: %v, %v", left, err)
			break
		}
	}
	for id, dir := range s.dirs {
		for _, tree := range s.trees {
			tops, _ := os.ReadDir(filepath.Join(dir, "in", tree))
			for _, d := range tops {
				s.isIntact(id, "in/"+tree+"/"+d.Name(), tree)
			}
		}
	}
}
