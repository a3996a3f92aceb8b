package transfer_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// small is a file system of so many MiB, or the test is left out: only root may make one.
func small(t *testing.T, mib int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestAFullDiskFailsCleanly(t *testing.T) {
	r := newRig(t, "a", "b")
	from := r.file("a", "x.bin", 48<<20)
	disk := small(t, 60)
	m := r.nodes["b"]
	m.stop()
	m.dir = disk
	r.boot("b")
	r.online("b")
	// It is seen before anything is sent.
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, 20*time.Second)
	if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "The disk has ") || tr.BytesDone != 0 {
		t.Fatalf("%+v", tr)
	}
	// A later attempt goes on with what is there, and does not look ahead: it fills the disk.
	full := filepath.Join(disk, "fill")
	if err := os.WriteFile(full, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	again := func() protocol.Transfer {
		t.Helper()
		if _, err := client.Call(t.Context(), r.c, protocol.TransferRetry, protocol.TransferParams{ID: tr.ID}); err != nil {
			t.Fatal(err)
		}
		attempts := tr.Attempts
		return r.until(tr.ID, 20*time.Second, func(now protocol.Transfer) bool { return now.Over() && now.Attempts > attempts })
	}
	if tr = again(); tr.State != protocol.TransferFailed || tr.Error != "The disk is full" {
		t.Fatalf("%+v", tr)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if tr = again(); tr.State != protocol.TransferDone {
		t.Fatalf("%+v", tr)
	}
	same(t, from, filepath.Join(disk, "y.bin"))
	clean(t, disk)
	// What a failed one has left goes when it is forgotten.
	tr = r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:z.bin"}).ID, 20*time.Second)
	if tr = again(); tr.Error != "The disk is full" {
		t.Fatalf("%+v", tr)
	}
	if list, err := os.ReadDir(disk); err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if _, err := client.Call(t.Context(), r.c, protocol.TransferForget, protocol.TransferForgetParams{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if list, _ := os.ReadDir(disk); len(list) == 1 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("left: %v", list)
		}
	}
}

func TestAnEmptyFileAndOneWithHolesArrive(t *testing.T) {
	r := newRig(t, "a", "b")
	from := r.file("a", "empty", 0)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:empty"}, Destination: "b:empty"}).ID, 20*time.Second)
	if tr.State != protocol.TransferDone || tr.Files != 1 || tr.Bytes != 0 {
		t.Fatalf("%+v", tr)
	}
	same(t, from, filepath.Join(r.nodes["b"].dir, "empty"))
	size := int64(256 << 20)
	if s := os.Getenv("FAIRLEAD_SPARSE"); s != "" { // packaging/transfer-test.sh takes 20 GiB
		size, _ = strconv.ParseInt(s, 10, 64)
	}
	from = r.file("a", "holes", 1<<20)
	f, err := os.OpenFile(from, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("in the middle"), size/2); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	f.Close()
	tr = r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:holes"}, Destination: "b:holes"}).ID, 5*time.Minute)
	if tr.State != protocol.TransferDone || tr.BytesDone != size {
		t.Fatalf("%+v", tr)
	}
	to := filepath.Join(r.nodes["b"].dir, "holes")
	info, err := os.Stat(to)
	if err != nil || info.Size() != size {
		t.Fatal(info, err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Blocks*512 > 8<<20 {
		t.Errorf("it takes %d MiB on the disk", st.Blocks*512>>20)
	}
	// The transfer has compared the sums of all of it.
	for _, at := range []int64{0, size/2 - 100, size - 4096} {
		if piece(t, from, at) != piece(t, to, at) {
			t.Errorf("it is another file at %d", at)
		}
	}
}

// piece is a part of a file.
func piece(t *testing.T, path string, at int64) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 4096)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sum(t *testing.T, path string) [32]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}

// The test binary is a gateway or a node of its own when these are set.
const (
	childRole = "FAIRLEAD_TRANSFER_ROLE" // gateway or node
	childDir  = "FAIRLEAD_TRANSFER_DIR"
	childAddr = "FAIRLEAD_TRANSFER_ADDR"
	childID   = "FAIRLEAD_TRANSFER_ID"
)

func init() {
	child = func() bool {
		if os.Getenv(childRole) == "" {
			return false
		}
		runChild()
		return true
	}
}

func runChild() {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	if os.Getenv(childRole) == "gateway" {
		g, err := gateway.Open(ctx, gateway.Options{Home: os.Getenv(childDir), Listen: os.Getenv(childAddr), Logger: log})
		if err == nil {
			fmt.Println("ready")
			err = g.Run(ctx)
		}
		fmt.Println(err)
		os.Exit(1)
	}
	n, err := node.New(node.Options{ID: protocol.NodeID(os.Getenv(childID)), Workspace: os.Getenv(childDir), URL: "ws://" + os.Getenv(childAddr) + "/ws", Token: "fl_transfer"})
	if err == nil {
		fmt.Println("ready")
		err = n.Run(ctx)
	}
	fmt.Println(err)
	os.Exit(1)
}

// process is one of the three, which is killed and started again.
type process struct {
	env []string
	ns  string // network namespace; empty: this one
	cmd *exec.Cmd
}

func (p *process) start(t testing.TB) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{exe, "-test.run=^$"}
	if p.ns != "" {
		args = append([]string{"ip", "netns", "exec", p.ns}, args...)
	}
	for try := 1; ; try++ {
		p.cmd = exec.Command(args[0], args[1:]...)
		p.cmd.Env = append(os.Environ(), p.env...)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		scan := bufio.NewScanner(out)
		if scan.Scan() && scan.Text() == "ready" {
			return
		}
		p.kill()
		if try == 20 { // its address may still be taken
			t.Fatalf("%v does not start: %s", p.env, scan.Text())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// TestNoKillMakesAWrongFile kills gateway and nodes by signal 9 in the middle of transfers, and cuts their wires: every transfer ends with equal files.
// FAIRLEAD_ROUNDS says how many, FAIRLEAD_NETNS which network namespaces gateway and nodes are in, as "GATEWAY,A,B,ADDRESS": see
// packaging/transfer-test.sh.
func TestNoKillMakesAWrongFile(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("FAIRLEAD_ROUNDS")); err == nil {
		rounds = n
	} else if testing.Short() {
		t.Skip("starts and kills processes")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	spaces := []string{"", "", ""}
	if s := strings.Split(os.Getenv("FAIRLEAD_NETNS"), ","); len(s) == 4 {
		spaces, addr = s[:3], s[3]
	}
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	var all []*process
	for i, role := range []string{"gateway", "node", "node"} {
		p := &process{ns: spaces[i], env: []string{childRole + "=" + role, childDir + "=" + dirs[i], childAddr + "=" + addr, childID + "=" + []string{"", "a", "b"}[i]}}
		p.start(t)
		t.Cleanup(p.kill)
		all = append(all, p)
	}
	c := clientOf(t, addr)
	rng := rand.New(rand.NewPCG(uint64(rounds), 7))
	r := &rig{t: t, nodes: map[protocol.NodeID]*machine{"a": {dir: dirs[1]}}}
	big, kills := r.file("a", "tree/big.bin", 24<<20), 0
	for i := range 40 {
		r.file("a", fmt.Sprintf("tree/small/%d", i), int64(i*997))
	}
	want := list(t, filepath.Join(dirs[1], "tree"))
	for round := range rounds {
		dest := fmt.Sprintf("to%d", round)
		tr := start(t, c, protocol.TransferStartParams{Sources: []string{"a:tree"}, Destination: "b:" + dest, Later: true})
		for deadline := time.Now().Add(2 * time.Minute); ; {
			time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
			now, err := client.Call(t.Context(), c, protocol.TransferGet, protocol.TransferParams{ID: tr.ID})
			if err == nil && now.Over() {
				if now.State != protocol.TransferDone {
					t.Fatalf("round %d: %+v", round, now)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("round %d does not end: %+v, %v", round, now, err)
			}
			if err == nil && now.State == protocol.TransferRunning && rng.IntN(3) > 0 && kills < 3*(round+1) {
				kills++
				p := all[rng.IntN(3)]
				p.kill()
				p.start(t)
			}
		}
		if got := list(t, filepath.Join(dirs[2], dest)); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("round %d: got\n%s\nwant\n%s", round, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if sum(t, big) != sum(t, filepath.Join(dirs[2], dest, "big.bin")) {
			t.Fatalf("round %d: it is another file", round)
		}
		os.RemoveAll(filepath.Join(dirs[2], dest))
	}
	t.Logf("%d transfers, %d kills", rounds, kills)
}

// list is names, sizes and sums of a tree.
func list(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		out = append(out, fmt.Sprintf("%s %x", rel, sum(t, p)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func clientOf(t *testing.T, addr string) *client.Client {
	t.Helper()
	c := client.New(client.Options{URL: "ws://" + addr + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams { return gateway.ClientParams("test") }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

// start starts a transfer as soon as both machines are there.
func start(t *testing.T, c *client.Client, p protocol.TransferStartParams) protocol.Transfer {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		tr, err := client.Call(t.Context(), c, protocol.TransferStart, p)
		if err == nil {
			return tr
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
