package settings

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// checkListen checks whether a typed address is valid for a gateway to listen on.
func checkListen(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || text == "none" {
		return text, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("%q is not an address with a port, such as 127.0.0.1:8787", text)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("%q is not a port number (0 to 65535)", port)
	}
	if host == "" {
		return "", fmt.Errorf("add the host: 127.0.0.1:%s for this computer only, 0.0.0.0:%s for the whole network", port, port)
	}
	return text, nil
}
