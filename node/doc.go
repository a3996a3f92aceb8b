// Package node makes this machine a node of a gateway. It connects in node mode, offers the
// machine's tools, runs the calls that arrive, and resends each result until the gateway has
// confirmed it.
package node
