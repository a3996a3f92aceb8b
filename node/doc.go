// Package node makes a machine one of a gateway's: it connects in node mode, offers the machine's tools, runs the calls that arrive and
// returns each result until the gateway has confirmed it.
package node
