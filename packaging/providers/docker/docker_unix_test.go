//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/provision"
	"fairlead/gateway/provision/contract"
)

// dockerProgram stands in for docker: containers are files in the folder in TEST_CONTAINERS.
const dockerProgram = `#!/bin/sh
cd "$TEST_CONTAINERS"
echo "$*" >>log
task() { printf '%s\n' "$@" | sed -n 's/^\(label=\)\{0,1\}fairlead\.task=//p'; }
case "$1" in
ps) cat "task-$(task "$@")" 2>/dev/null || true ;;
run) echo "id-$(task "$@")" | tee "task-$(task "$@")" ;;
exec) cat >>input ;;
inspect) echo running ;;
rm) for id; do rm -f "task-${id#id-}"; done ;;
*) echo "unknown command $1" >&2; exit 1 ;;
esac
`

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "docker-provider" {
		main()
		return
	}
	os.Exit(m.Run())
}

// newProvider returns a folder with this provider, its settings, and the folder of its containers.
func newProvider(t *testing.T) (provision.Folder, map[string]string, string) {
	t.Helper()
	dir, containers := t.TempDir(), t.TempDir()
	t.Setenv("TEST_CONTAINERS", containers)
	exe, err := os.Executable()
	if err == nil {
		err = os.Symlink(exe, filepath.Join(dir, "docker-provider"))
	}
	program := filepath.Join(containers, "program")
	if err == nil {
		err = os.WriteFile(program, []byte(dockerProgram), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return provision.Folder(dir), map[string]string{"program": program, "options": "--network none"}, containers
}

func TestTheProviderKeepsToTheContract(t *testing.T) {
	folder, settings, _ := newProvider(t)
	err := provision.Check(t.Context(), folder, "docker-provider", settings, true, func(name string, err error) {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAContainerHasItsLimitsAndGetsTheCommandOnStandardInput(t *testing.T) {
	folder, settings, containers := newProvider(t)
	r := contract.Request{Action: contract.Create, TaskID: "t1", NodeName: "web-1", CPU: 512, Memory: 1024, Install: "install secret-link", Settings: settings}
	last, err := folder.Run(t.Context(), "docker-provider", r, nil, func(contract.Line) {})
	if err != nil || last.Reference != "id-t1" || last.Summary != "0.5 vCPU, 1 GiB RAM" {
		t.Fatalf("got %+v, error %v, want id-t1 with its size", last, err)
	}
	log, err := os.ReadFile(filepath.Join(containers, "log"))
	if err != nil {
		t.Fatal(err)
	}
	want := "run -d --init --label fairlead.task=t1 --hostname web-1 --cpus 0.5 --memory 1024m --restart unless-stopped --network none debian:stable sh -c"
	if !strings.Contains(string(log), want) || strings.Contains(string(log), "secret-link") {
		t.Errorf("got commands %s, want %s, and no secret", log, want)
	}
	if input, err := os.ReadFile(filepath.Join(containers, "input")); err != nil || !strings.Contains(string(input), "install secret-link") {
		t.Errorf("got input %s, error %v, want the command", input, err)
	}
}
