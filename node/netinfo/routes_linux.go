package netinfo

import (
	"io"
	"os"
)

// routes reads the main routing table.
func routes() ([]Route, error) {
	list := []Route{}
	for path, parse := range map[string]func(io.Reader) []Route{"/proc/net/route": parseIP4Routes, "/proc/net/ipv6_route": parseIP6Routes} {
		f, err := os.Open(path)
		if os.IsNotExist(err) {
			continue // this family is turned off
		}
		if err != nil {
			return nil, err
		}
		list = append(list, parse(f)...)
		f.Close()
	}
	return list, nil
}
