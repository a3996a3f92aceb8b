//go:build unix

package netinfo

import (
	"os"
	"runtime"

	"fairlead/gateway/protocol"
)

const resolvConf = "/etc/resolv.conf"

func dns() (DNS, error) {
	f, err := os.Open(resolvConf)
	if err != nil {
		return DNS{}, protocol.NewFault(protocol.FaultUnsupported, "This machine has no readable "+resolvConf+".")
	}
	defer f.Close()
	out := parseResolvConf(f)
	out.Source = resolvConf
	if runtime.GOOS == "darwin" && out.Note == "" {
		out.Note = "macOS can have further name servers for single domains, such as those of a VPN."
	}
	return out, nil
}
