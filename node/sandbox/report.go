package sandbox

import (
	"os"
	"slices"

	"fairlead/gateway/protocol"
)

// IDs of the checks of a report.
const (
	CheckWriteOutside = "fs.write.outside"
	CheckReadSecrets  = "fs.read.secrets"
	CheckProtected    = protocol.ProtectedCheck
	CheckMetadata     = "fs.metadata"
	CheckTCP          = "net.tcp"
	CheckUDP          = "net.udp"
	CheckMPTCP        = "net.mptcp"
	CheckRaw          = "net.raw"
	CheckUring        = "syscall.io_uring"
	CheckTrace        = "syscall.ptrace"
	CheckIPC          = "ipc"
	CheckSignal       = "process.signal"
	CheckPriority     = "process.priority"
	CheckCaps         = "process.capabilities"
	CheckPrivs        = "process.privileges"
	CheckAbstract     = "unix.abstract"
	CheckUnix         = "unix.sockets"
	CheckPIDs         = "pid.view"
	CheckOrphans      = "orphans"
	CheckForks        = "forks"
	CheckPrograms     = "process.programs"
)

// Check is one guarantee and whether this machine enforces it.
type Check = protocol.EnforcedCheck

// Summary is a report in one word.
type Summary string

const (
	// Contained: files, secrets, network, memory of other programs and left-over processes are all
	// enforced.
	Contained Summary = "contained"
	Partly    Summary = "partly"
	// None: neither files nor network are enforced.
	None Summary = "none"
)

// Report lists what this machine enforces for contained commands. Guarantees that were not tested
// count as not enforced.
type Report struct {
	Summary  Summary
	Checks   []Check
	Warnings []string
}

// Check returns the check with that ID; an unknown one is not enforced.
func (r Report) Check(id string) Check {
	for _, c := range r.Checks {
		if c.ID == id {
			return c
		}
	}
	return Check{ID: id, Why: "it was not tested"}
}

// fileChecks and netChecks are the guarantees that people mean by "contained".
var (
	fileChecks = []string{CheckWriteOutside, CheckReadSecrets}
	netChecks  = []string{CheckTCP, CheckUDP, CheckMPTCP, CheckRaw, CheckUring, CheckUnix}
)

// For returns the report for commands with profile p: the test was made with a command that may
// write to its workspace and not use the network.
func (r Report) For(p Profile) Report {
	p = p.WithDefaults()
	r.Checks = slices.Clone(r.Checks)
	for i, c := range r.Checks {
		switch {
		case p.Mode == Full && c.ID != CheckOrphans:
			r.Checks[i] = Check{ID: c.ID, Why: "commands have full access, as set"}
		case p.Network == NetAllowed && slices.Contains(netChecks, c.ID):
			r.Checks[i] = Check{ID: c.ID, Why: "the network is allowed for commands, as set"}
		case p.Mode == ReadOnly && c.ID == CheckProtected: // it is in the workspace
			r.Checks[i] = r.Check(CheckWriteOutside)
			r.Checks[i].ID = c.ID
		}
	}
	if p.Mode == Full {
		r.Warnings = nil
		if os.Geteuid() == 0 {
			r.Warnings = []string{"the node runs as root, and so do commands"}
		}
	}
	return r
}

// ConfinesFiles reports whether commands are prevented from writing outside and from reading
// secrets; BlocksNetwork reports whether their network is blocked.
func (r Report) ConfinesFiles() bool { return r.enforces(fileChecks) == len(fileChecks) }
func (r Report) BlocksNetwork() bool { return r.enforces(netChecks) == len(netChecks) }

func (r Report) enforces(ids []string) int {
	n := 0
	for _, c := range r.Checks {
		if c.Enforced && slices.Contains(ids, c.ID) {
			n++
		}
	}
	return n
}

func (r Report) summary() Summary {
	main := append(append([]string{CheckOrphans, CheckTrace, CheckIPC, CheckPrivs}, fileChecks...), netChecks...)
	switch {
	case r.enforces(main) == len(main):
		return Contained
	case r.enforces(fileChecks)+r.enforces(netChecks) == 0:
		return None
	}
	return Partly
}

// unenforcedReport returns the report of a machine without any layer except the one that orphans
// describes.
func unenforcedReport(why string, orphans Check) Report {
	r := Report{}
	for _, id := range []string{
		CheckWriteOutside, CheckReadSecrets, CheckProtected, CheckMetadata, CheckTCP, CheckUDP, CheckMPTCP,
		CheckRaw, CheckUring, CheckTrace, CheckIPC, CheckSignal, CheckPriority, CheckCaps, CheckPrivs, CheckAbstract, CheckUnix, CheckPIDs, CheckForks, CheckPrograms,
	} {
		r.Checks = append(r.Checks, Check{ID: id, Why: why})
	}
	orphans.ID = CheckOrphans
	r.Checks = append(r.Checks, orphans)
	r.Summary = r.summary()
	return r
}
