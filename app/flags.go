package app

import (
	"errors"
	"flag"
	"io"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
)

// flags are the command-line flags.
type flags struct {
	home, workspace, join, listen string
	hidden                        bool

	changelog  string         // text of CHANGELOG.md
	link       string         // fairlead:// link that the system asked the program to open
	withParent bool           // exit with the parent process, which shows the tray icon for both
	reopened   bool           // the windows of the parent process, which serves them, have failed
	peer       *identity.Peer // the paired gateway that join names; nil if join is a URL
}

const usage = `fairlead-desktop: an AI agent that works on your computers, with your approval

  --hidden          start in the tray, without a window
  --home DIR        data folder (default: FAIRLEAD_HOME, or the system's folder for user data)
  --workspace DIR   the agent's folder on this machine (default: from the settings, or the current folder)
  --listen ADDR     address that the gateway listens on (default: from the settings, or 127.0.0.1:8787), or none
  --join GATEWAY    use a remote gateway: the name of a pairing, or a URL, with its token in FAIRLEAD_TOKEN
  --version         print the version
  --help            print this

A fairlead:// link opens a pairing invitation, or a page of the settings: fairlead://settings/models.
`

func parseFlags(args []string) (f flags, version bool, err error) {
	set := flag.NewFlagSet("fairlead-desktop", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.home, "home", "", "")
	set.StringVar(&f.workspace, "workspace", "", "")
	set.StringVar(&f.listen, "listen", "", "")
	set.StringVar(&f.join, "join", "", "")
	set.BoolVar(&f.hidden, "hidden", false, "")
	set.BoolVar(&f.withParent, "with-parent", false, "")
	set.BoolVar(&f.reopened, "reopened", false, "")
	set.BoolVar(&version, "version", false, "")
	err = set.Parse(args)
	if set.NArg() == 1 && pake.IsLink(set.Arg(0)) {
		f.link = set.Arg(0)
	}
	if err == nil && set.NArg() > 0 && f.link == "" {
		err = errors.New("unexpected argument")
	}
	return f, version, err
}
