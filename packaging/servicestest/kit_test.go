// Package servicestest lets a real browser visit apps that others wrote, which the built programs
// publish. It is a module of its own, so that the browser's driver is no part of the product.
// packaging/services-test.sh runs it.
package servicestest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what should happen at once.
const patience = time.Minute

// programs is the folder of the built fairlead and fairlead-node, apps that of esbuild and
// copyparty, pictures where pictures of pages are stored.
var programs, apps, pictures = os.Getenv("FAIRLEAD_PROGRAMS"), os.Getenv("FAIRLEAD_APPS"), os.Getenv("FAIRLEAD_PICTURES")

// needs skips a test where a program of others is missing.
func needs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is missing: packaging/services-test.sh installs it where it can be had", name)
		}
	}
}

// until waits until a condition holds.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// freePort returns a port of this computer that nobody uses.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// process is a program that the test started.
type process struct {
	cmd  *exec.Cmd
	log  string // file with its output
	done chan struct{}
}

// start starts a program, in a network namespace unless that is empty. It is killed when the test
// ends.
func start(t testing.TB, namespace, log string, env []string, name string, args ...string) *process {
	t.Helper()
	if namespace != "" {
		name, args = "ip", append([]string{"netns", "exec", namespace, name}, args...)
	}
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p := &process{cmd: exec.Command(name, args...), log: log, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = append(os.Environ(), env...), out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.done); p.cmd.Wait() }()
	t.Cleanup(p.kill)
	return p
}

// kill ends a program, and what it started, with SIGKILL.
func (p *process) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// privateMemory returns the memory that a program alone uses, in bytes.
func (p *process) privateMemory(t testing.TB) (sum int64) {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[0], "Private_") {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// sockets returns the number of open sockets of a program.
func (p *process) sockets(t testing.TB) (n int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if to, _ := os.Readlink(f); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// goroutines ends a program of Go with SIGQUIT, which makes it print its goroutines, and returns
// those in which a function of the given packages is called.
func (p *process) goroutines(t testing.TB, packages *regexp.Regexp) (found []string) {
	t.Helper()
	p.cmd.Process.Signal(syscall.SIGQUIT)
	<-p.done
	data, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	_, dump, ok := strings.Cut(string(data), "SIGQUIT: quit")
	if !ok {
		t.Fatalf("the program printed no goroutines: %.2000s", data)
	}
	for _, g := range strings.Split(dump, "\n\n") {
		if strings.HasPrefix(g, "goroutine ") && packages.MatchString(g) {
			found = append(found, g)
		}
	}
	return found
}

// stack is a gateway and the machine tower, each a process of the built programs.
type stack struct {
	t                          testing.TB
	dir, listen                string
	gatewaySpace, machineSpace string   // network namespaces
	machineArgs                []string // how the machine reaches the gateway
	machineEnv                 []string
	gateway, machine           *process
}

// newStack starts a gateway and its machine on this computer.
func newStack(t testing.TB) *stack {
	t.Helper()
	s := &stack{t: t, dir: t.TempDir(), listen: "127.0.0.1:" + freePort(t)}
	s.startGateway()
	s.machineArgs = []string{"--gateway", "ws://" + s.listen + "/ws"}
	s.machineEnv = []string{"FAIRLEAD_TOKEN=" + s.run("token")}
	s.startMachine()
	return s
}

func (s *stack) env() []string {
	return []string{"FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME=" + filepath.Join(s.dir, "gateway"), "FAIRLEAD_URL=ws://" + s.listen + "/ws"}
}

// startGateway starts the gateway, again if it was killed.
func (s *stack) startGateway() {
	s.t.Helper()
	s.gateway = start(s.t, s.gatewaySpace, filepath.Join(s.dir, "gateway.log"), s.env(), filepath.Join(programs, "fairlead"), "gateway", "--listen", s.listen)
	until(s.t, "the gateway answers", func() bool { return s.command("status").Run() == nil })
}

// startMachine starts the machine, again if it was killed.
func (s *stack) startMachine() {
	s.t.Helper()
	home := filepath.Join(s.dir, "machine")
	os.MkdirAll(home, 0o700)
	env := append([]string{"FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME=" + home}, s.machineEnv...)
	s.machine = start(s.t, s.machineSpace, filepath.Join(s.dir, "machine.log"), env,
		filepath.Join(programs, "fairlead-node"), append([]string{"--id", "tower", "--workspace", home}, s.machineArgs...)...)
	s.untilOnline(true)
}

func (s *stack) untilOnline(online bool) {
	s.t.Helper()
	state := map[bool]string{true: "online", false: "offline"}[online]
	until(s.t, "the machine is "+state, func() bool {
		out, _ := s.command("nodes").Output()
		return regexp.MustCompile(`(?m)^tower\b.*\b` + state).Match(out)
	})
}

// command returns a command of fairlead to this gateway.
func (s *stack) command(args ...string) *exec.Cmd {
	name := filepath.Join(programs, "fairlead")
	if s.gatewaySpace != "" {
		name, args = "ip", append([]string{"netns", "exec", s.gatewaySpace, name}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), s.env()...)
	return cmd
}

// run runs a command of fairlead and returns what it prints.
func (s *stack) run(args ...string) string {
	s.t.Helper()
	var failed bytes.Buffer
	cmd := s.command(args...)
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("fairlead %s: %v: %s%s", strings.Join(args, " "), err, out, failed.String())
	}
	return strings.TrimSpace(string(out))
}

// service is what service_publish returns.
type service struct {
	ID  string `json:"service_id"`
	URL string `json:"public_url"`
}

// call calls a tool that asks, and allows it.
func (s *stack) call(tool string, args map[string]any) (r service) {
	s.t.Helper()
	text, _ := json.Marshal(args)
	cmd := s.command("call", tool, string(text))
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for answered := false; ; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			if err != nil {
				s.t.Fatalf("%s: %v: %s%s", tool, err, out.String(), failed.String())
			}
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				s.t.Fatalf("%s returned %s: %v", tool, out.String(), err)
			}
			return r
		default:
		}
		var open []struct{ ID string }
		if json.Unmarshal([]byte(s.run("questions", "--json")), &open); len(open) > 0 && !answered {
			s.run("questions", "allow", open[0].ID)
			answered = true
		}
	}
}

// publish publishes an app of the machine; change changes the arguments.
func (s *stack) publish(title, target string, change map[string]any) service {
	s.t.Helper()
	args := map[string]any{"node_id": "tower", "proxy_target_url": target, "title": title}
	for k, v := range change {
		args[k] = v
	}
	return s.call("service_publish", args)
}

// forward starts fairlead forward, and returns it with its local address.
func (s *stack) forward(target string) (p *process, address string) {
	s.t.Helper()
	log := filepath.Join(s.dir, "forward"+freePort(s.t)+".log")
	p = start(s.t, s.gatewaySpace, log, s.env(), filepath.Join(programs, "fairlead"), "forward", "tower:"+target, "0")
	until(s.t, "fairlead forward prints its address", func() bool {
		data, _ := os.ReadFile(log)
		address = regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(data))
		return address != ""
	})
	return p, address
}

// lines returns the lines of a text that contain a part.
func lines(text, part string) (found []string) {
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		if strings.Contains(s.Text(), part) {
			found = append(found, s.Text())
		}
	}
	return found
}
