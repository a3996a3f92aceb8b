package keychain

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	runProtected = func() {
		ProtectProcess()
		fmt.Println("token", FromEnv().Reveal())
		for what, err := range own() {
			fmt.Println("own", what, err)
		}
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
}

// own reads this program's own secrets in several ways.
func own() map[string]error {
	read := func(name string) error { _, err := os.ReadFile("/proc/self/" + name); return err }
	link := func(name string) error { _, err := os.Readlink("/proc/self/" + name); return err }
	list := func(name string) error { _, err := os.ReadDir("/proc/self/" + name); return err }
	thread := "task/" + strconv.Itoa(os.Getpid()) + "/children"
	f, err := os.Open("/proc/self/exe")
	if err == nil {
		f.Close()
	}
	again := exec.Command("/proc/self/exe", "-test.run=^$")
	again.Env = []string{"GORACE=atexit_sleep_ms=0"}
	return map[string]error{
		"status": read("status"), "smaps": read("smaps"), "maps": read("maps"), "limits": read("limits"), "children": read(thread), "stat": read("stat"),
		"exe": link("exe"), "standard input": link("fd/0"), "namespace": link("ns/pid"), "files": list("fd"), "threads": list("task"),
		"own program": err, "starting itself": again.Run(),
	}
}

// startProtected starts the program, as an unprivileged user if possible, and returns it when it is
// protected.
func startProtected(t *testing.T) (p *exec.Cmd, output string, own *syscall.SysProcAttr) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		own = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		dir, err := os.MkdirTemp("", "protected") // other users cannot read the test's own folder
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		program = filepath.Join(dir, "program")
		for _, err := range []error{os.Chmod(dir, 0o755), os.WriteFile(program, data, 0o755), os.Chmod(program, 0o755)} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	p = exec.Command(program)
	p.Dir, p.Stderr, p.SysProcAttr = "/", os.Stderr, own
	p.Env = []string{"KEYCHAIN_TEST_PROCESS=1", TokenVariable + "=fl_canary", "TMPDIR=" + filepath.Dir(program), "GORACE=atexit_sleep_ms=0"}
	in, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); p.Wait() })
	stop := time.AfterFunc(time.Minute, func() { p.Process.Kill() })
	defer stop.Stop()
	var b strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		b.WriteString(lines.Text() + "\n")
	}
	return p, b.String(), own
}

// asUser runs a shell command as the same user and returns its output.
func asUser(own *syscall.SysProcAttr, line string) string {
	c := exec.Command("/bin/sh", "-c", line)
	c.Dir, c.SysProcAttr = "/", own
	out, _ := c.CombinedOutput()
	return string(out)
}

func TestOtherProgramsCannotReadProtectedProcess(t *testing.T) {
	p, _, own := startProtected(t)
	proc := fmt.Sprintf("/proc/%d/", p.Process.Pid)
	for _, name := range []string{"environ", "mem", "fd/0", "maps", "root/etc/passwd", "auxv"} {
		t.Run(name, func(t *testing.T) {
			out := asUser(own, "head -c 1 "+proc+name+" | wc -c")
			if !strings.Contains(out, "ermission denied") || strings.HasPrefix(out, "1") {
				t.Errorf(`%s: got %q; want "ermission denied" in it and a text that does not begin with "1"`, name, out)
			}
		})
	}
	if out := asUser(own, "ls "+proc+"fd"); !strings.Contains(out, "ermission denied") {
		t.Errorf(`its open files are listed: %q, want "ermission denied" in it`, out)
	}
	// An unprotected program, to prove that the test could read the secrets.
	open := exec.Command("/bin/sleep", "60")
	open.Env, open.SysProcAttr = []string{TokenVariable + "=fl_canary"}, own
	if err := open.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { open.Process.Kill(); open.Wait() }()
	if out := asUser(own, fmt.Sprintf("cat /proc/%d/environ", open.Process.Pid)); !strings.Contains(out, "fl_canary") {
		t.Errorf("an open program shows %q, want the canary", out)
	}
}

func TestProtectedProcessReadsItsOwnFiles(t *testing.T) {
	_, output, _ := startProtected(t)
	if !strings.HasPrefix(output, "token fl_canary\n") {
		t.Errorf("output %q, want the token first", output)
	}
	n := 0
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "own ") {
			if n++; !strings.HasSuffix(line, " <nil>\n") {
				t.Errorf(`got %s; want a text that ends with " <nil>\n"`, line)
			}
		}
	}
	if n != len(own()) {
		t.Errorf("%d results, want %d:\n%s", n, len(own()), output)
	}
}
