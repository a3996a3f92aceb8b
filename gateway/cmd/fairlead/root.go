package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fairlead/gateway"
)

// options are the flags that every command has.
type options struct {
	url   string
	token string
	home  string
	json  bool
}

func newRoot() *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "fairlead",
		Short: "An agent that works on your computers, under your hand",
		Long: `Fairlead lets an agent work on your computers while you stay in charge: nothing with an effect happens before you saw it and
allowed it. This is the program without a screen; fairlead-desktop has the windows.

Environment
  FAIRLEAD_URL    gateway to talk to (default ws://127.0.0.1:8787/ws)
  FAIRLEAD_TOKEN  token of that gateway (default: the one this computer keeps)
  FAIRLEAD_HOME   folder for all data

Exit codes
  0 done · 1 failed · 2 wrong usage · 3 the gateway cannot be reached · 4 the token was refused
  5 denied, or nobody answered · 6 a tool reported a failure · 130 interrupted`,
		Version:       gateway.Version,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentPreRun = func(*cobra.Command, []string) {
		if o.home != "" {
			os.Setenv("FAIRLEAD_HOME", o.home) // the keychain's names follow from it
		}
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &exitError{code: exitUsage, err: fmt.Errorf("%w\nTry: %s --help", err, cmd.CommandPath())}
	})
	f := root.PersistentFlags()
	f.StringVar(&o.url, "url", envOr("FAIRLEAD_URL", gateway.DefaultURL), "gateway to talk to: an address, or the name of a pairing")
	f.StringVar(&o.token, "token", "", "token of the gateway (better: FAIRLEAD_TOKEN)")
	f.StringVar(&o.home, "home", "", "folder for all data (default FAIRLEAD_HOME, else the system's folder for user data)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	root.AddCommand(gatewayCommand(&o), nodeCommand(&o), chatCommand(&o), searchCommand(&o), toolsCommand(&o), configCommand(&o),
		tokenCommand(&o), skillsCommand(&o), channelsCommand(&o), statusCommand(&o), logsCommand(&o), doctorCommand(&o), journalCommand(&o), approvalsCommand(&o), auditCommand(&o), sendCommand(&o), transfersCommand(&o))
	root.AddCommand(sessionsCommand(&o), nodesCommand(&o), pairCommand(&o), networkCommand(&o))
	usageArgs(root)
	return root
}

// usageArgs makes wrong arguments of any command exit with the usage code.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &exitError{code: exitUsage, err: fmt.Errorf("%w\nUsage: %s", err, cmd.UseLine())}
			}
			return nil
		}
	}
	for _, c := range cmd.Commands() {
		usageArgs(c)
	}
}

func (o *options) homeDir() (string, error) {
	if o.home != "" {
		return filepath.Abs(o.home)
	}
	return gateway.Home()
}

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
