package transfer_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// mountSmall mounts a file system of the given size in MiB, or skips the test, because only root
// can do that.
func mountSmall(t *testing.T, mib int) string {
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

// resizeDisk resizes a file system made by small.
func resizeDisk(t *testing.T, dir string, mib int) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Fatal(err)
	}
}

// A sparse file needs space only for its data.
func TestAFileWithHolesFitsWhereItsDataFits(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	disk := mountSmall(t, 60)
	m := r.nodes["b"]
	m.stop()
	m.dir = disk
	r.startNode("b")
	r.waitOnline("b")
	const size = 192 << 20
	from := r.createFile("a", "holes", 2<<20)
	f, err := os.OpenFile(from, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 1<<20), size/2); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("the end"), size-7); err != nil {
		t.Fatal(err)
	}
	r.createFile("a", "more/plain", 1<<20)
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:holes", "a:more"}, Destination: "b:in/"}).ID, time.Minute)
	if tr.State != protocol.TransferDone || tr.Bytes != size+(1<<20) || tr.BytesDone != tr.Bytes {
		t.Fatalf("got %+v, want all %d bytes", tr, size+(1<<20))
	}
	to := filepath.Join(disk, "in", "holes")
	if sum(t, from) != sum(t, to) {
		t.Error("it is another file")
	}
	if info, err := os.Stat(to); err != nil || info.Sys().(*syscall.Stat_t).Blocks*512 > 8<<20 {
		t.Errorf("got %d MiB on the disk, error %v, want at most 8", info.Sys().(*syscall.Stat_t).Blocks*512>>20, err)
	}
	// The data does not fit, which is detected before anything is sent.
	if _, err := f.WriteAt(make([]byte, 64<<20), 64<<20); err != nil {
		t.Fatal(err)
	}
	tr = r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:holes"}, Destination: "b:again"}).ID, time.Minute)
	if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "but the transfer needs 69 MB") {
		t.Fatalf("got %+v, want too little space for 69 MB", tr)
	}
}

func TestAFullDiskFailsCleanly(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 48<<20)
	disk := mountSmall(t, 60)
	m := r.nodes["b"]
	m.stop()
	m.dir = disk
	r.startNode("b")
	r.waitOnline("b")
	// It is detected before anything is sent.
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "The disk has ") || tr.BytesDone != 0 {
		t.Fatalf("got %+v, want too little space before anything is sent", tr)
	}
	again := func() protocol.Transfer {
		t.Helper()
		if _, err := client.Call(t.Context(), r.c, protocol.TransferRetry, protocol.TransferParams{ID: tr.ID}); err != nil {
			t.Fatal(err)
		}
		attempts := tr.Attempts
		return r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.Over() && now.Attempts > attempts })
	}
	// The first attempt changed nothing.
	if tr = again(); tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "The disk has ") {
		t.Fatalf("got %+v, want too little space again", tr)
	}
	// A transfer that continues from a part does not check the space: it fills the disk.
	full := filepath.Join(disk, "fill")
	middle := func() {
		t.Helper()
		r.nodes["a"].wire.slow.setOn(true)
		r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.BytesDone > 4<<20 })
		if _, err := client.Call(t.Context(), r.c, protocol.TransferPause, protocol.TransferParams{ID: tr.ID}); err != nil {
			t.Fatal(err)
		}
		r.nodes["a"].wire.slow.setOn(false)
		if err := os.WriteFile(full, make([]byte, 40<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Call(t.Context(), r.c, protocol.TransferResume, protocol.TransferParams{ID: tr.ID}); err != nil {
			t.Fatal(err)
		}
		if tr = r.waitEnd(tr.ID, patience); tr.State != protocol.TransferFailed || !strings.HasPrefix(tr.Error, "The disk is full. Free up space and retry") {
			t.Fatalf("got %+v, want a full disk", tr)
		}
	}
	resizeDisk(t, disk, 80)
	tr = r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
	middle()
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	if tr = again(); tr.State != protocol.TransferDone {
		t.Fatalf("got %+v, want it done", tr)
	}
	checkSameFile(t, from, filepath.Join(disk, "y.bin"))
	waitNoUnfinished(t, disk)
	// The unfinished file of a failed transfer is removed when the transfer is forgotten.
	resizeDisk(t, disk, 128)
	tr = r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:z.bin"})
	middle()
	if list, err := os.ReadDir(disk); err != nil || len(list) != 3 {
		t.Fatalf("got %v, error %v, want 3 files", list, err)
	}
	if _, err := client.Call(t.Context(), r.c, protocol.TransferForget, protocol.TransferForgetParams{}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if list, _ := os.ReadDir(disk); len(list) == 2 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("got %v, want 2 files", list)
		}
	}
}

func TestAnEmptyFileAndOneWithHolesArrive(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "empty", 0)
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:empty"}, Destination: "b:empty"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Files != 1 || tr.Bytes != 0 {
		t.Fatalf("got %+v, want one empty file", tr)
	}
	checkSameFile(t, from, filepath.Join(r.nodes["b"].dir, "empty"))
	size := int64(256 << 20)
	if s := os.Getenv("FAIRLEAD_SPARSE"); s != "" { // packaging/transfer-test.sh uses 20 GiB
		size, _ = strconv.ParseInt(s, 10, 64)
	}
	from = r.createFile("a", "holes", 1<<20)
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
	tr = r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:holes"}, Destination: "b:holes"}).ID, 5*time.Minute)
	if tr.State != protocol.TransferDone || tr.BytesDone != size {
		t.Fatalf("got %+v, want %d bytes", tr, size)
	}
	to := filepath.Join(r.nodes["b"].dir, "holes")
	info, err := os.Stat(to)
	if err != nil || info.Size() != size {
		t.Fatalf("got %v, error %v, want %d bytes", info, err, size)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Blocks*512 > 8<<20 {
		t.Errorf("got %d MiB on the disk, want at most 8", st.Blocks*512>>20)
	}
	// The transfer has compared the checksums of the whole file.
	for _, at := range []int64{0, size/2 - 100, size - 4096} {
		if readPart(t, from, at) != readPart(t, to, at) {
			t.Errorf("at %d: got another content, want the same", at)
		}
	}
}

// readPart returns a part of a file.
func readPart(t *testing.T, path string, at int64) string {
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
	s, err := sumOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sumOf(path string) (sum [32]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return [32]byte(h.Sum(nil)), err
}
