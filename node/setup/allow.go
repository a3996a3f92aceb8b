package setup

import (
	"errors"
	"fmt"
	"io"

	"fairlead/gateway/protocol"
	"fairlead/node/tunnel"
)

// Allow changes which targets the gateway may reach from the machine with a data folder, or prints
// them without a target. The change takes effect at once, also for a node that runs.
func Allow(home, target string, remove bool, out io.Writer) error {
	t := tunnel.Targets{File: tunnel.FileIn(home)}
	if t.File == "" {
		return errors.New("this system has no data folder: set FAIRLEAD_HOME")
	}
	if target == "" {
		list, err := t.List()
		for _, l := range list {
			fmt.Fprintln(out, l)
		}
		if err == nil && len(list) == 0 {
			_, err = fmt.Fprintln(out, "The gateway may reach this machine's own ports only.")
		}
		return err
	}
	host, port, err := protocol.SplitTarget(target)
	if err != nil {
		return err
	}
	target = tunnel.Normalize(host, port)
	if !remove {
		if err := t.Add(target); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "The gateway may reach %s from this machine.\n", target)
		return err
	}
	found, err := t.Remove(target)
	if err == nil && !found {
		err = protocol.ErrNotFound.With(target + " was not allowed")
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "The gateway may no longer reach %s from this machine. Open connections go on.\n", target)
	}
	return err
}
