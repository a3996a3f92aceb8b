package keychain

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/windows"
)

func init() {
	runProtected = func() {
		ProtectProcess()
		fmt.Println(FromEnv().Reveal())
		bufio.NewReader(os.Stdin).ReadString('\n')
	}
}

func TestOtherProgramsCannotReadProtectedProcess(t *testing.T) {
	p := exec.Command(os.Args[0])
	p.Env = append(os.Environ(), "KEYCHAIN_TEST_PROCESS=1", TokenVariable+"=fl_canary")
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
	defer func() { in.Close(); p.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "fl_canary\n" {
		t.Fatalf(`output: got %q, %v; want no error and line "fl_canary\n"`, line, err)
	}
	// Not WRITE_DAC: Wine does not support the OW entry and grants it to every owner.
	for access, allowed := range map[uint32]bool{
		windows.PROCESS_VM_READ: false, windows.PROCESS_VM_WRITE: false, windows.PROCESS_DUP_HANDLE: false, windows.PROCESS_CREATE_THREAD: false,
		windows.SYNCHRONIZE: true, windows.PROCESS_QUERY_LIMITED_INFORMATION: true, windows.PROCESS_TERMINATE: true,
	} {
		h, err := windows.OpenProcess(access, false, uint32(p.Process.Pid))
		if err == nil {
			windows.CloseHandle(h)
		}
		if (err == nil) != allowed {
			t.Errorf("access %#x: %v, should be allowed: %v", access, err, allowed)
		}
	}
}
