package shell

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// account is a user of the machine as whom a command runs instead of as the node's own.
type account struct {
	sandbox.User
	name, home string
}

// accountOf returns a user by name or number; nil for the node's own. Only root can act as others,
// and only where it does not contain commands: the rules of containment protect the keys and tokens
// of the node's own user.
func (c *confinement) accountOf(name string) (*account, error) {
	own, err := user.Current()
	if name == "" || err == nil && (name == own.Username || name == own.Uid) {
		return nil, nil
	}
	switch {
	case os.Geteuid() != 0:
		return nil, protocol.NewFault(protocol.FaultUnsupported, "Fairlead runs commands as the user that started it on this machine. Leave username out.")
	case c.isEnforced():
		return nil, protocol.NewFault(protocol.FaultUnsupported, "Commands are confined on this machine, so they run as the user that started Fairlead. Leave username out, or start its node with --sandbox full.")
	}
	u, err := user.Lookup(name)
	if err != nil {
		u, err = user.LookupId(name)
	}
	if err != nil {
		return nil, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("this machine has no user %q", name))
	}
	a := &account{name: u.Username, home: u.HomeDir}
	ids, err := u.GroupIds()
	for _, id := range append([]string{u.Uid, u.Gid}, ids...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("read the user %s: %w", name, err)
		}
		a.Groups = append(a.Groups, uint32(n))
	}
	if err != nil {
		return nil, fmt.Errorf("read the groups of %s: %w", name, err)
	}
	a.UID, a.GID, a.Groups = a.Groups[0], a.Groups[1], a.Groups[2:]
	return a, nil
}

// folder returns the folder in which the user's commands start: the home, if there is one.
func (a *account) folder() string {
	if info, err := os.Stat(a.home); err != nil || !info.IsDir() {
		return "/"
	}
	return a.home
}

// inherited are the variables that a command of another user gets from the node.
var inherited = []string{"PATH", "LANG", "TZ", "TERM", "PWD", "FAIRLEAD"}

// environ returns the environment of a command of the user, without what belongs to the node's own.
func (a *account) environ(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(inherited, name) && !strings.HasPrefix(name, "LC_")
	})
	return append(env, "HOME="+a.home, "USER="+a.name, "LOGNAME="+a.name, "SHELL="+programShell())
}
