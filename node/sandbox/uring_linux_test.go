package sandbox_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox"
)

// Operations of io_uring_enter(2).
const (
	uringOpen   = 18
	uringRead   = 22
	uringWrite  = 23
	uringRename = 35
	uringUnlink = 36
	uringLink   = 39
)

// uring is a ring for one operation at a time, in which the kernel makes what would be system calls.
type uring struct {
	fd            int
	params        [120]byte // struct io_uring_params
	sq, cq, queue []byte
}

func newUring() (*uring, error) {
	r := &uring{}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&r.params)), 0)
	if errno != 0 {
		return nil, errno
	}
	r.fd = int(fd)
	var err error
	for _, part := range []struct {
		to     *[]byte
		offset int64
	}{{&r.sq, 0}, {&r.cq, 0x8000000}, {&r.queue, 0x10000000}} {
		if *part.to, err = unix.Mmap(r.fd, part.offset, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// field returns a field of the rings, of which params has the offset.
func (r *uring) field(ring []byte, at int) *uint32 {
	return (*uint32)(unsafe.Pointer(&ring[binary.LittleEndian.Uint32(r.params[at:])]))
}

// operation is struct io_uring_sqe.
type operation struct {
	code      byte
	fd        int32
	address   []byte // a path ends with a zero byte
	address2  []byte
	len, flag uint32
}

// do makes the kernel carry out an operation and returns its result.
func (r *uring) do(o operation) (int32, error) {
	entry := r.queue[:64]
	clear(entry)
	entry[0] = o.code
	binary.LittleEndian.PutUint32(entry[4:], uint32(o.fd))
	if o.address2 != nil {
		binary.LittleEndian.PutUint64(entry[8:], uint64(uintptr(unsafe.Pointer(&o.address2[0]))))
	}
	binary.LittleEndian.PutUint64(entry[16:], uint64(uintptr(unsafe.Pointer(&o.address[0]))))
	binary.LittleEndian.PutUint32(entry[24:], o.len)
	binary.LittleEndian.PutUint32(entry[28:], o.flag)
	const sqTail, sqArray, cqHead, cqEntries = 44, 64, 80, 100
	tail := r.field(r.sq, sqTail)
	index := (*uint32)(unsafe.Add(unsafe.Pointer(r.field(r.sq, sqArray)), 4*(*tail%4)))
	*index = 0
	atomic.AddUint32(tail, 1)
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), 1, 1, 1, 0, 0); errno != 0 {
		return 0, errno
	}
	head := r.field(r.cq, cqHead)
	at := binary.LittleEndian.Uint32(r.params[cqEntries:]) + 16*(*head%8)
	result := int32(binary.LittleEndian.Uint32(r.cq[at+8:]))
	atomic.AddUint32(head, 1)
	return result, nil
}

func init() { plays["uring"] = playUring }

// playUring tries a protected file and a secret by io_uring, and prints what succeeds.
func playUring() int {
	r, err := newUring()
	if err != nil {
		fmt.Println("none:", err)
		return 0
	}
	path := func(name string) []byte { return append([]byte(name), 0) }
	const here = unix.AT_FDCWD
	say := func(name string, o operation) int32 {
		result, err := r.do(o)
		if err != nil || result < 0 {
			fmt.Printf("%s refused %v %v\n", name, unix.Errno(-result), err)
			return -1
		}
		fmt.Printf("%s done\n", name)
		return result
	}
	if fd := say("create", operation{code: uringOpen, fd: here, address: path("new"), len: 0o600, flag: unix.O_WRONLY | unix.O_CREAT}); fd >= 0 {
		say("write", operation{code: uringWrite, fd: fd, address: []byte("evil"), len: 4})
	}
	file := os.Getenv("TARGET")
	for name, o := range map[string]operation{
		"open":     {code: uringOpen, fd: here, address: path(file), flag: unix.O_WRONLY},
		"truncate": {code: uringOpen, fd: here, address: path(file), flag: unix.O_WRONLY | unix.O_TRUNC},
		"rename":   {code: uringRename, fd: here, address: path("new"), address2: path(file), len: uint32(here & 0xffffffff)},
		"unlink":   {code: uringUnlink, fd: here, address: path(file)},
		"link":     {code: uringLink, fd: here, address: path(file), address2: path("hard"), len: uint32(here & 0xffffffff)},
		"secret":   {code: uringOpen, fd: here, address: path(os.Getenv("SECRET")), flag: unix.O_RDONLY},
	} {
		say(name, o)
	}
	return 0
}

// TestUringReachesNoProtectedFile tries the system calls that no filter sees.
func TestUringReachesNoProtectedFile(t *testing.T) {
	k := newProject(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range []sandbox.Network{sandbox.NetBlocked, sandbox.NetAllowed} {
		for _, file := range protected {
			t.Run(string(network)+" "+file, func(t *testing.T) {
				s := k.spec("")
				s.Profile.Network, s.Argv = network, []string{exe}
				s.Env = append(s.Env, "SANDBOX_PLAY=uring", "TARGET="+file, "SECRET="+filepath.Join(k.home, ".ssh/id_ed25519"))
				out, _ := k.run(s)
				if network == sandbox.NetBlocked {
					if !strings.HasPrefix(out, "none: function not implemented") {
						t.Errorf("got %q, want no io_uring", out)
					}
					return
				}
				if strings.HasPrefix(out, "none:") {
					t.Skipf("this machine does not have io_uring: %s", out)
				}
				if !strings.Contains(out, "create done") || !strings.Contains(out, "write done") || strings.Count(out, "done") != 2 || strings.Count(out, "refused") != 6 {
					t.Errorf("got %q, want two operations done and six refused", out)
				}
				if data, err := os.ReadFile(filepath.Join(k.ws, file)); err != nil || string(data) != "original" {
					t.Errorf("got %q, error %v; want the file unchanged", data, err)
				}
			})
		}
	}
}
