package provision

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/provision/contract"
)

// checker runs a provider through the contract.
type checker struct {
	folder   Folder
	provider string
	request  contract.Request
}

// run carries out an action.
func (c *checker) run(ctx context.Context, action string, each func(contract.Line)) (contract.Line, error) {
	r := c.request
	r.Action = action
	if action == contract.Create {
		r.Install = "true"
	}
	last, err := c.folder.Run(ctx, c.provider, r, nil, each)
	if last.Reference != "" {
		c.request.Reference = last.Reference
	}
	return last, err
}

func ignore(contract.Line) {}

// expect checks the state of the machine.
func (c *checker) expect(ctx context.Context, state string) error {
	last, err := c.run(ctx, contract.Status, ignore)
	if err == nil && last.State != state {
		err = fmt.Errorf("got the state %q, want %q", last.State, state)
	}
	return err
}

// checks are what Check looks at, in this order. Those that create machines come last.
var checks = []struct {
	name    string
	creates bool
	run     func(context.Context, *checker) error
}{
	{"describe says the size", false, func(ctx context.Context, c *checker) error {
		last, err := c.run(ctx, contract.Describe, ignore)
		if err == nil && last.Summary == "" {
			err = errors.New("got no summary")
		}
		return err
	}},
	{"status of a task that is unknown is absent", false, func(ctx context.Context, c *checker) error { return c.expect(ctx, contract.Absent) }},
	{"delete of a task that is unknown succeeds", false, func(ctx context.Context, c *checker) error {
		_, err := c.run(ctx, contract.Delete, ignore)
		return err
	}},
	{"create creates a machine", true, func(ctx context.Context, c *checker) error {
		last, err := c.run(ctx, contract.Create, ignore)
		if err == nil && last.Reference == "" {
			err = errors.New("got no reference")
		}
		if err == nil {
			err = c.expect(ctx, contract.Running)
		}
		return err
	}},
	{"create of the same task creates no second one", true, func(ctx context.Context, c *checker) error {
		before := c.request.Reference
		last, err := c.run(ctx, contract.Create, ignore)
		if err == nil && last.Reference != before {
			err = fmt.Errorf("got the reference %q, want %q", last.Reference, before)
		}
		return err
	}},
	{"delete finds the machine by its task alone", true, func(ctx context.Context, c *checker) error {
		c.request.Reference = ""
		_, err := c.run(ctx, contract.Delete, ignore)
		if err == nil {
			err = c.expect(ctx, contract.Absent)
		}
		return err
	}},
	{"delete removes what a killed create left", true, func(ctx context.Context, c *checker) error {
		killed, kill := context.WithTimeout(ctx, killAfter)
		defer kill()
		_, err := c.run(killed, contract.Create, func(contract.Line) { kill() })
		if err != nil && killed.Err() == nil {
			return err
		}
		c.request.Reference = ""
		if _, err = c.run(ctx, contract.Delete, ignore); err == nil {
			err = c.expect(ctx, contract.Absent)
		}
		return err
	}},
}

// killAfter is when a create without progress is killed.
const killAfter = 2 * time.Second

// Check runs a provider through the contract, and calls each with the outcome of every check. With
// create, it creates machines and deletes them again, which may cost money.
func Check(ctx context.Context, folder Folder, provider string, settings map[string]string, create bool, each func(name string, err error)) error {
	c := &checker{folder, provider, contract.Request{
		TaskID: protocol.NewID(), NodeName: "fairlead-check", CPU: protocol.DefaultCPU, Memory: protocol.DefaultMemory, Settings: settings,
	}}
	var errs []error
	for _, check := range checks {
		if check.creates && !create {
			continue
		}
		err := check.run(ctx, c)
		each(check.name, err)
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	if create { // whatever failed
		last := context.WithoutCancel(ctx)
		if _, err := c.run(last, contract.Delete, ignore); err != nil {
			errs = append(errs, fmt.Errorf("delete what is left of task %s: %w", c.request.TaskID, err))
		}
	}
	return errors.Join(errs...)
}
