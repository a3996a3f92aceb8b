// Package contract has the messages between Fairlead and the programs of providers, which create and
// delete machines. docs/providers.md describes it.
package contract

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Version is the version of the contract.
const Version = 1

// Actions that a provider carries out.
const (
	Describe = "describe" // says what create would make, without making it
	Create   = "create"
	Status   = "status"
	Delete   = "delete"
)

// States of a machine in the answer to Status.
const (
	Running = "running"
	Absent  = "absent"
)

// Request is what a provider reads from its standard input.
type Request struct {
	Version   int               `json:"version"`
	Action    string            `json:"action"`
	TaskID    string            `json:"task_id"`
	NodeName  string            `json:"node_name"`
	CPU       int               `json:"cpu"`                       // 1024 is a processor
	Memory    int               `json:"memory"`                    // MiB
	Install   string            `json:"install_command,omitempty"` // for Create: a line for sh on the new machine
	Reference string            `json:"reference,omitempty"`       // of an earlier answer
	Settings  map[string]string `json:"settings"`                  // such as credentials
}

// Line is a line of a provider's standard output. The last one has Done or Error.
type Line struct {
	Progress  string   `json:"progress,omitempty"`
	Reference string   `json:"reference,omitempty"` // the provider's ID of the machine; may come early
	Summary   string   `json:"summary,omitempty"`   // size, for people
	Cost      string   `json:"cost,omitempty"`      // for people
	Notes     []string `json:"notes,omitempty"`
	State     string   `json:"state,omitempty"`
	Done      bool     `json:"done,omitempty"`
	Error     string   `json:"error,omitempty"`
}

// Handler carries out a request. It returns the last line, and may report progress before.
type Handler func(ctx context.Context, r Request, report func(Line)) (Line, error)

// Main runs a provider that is written in Go: it reads the request, writes the lines and exits.
func Main(handle Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, handle, os.Stdin, os.Stdout); err != nil {
		stop()
		os.Exit(1)
	}
}

func serve(ctx context.Context, handle Handler, in io.Reader, out io.Writer) error {
	write := json.NewEncoder(out)
	var r Request
	err := json.NewDecoder(bufio.NewReader(in)).Decode(&r)
	if err == nil && r.Version != Version {
		err = fmt.Errorf("this provider knows version %d of the contract, not %d", Version, r.Version)
	}
	var last Line
	if err == nil {
		last, err = handle(ctx, r, func(l Line) { write.Encode(l) })
	}
	if err != nil {
		write.Encode(Line{Error: err.Error()})
		return err
	}
	last.Done = true
	return write.Encode(last)
}

// Size describes a size for people, such as 2 vCPU, 4 GiB RAM.
func Size(cpu, memory int) string {
	ram := fmt.Sprintf("%d MiB", memory)
	if memory%1024 == 0 {
		ram = fmt.Sprintf("%d GiB", memory/1024)
	}
	return fmt.Sprintf("%g vCPU, %s RAM", float64(cpu)/1024, ram)
}
