//go:build unix && !linux && !darwin

package sandbox

import "context"

type layer struct{}

func (*layer) wrap(s Spec, _ Options) ([]string, []string, error) { return s.Argv, s.Env, nil }

func (*layer) close() {}

func (*layer) probe(context.Context, Options) Report {
	return unenforcedReport("this system cannot confine commands", Check{Why: "only the process group of a command is ended"})
}

// processTable is empty: only the process group is supported here.
func processTable() []processEntry { return nil }

// helperMain is not used: no probe starts a helper here.
func helperMain([]string) int { return 2 }
