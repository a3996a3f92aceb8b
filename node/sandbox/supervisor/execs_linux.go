package supervisor

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
	"fairlead/node/sandbox/confine"
)

const (
	// maxArguments and maxArgument bound what is read of a command line: more than a rule needs.
	maxArguments, maxArgument = 256, 4096
	// maxScripts is the number of interpreters in a row that the kernel follows.
	maxScripts = 5
	// maxRefused is the number of refused programs that are reported.
	maxRefused = 8
)

// execGuard refuses the programs that the person's rules deny to a command, whoever starts them.
type execGuard struct {
	watch  confine.Watch
	denied []confine.Program

	mu      sync.Mutex
	refused []string
}

// minProcessors is enough for one goroutine to answer while another one forks.
const minProcessors = 4

// forkWatched starts a command from the calling thread, which is watched from then on; see
// [confine.WatchExecs].
//
// A fork keeps its thread and one of the runtime's processors until the exec, and so until the
// answer to it. A garbage collection would wait for that processor, and the answer for the
// collection. Therefore the goroutine that answers already waits when the fork begins, and nothing
// is collected meanwhile.
func forkWatched(denied []confine.Program, argv []string, attr *syscall.ProcAttr) (pid int, g *execGuard, err error) {
	watch, err := confine.WatchExecs()
	if err != nil {
		return 0, nil, err
	}
	g = &execGuard{watch: watch, denied: denied}
	ready := make(chan struct{})
	crash.Go(func() {
		close(ready)
		g.run()
	})
	<-ready
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	pid, err = fork(argv, attr)
	return pid, g, err
}

// run answers every exec of the command until its last process has ended. The first is the command
// itself, which the rules have judged.
func (g *execGuard) run() {
	defer g.watch.Close()
	for first := true; ; first = false {
		e, ok := g.watch.Next()
		if !ok {
			return
		}
		g.watch.Answer(e, first || !g.isDenied(e))
	}
}

// isDenied reports whether a rule denies a program. One that cannot be read counts as denied.
func (g *execGuard) isDenied(e confine.Exec) bool {
	t := tracee{thread: e.Thread}
	file, argv, ok := t.program(e)
	if !g.watch.IsWaiting(e) {
		return true // it was killed
	}
	if !ok {
		return true
	}
	for range maxScripts {
		names := []string{file}
		if real, err := filepath.EvalSymlinks(file); err == nil {
			names = append(names, real)
		}
		if len(argv) > 0 {
			names = append(names, argv[0]) // a program with several names looks at it
		}
		if g.matches(names, argv) {
			return true
		}
		interpreter, option := shebang(file)
		if interpreter == "" {
			return false
		}
		next := []string{interpreter}
		if option != "" {
			next = append(next, option)
		}
		file, argv = interpreter, append(append(next, file), argv[min(1, len(argv)):]...)
	}
	return true
}

// matches compares a command line, and the one that a loader of programs such as ld.so or busybox
// gets as its arguments.
func (g *execGuard) matches(names, argv []string) bool {
	for _, p := range g.denied {
		if p.Matches(names, argv) {
			g.report(filepath.Base(names[0]))
			return true
		}
	}
	isLoader := slices.ContainsFunc(names, func(n string) bool {
		base := filepath.Base(n)
		return base == "busybox" || base == "toybox" || strings.HasPrefix(base, "ld-") || strings.HasPrefix(base, "ld.so") || strings.HasPrefix(base, "ld64")
	})
	for i := 1; isLoader && i < len(argv); i++ {
		if !strings.HasPrefix(argv[i], "-") {
			for _, p := range g.denied {
				if p.Matches(argv[i:i+1], argv[i:]) {
					g.report(filepath.Base(argv[i]))
					return true
				}
			}
		}
	}
	return false
}

func (g *execGuard) report(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.refused) < maxRefused && !slices.Contains(g.refused, name) {
		g.refused = append(g.refused, name)
	}
}

// names returns the refused programs.
func (g *execGuard) names() []string {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.refused)
}

// tracee is a thread that waits in an exec.
type tracee struct{ thread int }

func (t tracee) proc(name string) string { return "/proc/" + strconv.Itoa(t.thread) + "/" + name }

// program returns the absolute path of the program, with links, and its arguments.
func (t tracee) program(e confine.Exec) (file string, argv []string, ok bool) {
	mem, err := os.Open(t.proc("mem"))
	if err != nil {
		return "", nil, false
	}
	defer mem.Close()
	if file, ok = readString(mem, e.Path, unix.PathMax); !ok {
		return "", nil, false
	}
	for i := range uintptr(maxArguments) {
		var word [8]byte
		if e.Argv == 0 {
			break
		}
		if _, err := mem.ReadAt(word[:], int64(e.Argv+8*i)); err != nil {
			return "", nil, false
		}
		address := uintptr(binary.LittleEndian.Uint64(word[:]))
		if address == 0 {
			break
		}
		arg, ok := readString(mem, address, maxArgument)
		if !ok {
			return "", nil, false
		}
		argv = append(argv, arg)
	}
	if filepath.IsAbs(file) {
		return file, argv, true
	}
	dir := "cwd"
	if e.Dir != unix.AT_FDCWD {
		dir = "fd/" + strconv.Itoa(e.Dir)
	}
	base, err := os.Readlink(t.proc(dir))
	if err != nil {
		return "", nil, false
	}
	return filepath.Join(base, file), argv, true
}

// readString reads a text that ends with a zero byte; a longer one is cut.
func readString(mem io.ReaderAt, address uintptr, most int) (string, bool) {
	const page = 4096
	var text []byte
	for len(text) < most {
		// Up to the end of a page: the next one may not exist.
		part := make([]byte, page-int(address)%page)
		n, err := mem.ReadAt(part, int64(address))
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(text, part[:end]...)), true
		}
		if err != nil {
			return "", false
		}
		text = append(text, part[:n]...)
		address += uintptr(n)
	}
	return string(text[:most]), true
}

// shebang returns the interpreter of a script with its option; empty for other programs.
func shebang(file string) (interpreter, option string) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", "" // reading a pipe could wait for ever
	}
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return "", ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	interpreter, option, _ = strings.Cut(strings.Trim(string(line), " \t"), " ")
	return interpreter, strings.Trim(option, " \t")
}
